//! Tool outputs that are too large for a model's context: what is too large,
//! what stays in the conversation, where the full text goes and how it is read.
//!
//! * [`budget`]: how long a result may be; pure.
//! * [`preview`]: what stays in the conversation; pure.
//! * [`grapheme`]: where a text may be cut; pure.
//! * [`content`]: a result as a string or a list of parts; pure.
//! * [`name`] and [`handle`]: ids from outside become safe file names and handles; pure.
//! * [`facts`] and [`index`]: what is counted of a text, and where in it; pure.
//! * [`page`]: a part of a text and where the next begins; pure.
//! * [`json`]: JSON in lines and indented; pure.
//! * [`search`]: what can be looked for, and what is found.
//! * [`retention`]: which outputs are to go; pure.
//! * [`catalog`]: what is known of every output, in a file of rows.
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

pub use budget::{Budgets, Size};
pub use catalog::{Reason, Record, State};
pub use content::Content;
pub use error::SpillError;
pub use facts::Facts;
pub use handle::Handle;
pub use outputs::{Kept, Origin, Outputs};
