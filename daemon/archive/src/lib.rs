//! The archive: sessions with their frozen snapshots and chains, transcripts,
//! the messages that left a conversation, usage, and a text index over it all,
//! in one SQLite file.
//!
//! Everything here blocks. [`Archive`] is the one writer; the daemon calls it
//! from a thread that owns it. A [`Reader`] only reads; a second one, on a
//! connection of its own, can search while the writer writes.

pub mod browse;
pub mod chain;
pub mod compression;
pub mod constraint;
mod copy;
pub mod discard;
pub mod engine;
pub mod episode;
mod error;
pub mod handle;
pub mod handover;
mod hash;
pub mod import;
pub mod index;
mod language;
pub mod ledger;
mod lenient;
pub mod list;
pub mod lock;
pub mod message;
pub mod node;
pub mod normal;
mod open;
pub mod original;
pub mod outbox;
mod packed;
pub mod pin;
mod query;
pub mod remove;
pub mod removed;
mod schema;
pub mod scrub;
pub mod search;
pub mod session;
pub mod snippet;
mod stems;
mod terms;
pub mod token;
pub mod transcript;
pub mod undo;
pub mod usage;
pub mod vector;
pub mod window;

#[cfg(test)]
mod testing;

pub use error::ArchiveError;
pub use message::{searched, text_of};
pub use open::{Archive, BUSY, Reader};
