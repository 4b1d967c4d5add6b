//! An agent's or a person's requests about messages.

use crate::discards::Discards;
use crate::episodes::Episodes;
use crate::pins::Pins;

/// Messages that should leave or stay, whatever their position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageRequests {
    /// Outputs that the agent no longer needs.
    pub discards: Discards,
    /// Its sub-tasks.
    pub episodes: Episodes,
    /// Messages that stay.
    pub pins: Pins,
}
