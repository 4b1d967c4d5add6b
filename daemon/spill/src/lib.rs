//! Tool outputs that are too large for a model's context: what is too large,
//! what stays in the conversation, where the full text goes and how it is read.
//!
//! * [`budget`]: how long a result may be; pure.
//! * [`preview`]: what stays in the conversation; pure.
//! * [`content`]: a result as a string or a list of parts; pure.
//! * [`name`]: ids from outside become safe file names; pure.
//! * [`page`]: a part of a text and where the next begins; pure.
//! * [`outputs`]: the folder with the full texts.
//! * [`admit`] and [`turn`]: one result, and all results of a turn.

pub mod admit;
pub mod budget;
pub mod content;
pub mod name;
pub mod outputs;
pub mod page;
pub mod preview;
pub mod turn;

pub use budget::{Budgets, Size};
pub use content::Content;
pub use outputs::{Outputs, SpillError};
