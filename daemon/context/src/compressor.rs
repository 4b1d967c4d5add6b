//! The engine that replaces the middle of a list with one summary, in two phases: [`prepare`] decides, a
//! summarizer writes, [`Prepared::finish`] assembles.
//!
//! A list over the threshold ends below it. Everything may be shortened or dropped for that except the system
//! message, the head and the last exchange. If these leave no room, [`Over`](crate::engine::Over) reports it.

mod assemble;
mod clean;
mod continued;
mod decide;
mod discarded;
mod episodes;
mod exchange;
mod goal;
mod layout;
mod losses;
mod options;
mod over;
mod pinned;
mod plan;
mod prepared;
mod price;
mod request;
mod restrict;
mod room;
mod sections;
mod shorten;
mod shorten_tail_outputs;
mod tight;
mod verbatim;
mod verify;

pub use assemble::SYSTEM_NOTE;
pub use decide::has_work;
pub use layout::summary_budget;
pub use over::over;
pub use plan::plan;
pub use prepared::{Prepared, prepare, prepare_and};

pub use crate::boundary::has_content;
