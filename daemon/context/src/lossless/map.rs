//! The map: the record in a handoff for all messages that left the list, as parts that can be opened.

use std::ops::RangeInclusive;

use super::time::minute;
use crate::constants::{RECALL_EXPAND, RECALL_SEARCH};
use crate::extractive::Digest;
use crate::node::Node;
use crate::text::thousands;

/// The heading that identifies a map.
pub(crate) const HEADING: &str = "## Map of the Conversation";

/// Percent of the remaining room for each part, beginning with the newest.
const SHARE: usize = 35;
/// The most percent of the room for the lines that name the parts.
const MOST_NAMED: usize = 60;

/// The approximate chars of its introduction.
const INTRO_CHARS: usize = 300;
/// The least chars of a part's text.
const LEAST_SAID: usize = 120;
/// The most chars of a part's text, on average.
const MOST_SAID: usize = 400;

/// Whether a record is a map.
pub(crate) fn is_map(body: &str) -> bool {
    body.trim_start().starts_with(HEADING)
}

/// Renders nodes as a map of so many chars, the oldest first. Each node has a line with its range, its time
/// and the id that opens it. As many lines of its text follow as there is room for, more for newer nodes.
/// Without room for all names, the oldest nodes share a line.
pub(super) fn render(nodes: &[Node], chars: usize) -> String {
    let intro = format!(
        "{HEADING}\nThe messages that left this list, as parts, the oldest first. All of them are kept word for word: \
         {RECALL_EXPAND} with a part's id as handle opens it, {RECALL_SEARCH} finds what was said."
    );
    let room = chars.saturating_sub(intro.chars().count());
    let names: Vec<String> = nodes.iter().map(name).collect();
    let alone = alone(&names, room / 100 * MOST_NAMED);
    let (shared, named) = (nodes.get(..alone).unwrap_or_default(), nodes.get(alone..).unwrap_or_default());
    let shared = shared.first().zip(shared.last()).map(|(first, last)| together(first, last, shared.len()));
    let names = names.get(alone..).unwrap_or_default();
    let taken = names.iter().chain(&shared).map(|line| line.chars().count() + 2).sum::<usize>();
    let mut left = room.saturating_sub(taken);
    let mut said: Vec<String> = Vec::with_capacity(named.len());
    for (node, older) in named.iter().rev().zip((0..named.len()).rev()) {
        let share = (left / 100 * SHARE).max(left / (older + 1));
        let text = if node.text.chars().count() < share {
            node.text.clone()
        } else {
            Digest::parse([node.text.as_str()]).write(share.saturating_sub(1))
        };
        left = left.saturating_sub(text.chars().count() + 1);
        said.push(text);
    }
    let parts = names
        .iter()
        .zip(said.iter().rev())
        .map(|(name, text)| if text.is_empty() { name.clone() } else { format!("{name}\n{text}") });
    let blocks: Vec<String> = std::iter::once(intro).chain(shared).chain(parts).collect();
    blocks.join("\n\n")
}

/// Returns the chars that a map of nodes needs, at least and at most: all names and some words about each.
/// The rest of the handoff is for the user's own words and for exact references.
pub(super) fn wanted(nodes: &[Node]) -> RangeInclusive<usize> {
    let names: usize = nodes.iter().map(|node| name(node).chars().count() + 2).sum();
    let with = |said: usize| INTRO_CHARS + names + nodes.len() * said;
    with(LEAST_SAID)..=with(MOST_SAID)
}

/// Returns the line that names a node.
fn name(node: &Node) -> String {
    format!("[{}] {}, {} tokens", node.id, span(node, node), thousands(usize::try_from(node.tokens).unwrap_or(0)))
}

/// Returns the line that names several nodes.
fn together(first: &Node, last: &Node, count: usize) -> String {
    format!("[{} to {}] {} parts: {}", first.id, last.id, count, span(first, last))
}

fn span(first: &Node, last: &Node) -> String {
    let (from, until) = (minute(first.from), minute(last.until));
    let until = match from.split_once(' ').zip(until.split_once(' ')) {
        Some(((day, _), (same, time))) if day == same => time.to_owned(),
        _ => until.clone(),
    };
    format!("messages {} to {}, {from}Z to {until}Z", first.first + 1, last.next.max(first.first + 1))
}

/// Returns how many of the oldest nodes have no line of their own.
fn alone(names: &[String], room: usize) -> usize {
    let cost = |line: &String| line.chars().count() + 2;
    let all: usize = names.iter().map(cost).sum();
    if all <= room {
        return 0;
    }
    // The shared line needs at most the room of two names.
    let mut left = room.saturating_sub(2 * names.iter().map(cost).max().unwrap_or(0));
    let fits = names.iter().rev().take_while(|line| {
        let takes = cost(line);
        let fits = takes <= left;
        left = left.saturating_sub(takes);
        fits
    });
    names.len() - fits.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(count: u64) -> Vec<Node> {
        (0..count)
            .map(|at| Node {
                id: format!("nod_0123456789ab_{at}"),
                first: at * 100,
                next: at * 100 + 100,
                from: 1_795_341_720.0,
                until: 1_795_345_320.0,
                tokens: 20_000,
                text: (0..30).map(|line| format!("- did: step {line} of part {at}")).collect::<Vec<_>>().join("\n"),
                ..Node::default()
            })
            .collect()
    }

    #[test]
    fn every_part_is_named_and_the_newest_says_most() {
        let map = render(&nodes(5), 4_000);
        assert!(is_map(&map) && map.chars().count() <= 4_000, "{map}");
        for at in 0..5 {
            assert!(map.contains(&format!("[nod_0123456789ab_{at}] messages {} to {}", at * 100 + 1, at * 100 + 100)));
        }
        assert!(map.contains("2026-11-22 10:02Z to 11:02Z, 20,000 tokens"), "{map}");
        let lines = |at: usize| map.matches(&format!("of part {at}")).count();
        assert!(lines(4) > lines(2) && lines(2) > 0, "{map}");
    }

    #[test]
    fn a_map_fits_whatever_it_is_of() {
        for count in [0, 1, 7, 60, 500] {
            for chars in [700, 2_000, 8_000, 40_000] {
                let map = render(&nodes(count), chars);
                assert!(map.chars().count() <= chars, "{count} parts in {chars}: {}", map.chars().count());
                if count > 0 {
                    assert!(map.contains("messages 1 to "), "{map}");
                    assert!(map.contains(&format!("to {},", count * 100)), "{map}");
                }
            }
        }
    }
}
