//! Writes the texts of nodes without a model, from whole lines about the messages.

use herma_guard::Policy;

use crate::anchors;
use crate::check::{self, Checked, Refused, Span};
use crate::extractive::Digest;
use crate::message::Message;
use crate::node::Node;
use crate::redaction::Redaction;
use crate::tokens::{estimate_text, own_estimate_text, tokens_to_chars};
use crate::work::{self, Known, Outline, WorkState};

/// The most tokens of a leaf's text.
pub const LEAF_TEXT: u64 = 1_200;
/// The most tokens of the text of a node above others.
pub const NODE_TEXT: u64 = 2_000;
/// The most chars of a leaf's exact references.
const REFERENCES_CHARS: usize = 1_500;
/// The most chars of the references of a node above others.
const REFERENCES_ABOVE: usize = 6_000;
/// The most chars of the state at its end.
const STATE_CHARS: usize = 1_500;
/// How often a text is written shorter until its tokens fit.
const TRIES: usize = 6;

/// The text and the other fields of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    pub text: String,
    pub references: String,
    pub state: String,
    pub warnings: Vec<String>,
}

/// The turns of a leaf, without their secrets.
pub(super) struct LeafTurns<'a> {
    /// The pruned turns.
    pub pruned: &'a [Message],
    /// The turns before pruning.
    pub originals: &'a [Message],
    /// Tokens of the messages that the leaf covers.
    pub tokens: u64,
}

/// Writes a leaf; its text is strictly shorter than the messages.
pub(super) fn leaf(turns: &LeafTurns<'_>, rules: &[&str], redaction: Redaction, policy: &Policy) -> Written {
    let originals: Vec<&Message> = turns.originals.iter().collect();
    let text = within(&Digest::of(turns.pruned, &originals, redaction), LEAF_TEXT.min(turns.tokens / 2));
    let span = Span { turns: &originals, previous: None, constraints: rules, replaced_chars: usize::MAX, policy };
    let (text, warnings) = checked(text, &span);
    let found = anchors::gather(&originals, &[], Redaction::Off);
    let state = WorkState::read(turns.originals, WorkState::default());
    Written { references: anchors::render(&found, REFERENCES_CHARS, "").text, state: described(&state), text, warnings }
}

/// Writes the node for an earlier record that is not a map.
pub(super) fn of_record(record: &str, policy: &Policy) -> Written {
    let body = record.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let digest = Digest::parse(body);
    let span = Span { turns: &[], previous: Some(record), constraints: &[], replaced_chars: usize::MAX, policy };
    let (text, warnings) = checked(within(&digest, NODE_TEXT), &span);
    Written { text, warnings, ..Written::default() }
}

/// Writes a node above others, the oldest first; its text is strictly shorter than theirs.
pub(super) fn above(nodes: &[Node]) -> Written {
    let said: u64 = nodes.iter().map(|node| estimate_text(&node.text)).sum();
    let digest = Digest::parse(nodes.iter().map(|node| node.text.as_str()));
    let found = anchors::with_lists(Vec::new(), nodes.iter().rev().map(|node| node.references.as_str()));
    let state = nodes.iter().fold(WorkState::default(), |older, node| work::parse(&node.state).over(older));
    let text = within(&digest, NODE_TEXT.min(said * 2 / 3));
    Written {
        references: anchors::render(&found, REFERENCES_ABOVE, "").text,
        state: described(&state),
        text,
        warnings: Vec::new(),
    }
}

fn described(state: &WorkState) -> String {
    Outline::of(state).render(STATE_CHARS, &[&Known::default()])
}

/// Returns as many lines as fit into so many tokens, by both estimates.
fn within(digest: &Digest, tokens: u64) -> String {
    let mut chars = tokens_to_chars(tokens);
    for _ in 0..TRIES {
        let text = digest.write(chars);
        let takes = estimate_text(&text).max(own_estimate_text(&text));
        if takes <= tokens {
            return text;
        }
        let fits = chars as u128 * u128::from(tokens) * 95 / (u128::from(takes) * 100);
        chars = usize::try_from(fits).unwrap_or(0);
    }
    String::new()
}

/// Returns the text after the checks. It has no substitute, so a text that can't be repaired passes with a
/// warning.
fn checked(text: String, span: &Span<'_>) -> (String, Vec<String>) {
    match check::check(&text, span) {
        Ok(Checked { body, warnings, .. }) => (body, warnings),
        Err(Refused::Unrepairable) => (text, vec!["a part of the map could not be checked".into()]),
        Err(_) => (text, Vec::new()),
    }
}
