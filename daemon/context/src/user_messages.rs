//! The user's own words: every message of the replaced turns, newest first, within a budget.
//!
//! The newest messages stay whole. Older ones lose sentences that make no request. Messages without room are
//! only counted.

mod core;
mod render;

pub(crate) use render::parse;
pub use render::{Rendered, render, render_short};

use std::sync::OnceLock;

use crate::handoff;
use crate::message::{Message, Role};
use crate::redaction::Redaction;
use crate::text::{head, longer_than, tail};

/// The most chars of a message that are quoted; a longer one keeps its two ends.
const MAX_CHARS: usize = 24_000;

/// The user's messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserMessages {
    /// The messages, masked, newest first.
    pub texts: Vec<String>,
    /// How many older messages an earlier handoff had no room for.
    pub hidden: usize,
    /// The core of each text, its requests, computed when needed.
    cores: OnceLock<Vec<core::Core>>,
}

impl UserMessages {
    /// Returns the messages without the sentences for which `is_shown` is true, because they are elsewhere in the
    /// list.
    pub(crate) fn without(&self, is_shown: impl Fn(&str) -> bool) -> Self {
        let left = self.texts.iter().filter(|text| !is_shown(text)).filter_map(|text| core::without(text, &is_shown));
        Self { texts: left.collect(), hidden: self.hidden, ..Self::default() }
    }
}

/// Returns the user messages of the turns, then those that an earlier handoff quoted, each once.
pub fn gather(turns: &[&Message], carried: UserMessages, redaction: Redaction) -> UserMessages {
    let users = turns.iter().rev().filter(|turn| turn.is(Role::User) && !handoff::is_handoff(turn));
    let mut seen = std::collections::HashSet::new();
    let new = users.map(|turn| quoted(&turn.text(), redaction));
    let texts = new.chain(carried.texts).filter(|text| !text.is_empty() && seen.insert(text.clone())).collect();
    UserMessages { texts, hidden: carried.hidden, ..UserMessages::default() }
}

fn quoted(text: &str, redaction: Redaction) -> String {
    let text = text.trim();
    let text = if longer_than(text, MAX_CHARS) {
        format!("{}\n…\n{}", head(text, MAX_CHARS / 2), tail(text, MAX_CHARS / 2))
    } else {
        text.to_owned()
    };
    handoff::defused(&redaction.apply(&text))
}

#[cfg(test)]
mod tests;
