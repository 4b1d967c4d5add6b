//! Tool outputs that are too large for a model's context: which ones are too large, which part stays in the
//! conversation, where the full text is saved and how it is read.
//!
//! * [`budget`]: how long a result may be; pure.
//! * [`preview`]: the part that stays in the conversation; pure.
//! * [`grapheme`]: where a text may be cut; pure.
//! * [`content`]: a result as a string or a list of parts; pure.
//! * [`name`] and [`handle`]: turn foreign ids into safe file names and handles; pure.
//! * [`facts`] and [`index`]: counts of a text, and positions in it; pure.
//! * [`page`]: a part of a text and where the next begins; pure.
//! * [`json`]: indented JSON; pure.
//! * [`search`]: queries, and their results.
//! * [`retention`]: which outputs to remove; pure.
//! * [`catalog`]: the records of all outputs, in a file of rows.
//! * [`outputs`]: the folder with the full texts.
//! * [`admit`] and [`turn`]: one result, and all results of a turn.

pub mod admit;
pub mod budget;
pub mod catalog;
mod clock;
pub mod content;
pub mod error;
pub mod facts;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod grapheme;
pub mod handle;
pub mod index;
pub mod json;
mod located;
pub mod name;
pub mod outputs;
pub mod page;
mod path_locks;
pub mod preview;
mod readings;
pub mod retention;
pub mod search;
pub mod turn;

pub use budget::{BudgetOverrides, Budgets, Size};
pub use catalog::{Reason, Record, State};
pub use content::Content;
pub use error::SpillError;
pub use facts::Facts;
pub use handle::Handle;
pub use outputs::{Kept, Origin, Outputs};
