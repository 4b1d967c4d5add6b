//! The input and the results of a run, common to all engines.

mod compressed;
mod declined;
mod over;
mod plan;
mod state;
mod summary;

pub use compressed::{Compressed, Numbers, Removed, Scored, Spill};
pub use declined::Rejection;
pub use over::{Over, OverPart, Part};
pub use plan::Plan;
pub use state::{AuxFailure, EngineState, MAX_INEFFECTIVE, RunNotes};
pub use summary::{ArchiveNote, Place, Summary, SummaryRequest, Writer};
