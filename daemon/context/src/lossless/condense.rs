//! Selects the nodes that are merged into one.

use std::ops::Range;

use crate::node::Node;

/// The number of nodes that a node above covers.
pub const GROUP: usize = 4;
/// The number of nodes of one depth at which the oldest are merged; the newest stay.
const DUE: usize = GROUP + 2;

/// Returns the positions of the nodes to merge, if any are due: the oldest [`GROUP`] of a run of one depth
/// that is long enough. `nodes` are the oldest first.
pub(super) fn due(nodes: &[Node]) -> Option<Range<usize>> {
    let mut start = 0;
    for end in 1..=nodes.len() {
        let ends = nodes.get(end).is_none_or(|next| nodes.get(start).is_none_or(|first| next.depth != first.depth));
        if !ends {
            continue;
        }
        if end - start >= DUE {
            return Some(start..start + GROUP);
        }
        start = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_few_nodes_of_each_depth_however_many_there_were() {
        let mut nodes: Vec<Node> = Vec::new();
        let mut most = 0;
        for at in 0..5_000 {
            nodes.push(Node { first: at, next: at + 1, ..Node::default() });
            while let Some(range) = due(&nodes) {
                let group = nodes.get(range.clone()).unwrap_or_default();
                let (first, next, depth) = (group[0].first, group[GROUP - 1].next, group[0].depth + 1);
                nodes.splice(range, [Node { first, next, depth, ..Node::default() }]);
            }
            most = most.max(nodes.len());
        }
        assert!(most <= 5 * 7, "{most}");
        assert!(nodes.windows(2).all(|two| two[0].next == two[1].first && two[0].depth >= two[1].depth));
        assert_eq!((nodes[0].first, nodes.last().map(|node| node.next)), (0, Some(5_000)));
    }
}
