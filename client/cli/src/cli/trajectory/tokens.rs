//! Exact counts, by a tokenizer of the user's.

use std::path::Path;

use herma_client::protocol::Json;
use serde::Deserialize;
use tokenizers::Tokenizer;

use crate::cli::exit::Failure;

/// Counts tokens.
#[derive(Debug)]
pub(super) struct Counter(Tokenizer);

impl Counter {
    /// Reads a tokenizer.json.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |words: String| Failure::File(format!("{}: no tokenizer: {words}", path.display()));
        let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        Tokenizer::from_bytes(bytes).map(Self).map_err(|error| failed(error.to_string()))
    }

    /// Tokens of each turn's value.
    pub(super) fn turns(&self, turns: &[Json]) -> Vec<u64> {
        turns.iter().map(|turn| self.text(&value(turn))).collect()
    }

    /// Tokens of a text; a quarter of its chars where the tokenizer fails.
    fn text(&self, text: &str) -> u64 {
        let count = match text {
            "" => 0,
            text => self.0.encode_fast(text, false).map_or_else(|_| text.chars().count() / 4, |found| found.len()),
        };
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

/// What a turn says; what is no string counts as its own text.
fn value(turn: &Json) -> String {
    #[derive(Deserialize)]
    struct Turn {
        value: Option<Json>,
    }
    let value = serde_json::from_str::<Turn>(turn.get()).ok().and_then(|turn| turn.value);
    value.map_or_else(String::new, |value| serde_json::from_str(value.get()).unwrap_or_else(|_| value.into_text()))
}
