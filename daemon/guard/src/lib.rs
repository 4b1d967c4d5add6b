//! Pure scans of text: threats, invisible characters, secrets.
//!
//! [`scan()`] tells whether a text tries to steer the agent that reads it, [`redact()`] takes the
//! secrets out of one. Both are functions of their arguments alone.
//!
//! Invariants: the crate does no I/O, reads no clock and knows no runtime; every search is linear
//! in the length of its input, whatever the input is; automata are built at their first use, so a
//! process that never meets a suspicious text never pays for them.

mod finding;
mod fold;
mod ids;
mod invisible;
mod joiners;
mod message;
mod patterns;
mod policy;
mod redact;
mod scan;
mod scope;
mod view;

pub use finding::{Finding, FindingId, Severity};
pub use ids::UnknownFinding;
pub use message::threat_message;
pub use policy::{Policy, Treatment};
pub use redact::{CodeFile, RedactOptions, Redacted, Shown, is_secret_field, mask, redact};
pub use scan::{first_threat_message, scan};
pub use scope::{Scope, UnknownScope};
