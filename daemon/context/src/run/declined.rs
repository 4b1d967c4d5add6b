//! Why a list is returned unchanged.

/// The error for a list without anything to compress; the input stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The list is hardly longer than a head and a tail.
    #[error("too few messages to compress")]
    TooFew,
    /// Head and tail meet.
    #[error("nothing between the head and the tail")]
    NothingBetween,
    /// Even the shortest handoff would be longer than the messages it replaces.
    #[error("the handoff would be longer than what it replaces")]
    NoGain,
    /// The host requires fewer messages than the new list would have.
    #[error("the new list would have as many messages as before, and the host asks for fewer")]
    NotFewer,
    /// The list is over the threshold, and no part of it can be compressed.
    #[error("the list is over the threshold, and nothing in it can be made smaller")]
    Incompressible,
}
