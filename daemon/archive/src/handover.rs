//! Sessions that hosts hand over to each other. This module notes what changed in a session since it was published to
//! the other hosts, exports a session as texts, and imports such texts into another archive.
//!
//! A session is published in parts, so that only changed parts are uploaded. The parts are the head (row, engine,
//! rules, pins, …), one part for each compression, and one for every thousand messages. A part names a message by the
//! archive that it came to first and its number in it. The texts of messages are uploaded separately
//! ([`crate::outbox`]).

mod fork;
mod give;
mod marks;
mod rows;
mod take;

pub use self::give::{Parts, ReceivedMessages};
pub use self::marks::{Held, MOVED, Unsent};
pub use self::take::{Takeover, TakeoverResult, names_in};

/// Messages in one part.
const ROWS: usize = 1_000;

/// The name of the part with everything that is one row, or few rows, of a session.
const HEAD: &str = "head";

/// Keys of the head in addition to its tables: the number of messages, and the handles of the compressions.
const COUNT: &str = "count";
const HANDLES: &str = "handles";

/// The prefix of the name of a part with messages. A number from 0 follows.
const MESSAGES: &str = "messages.";

/// The prefix of the name of a part with a compression. Its handle follows.
const MADE: &str = "made.";

/// The session setting that counts how many hosts had the session, so that no two hosts assign the same name.
const MOVES: &str = "moves";

/// The oldest version of the archive's tables that supports a handover.
const OLDEST: u32 = 18;

/// The archive and number under which all hosts know a message.
pub type Name = (u32, u64);

/// The tables of the head, each with the column that names the session.
const HEAD_TABLES: [(&str, &str); 8] = [
    ("session", "id"),
    ("engine", "session"),
    ("user_rule", "session"),
    ("pin", "session"),
    ("discard", "session"),
    ("opened", "session"),
    ("episode", "session"),
    ("recall_call", "session"),
];

/// The tables of a compression, each with the column that names the compression.
const MADE_TABLES: [(&str, &str); 4] =
    [("compression", "handle"), ("list_before", "handle"), ("node", "made_by"), ("original", "handle")];

/// Tables that name a session and stay on their host: usage is counted on the host where it happens, and outputs are
/// uploaded separately.
#[cfg(test)]
const STAY: [&str; 8] = ["output", "memory_text", "usage", "window_change", "lock", "session_gone", "held", "came"];

#[cfg(test)]
mod tests;
