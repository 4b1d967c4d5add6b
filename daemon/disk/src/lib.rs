//! The only place of herma that touches the file system (the archive's
//! database beside it).
//!
//! * [`append`]: a file that only grows, synced beside another one.
//! * [`cache`]: files that can be made again, which nothing syncs.
//! * [`file`](mod@file): read a file with a limit; the one way to write one.
//! * [`lock`]: advisory locks that other programs see.
//! * [`folder`]: private folders and what is in them.
//! * [`quarantine`]: damaged files out of the way, never lost.
//! * [`regular`]: an open file that is read in parts and given further names.
//! * [`stamp`]: whether a file is still the one that was read.
//! * [`tree`]: a folder with all below it, reached through no link.
//! * [`user_file`]: files of the user and of other programs.
//! * [`watch`]: tells when something in a folder changed.
//! * [`process`]: what the system says of this process.
//! * [`write_ahead`]: records that are durable until another place has them.
//!
//! Clippy forbids the rest of the workspace to write by other ways.

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
