//! The parts of a message that a provider bills besides content and calls.

/// Fields of a message that are billed. Content and calls are counted elsewhere; ids and names that begin
/// with `_` belong to the caller.
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

/// The billed amounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Billed {
    /// The cost of texts, in thousandths of a token.
    pub(crate) words: u64,
    /// Images, and other data converted to a number of images.
    pub(crate) pictures: usize,
    /// Canonical chars of binary data, which are not text.
    pub(crate) data_chars: usize,
}

impl Billed {
    /// Whether a field of a message is billed besides content and calls.
    pub(crate) fn is_field(name: &str) -> bool {
        FIELDS.contains(&name)
    }
}
