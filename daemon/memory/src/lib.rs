//! The bounded stores MEMORY.md and USER.md: their entries, changes and revisions, and the text that a model sees.
//!
//! * [`entries`]: converts the text of a store to entries and back.
//! * [`bound`]: entries that never leave their host.
//! * [`change`]: applies a change to a list of entries, without touching a disk.
//! * [`files`]: the files of the tool `memory_20250818`.
//! * [`refusal`]: why a change is refused, in words for a model.
//! * [`render`]: the only renderer of entries for a model, and the block for the prompt.
//! * `journal`: every change with the text before and after it.
//! * [`pending`]: writes that wait for a person's approval.
//! * [`store`]: a store on disk: lock, read again, apply, journal, replace, answer.
//! * [`tool`]: the memory tool's schema and its arguments.

pub mod bound;
pub mod change;
pub mod entries;
pub mod files;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod hash;
mod journal;
mod legacy;
pub mod pending;
mod recovery;
pub mod refusal;
pub mod render;
mod revert;
pub mod store;
pub mod target;
pub mod tool;
pub mod usage;

pub use change::{Applied, Change, Rules};
pub use entries::Entry;
pub use journal::line::{Action, Author, Replaced, Row};
pub use refusal::Refusal;
pub use store::{
    Bound, Edit, EditError, Event, Limits, LogQuery, Paths, Proposal, Store, StoreError, Transaction, View,
};
pub use target::Target;
