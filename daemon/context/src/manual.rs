//! The parts of a command that compresses by hand: its arguments, splitting and rejoining the list, and the
//! text about the result.

mod arguments;
mod feedback;
mod join;

pub use arguments::{Arguments, DEFAULT_KEEP, KEEP, parse};
pub use feedback::{Feedback, feedback};
pub use join::{rejoin, split};

#[cfg(test)]
mod tests;
