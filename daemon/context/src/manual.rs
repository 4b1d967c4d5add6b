//! What a command that compresses by hand needs: its arguments, a list cut in two and put
//! together again, and the words about the result.

mod arguments;
mod feedback;
mod join;

pub use arguments::{Arguments, DEFAULT_KEEP, KEEP, parse};
pub use feedback::{Feedback, feedback};
pub use join::{rejoin, split};

#[cfg(test)]
mod tests;
