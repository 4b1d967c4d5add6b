//! `[context]`: when and how conversations are shortened.

use std::ops::Bound::{Excluded, Included};

use herma_context::engine::Engine;

use super::format::{fraction, switch, whole, word};
use super::key::section;

section! {
    /// The settings of a new session; `context.configure` can override them.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct ContextConfig {
        /// Whether `context.check` may report that a compression is due.
        pub enabled: bool = true, switch();
        /// The engine of new sessions.
        pub engine: Engine = Engine::Compressor, word(Engine::NAMED);
        /// The size at which a compression is due.
        pub threshold: f64 = 0.50, fraction((Excluded(0.0), Included(1.0)), "of the window");
        /// The largest compressed list when a caller requests the configured size, as agent hooks do.
        pub target: u64 = 12_000, whole(1_000.., "tokens");
        /// The share that the tail may fill.
        pub target_ratio: f64 = 0.20, fraction(0.10..=0.80, "of the threshold");
        /// Messages after the system message that are never compressed.
        pub protect_first_n: u64 = 3, whole(0.., "messages");
        /// Latest messages, which pruning does not change.
        pub protect_last_n: u64 = 20, whole(0.., "messages");
        /// The session after a compression: the same one, or a new one.
        pub mode: CompressionMode = CompressionMode::InPlace,
            word(&[("in_place", CompressionMode::InPlace), ("continue", CompressionMode::Continue)]);
        /// Whether a list is returned unchanged when no model can write a summary.
        ///
        /// Otherwise the extractive summarizer writes the summary.
        pub abort_on_summary_failure: bool = false, switch();
        /// The limit of automatic compressions per session; 0 means none.
        pub max_per_hour: u32 = 6, whole(0..=MAX_PER_HOUR, "compressions an hour");
        /// The least new text between two automatic compressions.
        pub min_new_text: f64 = 0.02, fraction(0.0..=1.0, "of the window");
        /// The price of a token that the provider writes into its prompt cache.
        pub cache_write_price: f64 = 1.25, fraction(0.0..=100.0, "of the price of plain input");
        /// The price of a token that the provider reads from its prompt cache.
        pub cache_read_price: f64 = 0.1, fraction(0.0..=100.0, "of the price of plain input");
        /// The length from which a list is always compressed, for gateways, for example 400; 0 means never.
        pub hygiene_messages: usize = 0, whole(0.., "messages");
    }
}

/// The largest rate limit. A breaker remembers this many runs.
const MAX_PER_HOUR: i64 = 1_000;

/// The session that continues after a compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompressionMode {
    /// The same session continues, with its generation raised by one.
    InPlace,
    /// The session ends and a new one continues.
    Continue,
}
