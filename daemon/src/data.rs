//! Configuration, profiles, errors: what all other floors know.

pub mod config;
pub(crate) mod error;
