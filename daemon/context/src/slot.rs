//! A new list as differences from the one before.

use crate::message::Message;

/// One message of the new list.
#[derive(Clone, Debug)]
pub enum Slot {
    /// The input message at this index, byte for byte.
    Kept(usize),
    /// A changed form of the input message at this index.
    Replaced {
        /// Position in the input.
        index: usize,
        /// What stands there now.
        message: Message,
    },
    /// A message that was not in the input.
    Inserted(Message),
}

impl Slot {
    /// The message; kept ones are those of `input`, which must be the input itself.
    pub fn message<'a>(&'a self, input: &'a [Message]) -> Option<&'a Message> {
        match self {
            Self::Kept(index) => input.get(*index),
            Self::Replaced { message, .. } | Self::Inserted(message) => Some(message),
        }
    }

    /// Its position in the input, where it was there.
    pub fn index(&self) -> Option<usize> {
        match self {
            Self::Kept(index) | Self::Replaced { index, .. } => Some(*index),
            Self::Inserted(_) => None,
        }
    }
}
