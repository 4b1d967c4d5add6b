//! The only place of herma that touches the file system (the archive's
//! database beside it).
//!
//! * [`file`](mod@file): read a file with a limit; the one way to write one.
//! * [`lock`]: advisory locks that other programs see.
//! * [`folder`]: private folders and what is in them.
//! * [`stamp`]: whether a file is still the one that was read.
//! * [`process`]: what the system says of this process.
//!
//! Clippy forbids the rest of the workspace to write by other ways.

#![allow(clippy::disallowed_methods, reason = "this is the room that the other ways are forbidden for")]

pub mod error;
pub mod file;
pub mod folder;
pub mod lock;
pub mod process;
pub mod socket;
pub mod stamp;

pub use error::{Cause, DiskError};
