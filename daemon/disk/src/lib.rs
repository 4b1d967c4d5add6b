//! The only crate of herma that accesses the file system, except for the archive's database.
//!
//! * [`append`]: append-only files, synced in parallel with another file.
//! * [`cache`]: files that can be rebuilt and are never synced.
//! * [`file`](mod@file): reading a file with a limit, and the only way to write one.
//! * [`lock`]: advisory locks that other programs see.
//! * [`folder`]: private folders and their contents.
//! * [`quarantine`]: moving damaged files aside without losing them.
//! * [`regular`]: an open file that is read in parts and given further names.
//! * [`stamp`]: detecting whether a file has changed since it was read.
//! * [`tree`]: a folder with everything below it, without following links.
//! * [`user_file`]: files of the user and of other programs.
//! * [`watch`]: notifications about changes in a folder.
//! * [`process`]: information from the system about this process.
//! * [`write_ahead`]: records that are kept durably until another place has them.
//!
//! Clippy forbids other ways of writing in the rest of the workspace.

#![allow(clippy::disallowed_methods, reason = "this is the room that the other ways are forbidden for")]

pub mod append;
pub mod cache;
pub mod error;
pub mod file;
pub mod folder;
pub mod lock;
pub mod owner;
pub mod process;
pub mod quarantine;
pub mod regular;
pub mod rotate;
mod schedule;
pub mod socket;
pub mod stamp;
pub mod tree;
pub mod user_file;
pub mod watch;
pub mod write_ahead;

pub use error::{Cause, DiskError};
