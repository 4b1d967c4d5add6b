//! What a provider bills of a message besides its content and its calls: in which fields it is, and how much.

/// Fields of a message that are billed. Content and calls are counted elsewhere; ids and what begins with `_` are the
/// caller's own.
const FIELDS: [&str; 14] = [
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "thinking",
    "refusal",
    "function_call",
    "parts",
    "output",
    "arguments",
    "input",
    "action",
    "summary",
    "query",
    "documents",
];

/// How much is billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Billed {
    /// Of texts, in thousandths of a token.
    pub(crate) words: u64,
    /// Pictures, and other data as so many pictures.
    pub(crate) pictures: usize,
    /// Canonical chars of the binary data, which are no text.
    pub(crate) data_chars: usize,
}

impl Billed {
    /// Whether a field of a message is billed besides content and calls.
    pub(crate) fn is_field(name: &str) -> bool {
        FIELDS.contains(&name)
    }
}
