//! The bounded stores MEMORY.md and USER.md: entries, changes, revisions and
//! what a model gets to see of them.
//!
//! * [`entries`]: the text of a store and its entries, both ways.
//! * [`bound`]: entries that never leave their host.
//! * [`change`]: what a change makes of a list of entries; pure.
//! * [`files`]: the files of the tool `memory_20250818`.
//! * [`refusal`]: why a change is refused, in words for a model.
//! * [`render`]: the one sanitising renderer, and the block for the prompt.
//! * `journal`: every change with the text before and after it.
//! * [`pending`]: writes that wait for a person's approval.
//! * [`store`]: a store on disk: lock, re-read, apply, journal, replace, answer.
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
pub mod store;
pub mod target;
pub mod tool;
pub mod usage;

pub use change::{Applied, Change, Rules};
pub use entries::Entry;
pub use journal::line::{Action, Author, Replaced, Row};
pub use refusal::Refusal;
pub use store::{Bound, Denied, Edit, Event, Limits, Paths, Proposal, Store, StoreError, Transaction, View};
pub use target::Target;
