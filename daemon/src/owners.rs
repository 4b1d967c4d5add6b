//! The owners of shared resources, each of which does one thing after the other: the workers of the stores, the thread
//! of the archive, the event channel and the summarizers.

pub(crate) mod archive;
pub(crate) mod blocking;
pub(crate) mod commit_token;
pub(crate) mod embedder;
pub(crate) mod events;
mod in_place;
pub(crate) mod joined;
pub(crate) mod memory_files;
pub(crate) mod sharing;
mod slot;
pub(crate) mod store;
pub(crate) mod stores;
pub(crate) mod summarizer;
