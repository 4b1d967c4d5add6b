//! Renders the index as text, and parses it.

use super::{Anchor, Kind};

/// The index within its budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Labels, each followed by its anchors, one per line.
    pub text: String,
    /// The number of anchors.
    pub count: usize,
}

/// Renders the best anchors that fit: first each kind within its share, then all within the rest. Anchors
/// that `known_text` already contains are left out.
pub fn render(anchors: &[Anchor], chars: usize, known_text: &str) -> Rendered {
    let mut choice =
        Choice { taken: vec![false; anchors.len()], kinds: Default::default(), text: String::new(), known_text };
    let mut left = chars;
    for kind in Kind::ALL {
        let quota = (chars / 100 * kind.share()).min(left);
        left -= choice.fill(anchors, quota, |anchor| anchor.kind == kind);
    }
    choice.fill(anchors, left, |_| true);
    let mut lines = Vec::new();
    let mut count = 0;
    for kind in Kind::ALL {
        let taken = anchors.iter().zip(&choice.taken).filter(|(anchor, taken)| **taken && anchor.kind == kind);
        let texts: Vec<&str> = taken.map(|(anchor, _)| anchor.text.as_str()).collect();
        if !texts.is_empty() {
            count += texts.len();
            lines.push(kind.label());
            lines.extend(texts);
        }
    }
    Rendered { text: lines.join("\n"), count }
}

struct Choice<'a> {
    taken: Vec<bool>,
    /// The kinds whose label is counted.
    kinds: [bool; Kind::ALL.len()],
    /// The texts of all selected anchors.
    text: String,
    known_text: &'a str,
}

impl Choice<'_> {
    /// Selects anchors that fit into `room`, and returns the chars they need.
    fn fill(&mut self, anchors: &[Anchor], room: usize, wanted: impl Fn(&Anchor) -> bool) -> usize {
        let mut used = 0;
        for (at, anchor) in anchors.iter().enumerate() {
            if self.taken[at] || !wanted(anchor) {
                continue;
            }
            let label = if self.kinds[anchor.kind.index()] { 0 } else { anchor.kind.label().len() + 1 };
            let cost = anchor.text.chars().count() + 1 + label;
            if used + SMALLEST > room {
                break;
            }
            if used + cost > room || self.text.contains(&anchor.text) || self.known_text.contains(&anchor.text) {
                continue;
            }
            used += cost;
            self.taken[at] = true;
            self.kinds[anchor.kind.index()] = true;
            self.text.push('\n');
            self.text.push_str(&anchor.text);
        }
        used
    }
}

/// Room below which no anchor fits, in chars.
const SMALLEST: usize = 12;

/// Returns the anchors of an index, best first within each kind.
pub(crate) fn parse(text: &str) -> Vec<(Kind, &str)> {
    let mut kind = None;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match (Kind::ALL.into_iter().find(|kind| kind.label() == line), kind) {
            (Some(next), _) => kind = Some(next),
            (None, Some(kind)) => found.push((kind, line)),
            (None, None) => {}
        }
    }
    found
}
