//! Input: answers of a model's provider, with error messages or token counts.

use herma_context::provider_error::{Kind, classify, context_length_from_error};
use herma_context::usage::normalise;

use crate::text;

/// Checks one input.
pub fn run(data: &[u8]) {
    let text = text(data);
    for (status, current) in [(None, None), (Some(400), Some(128_000)), (Some(413), Some(1)), (Some(429), Some(8_000))]
    {
        let classified = classify(text, status, current);
        if let (Some(lower), Some(current)) = (classified.lower_limit, current) {
            assert!(lower < current);
        }
        if classified.kind == Kind::OutputCap {
            assert!(classified.available_output.is_none_or(|tokens| tokens >= 1));
        } else {
            assert_eq!(classified.available_output, None);
        }
        if let Some(length) = context_length_from_error(text, 100_000) {
            assert!(length < 100_000);
        }
    }
    if let Ok(value) = serde_json::from_str(text) {
        for (provider, mode) in [(None, None), (Some("anthropic"), None), (Some("openai"), Some("responses"))] {
            let usage = normalise(&value, provider, mode);
            let _ = (usage.prompt(), usage.total());
        }
    }
}
