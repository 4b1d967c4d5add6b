//! What a summarizer with a window of its own is asked.

use super::Prepared;
use crate::redaction::Redaction;
use crate::run::{SummaryRequest, Writer};
use crate::tokens::own_estimate_text;
use crate::{fit, serialize};

impl Prepared {
    /// What to ask a model that reads so many tokens at once, prompt and answer together, and how
    /// many turns were left out for that. None when not even the instructions fit.
    pub fn request_within(&self, window_tokens: u64) -> Option<(SummaryRequest, usize)> {
        let prompt = |serialized: &str| self.brief.prompt(serialized, self.today.as_ref(), self.redaction);
        let max_tokens = self.brief.max_tokens();
        let overhead = own_estimate_text(&prompt("").unwrap_or_default());
        let blocks = serialize::blocks(&self.sources(Writer::Model).turns.pruned, Redaction::Off);
        let fitted = fit::fit(&blocks, window_tokens, max_tokens, overhead);
        if fitted.text.is_empty() && !blocks.is_empty() {
            return None;
        }
        let prompt = prompt(&fitted.text).unwrap_or_default();
        Some((SummaryRequest { prompt, max_tokens, model: self.summary_model.clone() }, fitted.omitted))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::Settings;
    use crate::compressor::prepare;
    use crate::message::Message;
    use crate::request::CompressRequest;
    use crate::run::EngineState;

    #[test]
    fn a_request_fits_the_window_or_is_not_made() {
        let said = |at: usize| {
            let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
            Message::parse(format!(r#"{{"role":"{role}","content":"{at} {}"}}"#, "words ".repeat(80))).unwrap()
        };
        let list: Vec<Message> = (0..200).map(said).collect();
        let settings = Settings::of_window(9_000).unwrap();
        let prepared = prepare(&list, &settings, &EngineState::default(), &CompressRequest::default()).unwrap();
        let whole = prepared.request();
        assert_eq!(prepared.request_within(1_000_000), Some((whole.clone(), 0)));
        let (cut, _) = prepared.request_within(8_000).unwrap();
        assert!(own_estimate_text(&cut.prompt) + cut.max_tokens <= 8_000);
        assert!(cut.prompt.len() < whole.prompt.len());
        assert!(cut.prompt.contains("TURNS TO SUMMARIZE:"));
        let (few, omitted) = prepared.request_within(5_000).unwrap();
        assert!(omitted > 0 && own_estimate_text(&few.prompt) + few.max_tokens <= 5_000);
        assert_eq!(prepared.request_within(1_000), None);
    }
}
