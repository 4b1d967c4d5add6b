//! What a host takes of a compressed list.

use crate::message::{Message, Role};

/// What a host takes of a compressed list. The default is a host that takes every list.
///
/// A host that keeps messages by a handle puts its own form of them back, so a change of them would be lost: the
/// handoff in front of one of them, and every char that seemed to be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    /// The handoff may stand in front of the text of another message. If not, it is a message of its own with the role
    /// of the user, and two messages of one role may follow each other.
    pub takes_merged_handoff: bool,
    /// Arguments of calls may become shorter.
    pub takes_short_calls: bool,
    /// Results of tools may become shorter.
    pub takes_short_results: bool,
    /// A list counts as compressed only if it has so many messages fewer at the least.
    pub fewer_messages: usize,
}

impl Default for Host {
    fn default() -> Self {
        Self { takes_merged_handoff: true, takes_short_calls: true, takes_short_results: true, fewer_messages: 0 }
    }
}

impl Host {
    /// Whether a message may stay in another form.
    pub(crate) fn takes_short(self, message: &Message) -> bool {
        match message.role() {
            Role::Tool => self.takes_short_results,
            Role::Assistant => self.takes_short_calls,
            _ => true,
        }
    }

    /// Whether every message may stay in another form.
    pub(crate) const fn takes_every_form(self) -> bool {
        self.takes_short_results && self.takes_short_calls
    }
}
