//! The forms of a compressed list that a host accepts.

use crate::message::{Message, Role};

/// The forms of a compressed list that a host accepts. The default host accepts every list.
///
/// A host that keeps messages by handle restores its own form of them. Changes of such a message are lost: a
/// handoff before its text, and the chars that shortening seemed to save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    /// The handoff may be merged into another message. If not, it is a message of its own with the role
    /// `user`, and two messages of one role may follow each other.
    pub takes_merged_handoff: bool,
    /// Arguments of calls may become shorter.
    pub takes_short_calls: bool,
    /// Results of tools may become shorter.
    pub takes_short_results: bool,
    /// The least number of messages by which a compressed list must be shorter.
    pub fewer_messages: usize,
}

impl Default for Host {
    fn default() -> Self {
        Self { takes_merged_handoff: true, takes_short_calls: true, takes_short_results: true, fewer_messages: 0 }
    }
}

impl Host {
    /// Whether this message may stay in a shorter form.
    pub(crate) fn takes_short(self, message: &Message) -> bool {
        match message.role() {
            Role::Tool => self.takes_short_results,
            Role::Assistant => self.takes_short_calls,
            _ => true,
        }
    }

    /// Whether every message may stay in a shorter form.
    pub(crate) const fn takes_every_form(self) -> bool {
        self.takes_short_results && self.takes_short_calls
    }
}
