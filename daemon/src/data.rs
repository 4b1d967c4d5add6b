//! Configuration, profiles and errors: the types that all other floors use.

pub(crate) mod clock;
pub mod config;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod names;
pub(crate) mod numbers;
pub(crate) mod profiles;
pub(crate) mod snapshot_hash;
pub(crate) mod summarizer_kind;
