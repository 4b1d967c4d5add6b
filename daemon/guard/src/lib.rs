//! Scans of text for threats, invisible characters and secrets.
//!
//! [`scan()`] detects a text that tries to steer the agent that reads it. [`redact()`] masks the
//! secrets in a text, and [`without_private()`] removes what a person marked as private. All depend
//! only on their arguments.
//!
//! Invariants: the crate does no I/O, reads no clock and uses no async runtime. Every search is
//! linear in the length of any input. Automata are built on first use, so a process without
//! suspicious texts never pays for them.

mod finding;
mod fold;
mod ids;
mod invisible;
mod joiners;
mod message;
mod patterns;
mod policy;
mod private;
mod redact;
mod scan;
mod scope;
mod view;

pub use finding::{Finding, FindingId, Severity};
pub use ids::UnknownFinding;
pub use message::threat_message;
pub use policy::{Policy, Treatment};
pub use private::{private_parts, without_private};
pub use redact::{
    CodeFile, MaskStyle, NamedValues, RedactOptions, Redacted, SecretCounts, SecretKind, is_mask, is_named_secret,
    is_secret_field, mask, redact, redact_each,
};
pub use scan::{first_threat_message, scan};
pub use scope::{Scope, UnknownScope};
