//! Sessions that hosts hand to each other: what changed in one since it was told to the others, all that is kept
//! of it as texts that another archive can take, and taking these.
//!
//! A session is told in parts, so that only what changed is brought: its head (row, engine, rules, what is pinned, …), one for
//! each compression, and one for every thousand messages. Messages are named there, by the archive that they came to first and
//! their number in it; their texts come by another way ([`crate::outbox`]).

mod fork;
mod give;
mod marks;
mod rows;
mod take;

pub use self::give::{Came, Parts};
pub use self::marks::{Held, MOVED, Unsent};
pub use self::take::{Taking, Took, names_in};

/// Messages of one part.
const ROWS: usize = 1_000;

/// The part with all that is one row, or few, of a session.
const HEAD: &str = "head";

/// Beside the tables of the head: how many messages there are, and the handles of the compressions.
const COUNT: &str = "count";
const HANDLES: &str = "handles";

/// How the name of a part with messages begins; a number from 0 follows.
const MESSAGES: &str = "messages.";

/// How the name of a part with a compression begins; its handle follows.
const MADE: &str = "made.";

/// The setting of a session that says how many hosts had it, so that none gives a name twice.
const MOVES: &str = "moves";

/// The version of the archive's tables that could first be handed over.
const OLDEST: u32 = 18;

/// By which archive and number all hosts know a message.
pub type Name = (u32, u64);

/// The tables of the head, and the column that names the session.
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

/// The tables of a compression, and the column that names it.
const MADE_TABLES: [(&str, &str); 4] =
    [("compression", "handle"), ("list_before", "handle"), ("node", "made_by"), ("original", "handle")];

/// Tables that name a session and stay on their host: what is used there is counted there, and outputs are brought by
/// themselves.
#[cfg(test)]
const STAY: [&str; 8] = ["output", "memory_text", "usage", "window_change", "lock", "session_gone", "held", "came"];

#[cfg(test)]
mod tests;
