//! What an agent or a person wishes for its messages.

use crate::discards::Discards;
use crate::episodes::Episodes;
use crate::pins::Pins;

/// What is to leave a list and what is to stay, whatever their place would say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Outputs that the agent is done with.
    pub discards: Discards,
    /// Its sub-tasks.
    pub episodes: Episodes,
    /// Messages that stay.
    pub pins: Pins,
}
