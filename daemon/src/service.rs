//! The functions of the daemon, independent of the connections that request them.

pub(crate) mod archive_retention;
pub(crate) mod caller;
pub(crate) mod compression;
mod consecutive_runs;
pub(crate) mod context;
mod engine_record;
mod growth;
pub(crate) mod ledger;
mod lenient;
pub(crate) mod memory;
pub(crate) mod memory_files;
pub(crate) mod outputs;
pub(crate) mod recall;
pub(crate) mod recall_index;
pub(crate) mod retention;
pub(crate) mod scrub;
pub(crate) mod session;
pub(crate) mod session_locks;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod snapshot;
pub(crate) mod spilled_outputs;
mod summary_runner;
mod token_correction;
pub(crate) mod trajectories;
