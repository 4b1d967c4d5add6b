//! What people name on the command line: homes, sessions, outputs and entries.

pub(crate) mod entry;
pub(crate) mod home;
pub(crate) mod output;
pub(crate) mod session;
