//! `herma recall --describe SESSION`.

use herma_base::out::{self, Align};
use herma_base::{CliContext, Failure};
use herma_client::protocol::recall::{Compression, DescribeParams, DescribeResult, Node};

use crate::names;

pub(super) fn run(context: &CliContext<'_>, id: &str) -> Result<(), Failure> {
    let (mut client, id) = names::session::connect(context, id)?;
    let id = id.as_str();
    let result = client.recall_describe(DescribeParams { session: id.to_owned() })?;
    out::show(context.common, &result, |result| describe_result(id, result))
}

fn describe_result(id: &str, result: &DescribeResult) -> String {
    match (result.compressions.as_slice(), result.map.as_slice()) {
        ([], _) => format!("{id} was not compressed"),
        (compressions, []) => table(compressions),
        (compressions, nodes) => format!("{}\n{}{}", table(compressions), map(nodes), open(&result.open)),
    }
}

/// Lists the nodes whose messages are in the list again.
fn open(nodes: &[String]) -> String {
    if nodes.is_empty() { String::new() } else { format!("\nopen in the list: {}\n", nodes.join(", ")) }
}

/// Lists the nodes of a conversation that are in its list, oldest first.
fn map(nodes: &[Node]) -> String {
    let cells = |node: &Node| {
        [
            node.id.clone(),
            node.depth.to_string(),
            format!("{}-{}", node.first.saturating_add(1), node.next),
            out::when(node.since),
            out::thousands(node.tokens),
            node.writer.clone(),
            node.text.clone(),
        ]
    };
    let rows: Vec<[String; 7]> = nodes.iter().map(cells).collect();
    let (left, right) = (Align::Left, Align::Right);
    let sides = [left, right, right, left, right, left, left];
    out::sided(["node", "depth", "messages", "since", "tokens", "writer", "text"], sides, &rows)
}

fn table(compressions: &[Compression]) -> String {
    let cells = |compression: &Compression| {
        [
            compression.generation.to_string(),
            out::when(compression.time),
            compression.handle.clone(),
            out::thousands(compression.messages),
            out::thousands(compression.chars),
            story(compression),
        ]
    };
    let rows: Vec<[String; 6]> = compressions.iter().map(cells).collect();
    let (left, right) = (Align::Left, Align::Right);
    let sides = [right, left, left, right, right, left];
    out::sided(["generation", "time", "handle", "messages", "chars", "summary"], sides, &rows)
}

/// Returns the undo of a compression, or its summary.
fn story(compression: &Compression) -> String {
    match (compression.back_to, compression.undone) {
        (Some(generation), _) => format!("an undo, back to generation {generation}"),
        (None, Some(generation)) => format!("undone by generation {generation}"),
        (None, None) => compression.summary.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_a_table_below() {
        let node = Node {
            id: "nod_1_7".into(),
            depth: 1,
            next: 80,
            tokens: 20_000,
            writer: "extractive".into(),
            text: "- asked: 'why'".into(),
            ..Node::default()
        };
        let then = out::local_time(0.0);
        assert_eq!(
            map(&[node]),
            format!(
                "node     depth  messages  since                tokens  writer      text\n\
                 nod_1_7      1      1-80  {then}  20,000  extractive  - asked: 'why'\n"
            )
        );
    }

    #[test]
    fn compressions_are_a_table() {
        let compression = Compression {
            generation: 2,
            time: 0.0,
            handle: "cmp_1_2".into(),
            messages: 176,
            chars: 820_000,
            summary: "## Goal\nMend it.".into(),
            back_to: None,
            undone: None,
        };
        assert_eq!(story(&Compression { undone: Some(3), ..compression.clone() }), "undone by generation 3");
        assert_eq!(story(&Compression { back_to: Some(1), ..compression.clone() }), "an undo, back to generation 1");
        let then = out::local_time(0.0);
        assert_eq!(
            table(&[compression]),
            format!(
                "generation  time                 handle   messages    chars  summary\n         \
                 2  {then}  cmp_1_2       176  820,000  ## Goal Mend it.\n"
            )
        );
    }
}
