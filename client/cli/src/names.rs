//! What people name on the command line: homes, sessions and outputs.

pub(crate) mod home;
pub(crate) mod output;
pub(crate) mod session;
