//! A new list as differences from the input list.

use crate::message::Message;

/// One message of the new list.
#[derive(Clone, Debug)]
pub enum Slot {
    /// The input message at this index, byte for byte.
    Kept(usize),
    /// A changed form of the input message at this index.
    Replaced {
        /// The position in the input.
        index: usize,
        /// The new form.
        message: Message,
    },
    /// A message that was not in the input.
    Inserted(Message),
}

impl Slot {
    /// Returns the message. Kept messages come from `input`, which must be the input itself.
    pub fn message<'a>(&'a self, input: &'a [Message]) -> Option<&'a Message> {
        match self {
            Self::Kept(index) => input.get(*index),
            Self::Replaced { message, .. } | Self::Inserted(message) => Some(message),
        }
    }

    /// Returns the position in the input, if the message was there.
    pub fn index(&self) -> Option<usize> {
        match self {
            Self::Kept(index) | Self::Replaced { index, .. } => Some(*index),
            Self::Inserted(_) => None,
        }
    }
}
