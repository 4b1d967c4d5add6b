//! The request for a summarizer whose window is known.

use super::Prepared;
use crate::message::Message;
use crate::prompt::Source;
use crate::redaction::Redaction;
use crate::run::{Place, SummaryRequest, Writer};
use crate::text::head;
use crate::tokens::{Load, own_estimate_text};
use crate::{fit, serialize};

/// Chars of a message that identify it in the prompt.
const BEGINNING: usize = 80;

impl Prepared {
    /// Returns the request for a model whose window, for prompt and answer together, has so many tokens, and
    /// how many turns were left out. Returns `None` if not even the instructions fit.
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
        let request = SummaryRequest { prompt, max_tokens, model: self.summary_model.clone(), place: Place::Alone };
        Some((request, fitted.omitted))
    }

    /// Returns a request that follows the list, for the model of the conversation, if list, request and
    /// answer fit its window. Returns `None` if they don't fit, if the provider refused the list, if another
    /// model writes summaries, or if the earlier summary is not in the list.
    pub fn request_behind(&self, window_tokens: Option<u64>) -> Option<SummaryRequest> {
        let has_record = self.layout.handoff_chars(&self.input) > 0;
        let (first, last) = self.turns().next().zip(self.turns().last())?;
        if self.goal.is_refused() || self.summary_model.is_some() || (self.brief.previous.is_some() && !has_record) {
            return None;
        }
        let (first, last, messages) = (self.beginning(first), self.beginning(last), self.brief.turns.len());
        let behind = self.brief.indexes.last().map_or(0, |last| self.input.len() - 1 - last);
        let source = Source::Above { first: &first, last: &last, messages, behind, has_record };
        let (prompt, max_tokens) = (self.brief.prompt_of(source, self.today.as_ref()), self.brief.max_tokens());
        let list =
            u64::try_from(self.current_tokens.unwrap_or(0)).unwrap_or(0).max(Load::of_list(&self.input).tokens());
        let whole = list.saturating_add(own_estimate_text(&prompt)).saturating_add(max_tokens);
        let fits = window_tokens.is_none_or(|window| whole <= window);
        fits.then_some(SummaryRequest { prompt, max_tokens, model: None, place: Place::BehindList })
    }

    /// Returns the beginning of a message, in words that identify it to a reader.
    fn beginning(&self, message: &Message) -> String {
        let text = message.text();
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        match (line.is_empty(), message.tool_calls().first().and_then(|call| call.name.as_deref())) {
            (false, _) => format!("{:?}", head(&self.redaction.apply(line), BEGINNING)),
            (true, Some(name)) => format!("a call of {name}"),
            (true, None) => format!("nothing ({})", message.role().as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::Settings;
    use crate::compressor::prepare;
    use crate::message::Message;
    use crate::request::{CompressRequest, Focus};
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

    fn talk(count: usize) -> Vec<Message> {
        let said = |at: usize| {
            let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
            Message::parse(format!(r#"{{"role":"{role}","content":"turn {at}\n{}"}}"#, "words ".repeat(80))).unwrap()
        };
        (0..count).map(said).collect()
    }

    #[test]
    fn the_model_of_the_list_can_be_asked_behind_it() {
        let settings = Settings::of_window(20_000).unwrap();
        let list = talk(100);
        // An automatic focus would contain the user's words.
        let request = CompressRequest { focus: Focus::Off, ..CompressRequest::default() };
        let prepared = prepare(&list, &settings, &EngineState::default(), &request).unwrap();
        let asked = prepared.request_behind(Some(20_000)).unwrap();
        assert_eq!((asked.place, asked.model), (Place::BehindList, None));
        let middle = prepared.middle();
        let turns: Vec<usize> = prepared.brief.indexes.clone();
        assert!(middle.contains(&turns[0]));
        assert!(asked.prompt.contains(&format!("begins with \"turn {}\"", turns[0])), "{}", asked.prompt);
        assert!(asked.prompt.contains(&format!("begins with \"turn {}\", both", turns[turns.len() - 1])));
        assert!(!asked.prompt.contains("words words"), "said again: {}", asked.prompt);
        assert!(own_estimate_text(&asked.prompt) < 1_500);
    }

    #[test]
    fn nobody_is_asked_behind_a_list_that_leaves_no_room() {
        let settings = Settings::of_window(20_000).unwrap();
        let list = talk(100);
        let prepared = prepare(&list, &settings, &EngineState::default(), &CompressRequest::default()).unwrap();
        assert_eq!(prepared.request_behind(Some(prepared.goal.before + 500)), None);
        let refused = CompressRequest { overflow: true, ..CompressRequest::default() };
        let refused = prepare(&list, &settings, &EngineState::default(), &refused).unwrap();
        assert_eq!(refused.request_behind(None), None, "the provider took that list as too long");
        let said = CompressRequest { current_tokens: Some(19_900), ..CompressRequest::default() };
        let larger = prepare(&list, &settings, &EngineState::default(), &said).unwrap();
        assert_eq!(larger.request_behind(Some(20_000)), None);
        let settings = Settings { summary_model: Some("small".into()), ..settings };
        let other = prepare(&list, &settings, &EngineState::default(), &CompressRequest::default()).unwrap();
        assert_eq!(other.request_behind(None), None, "another model knows nothing of the list");
    }
}
