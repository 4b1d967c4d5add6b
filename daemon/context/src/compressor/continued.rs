//! Continues an earlier preparation for a list that has grown since.

use super::Prepared;
use super::decide::{Target, kept_tokens};
use crate::message::Message;
use crate::request::CompressRequest;
use crate::run::EngineState;
use crate::tokens::{Load, Measure};

impl Prepared {
    /// Adds messages that came after the prepared ones; they go into the tail unchanged. The size comes from
    /// the new request, and the memory from the session's present state. Head, middle and the turns of the
    /// summary stay as decided.
    #[must_use]
    pub fn continued(mut self, more: Vec<Message>, state: &EngineState, request: &CompressRequest) -> Self {
        for message in &more {
            let load = Load::of(message);
            self.layout.before = self.layout.before.plus(load.rough());
            self.layout.loads.push(load);
        }
        self.layout.pruned.extend(more.iter().cloned());
        self.input.extend(more);
        self.goal = self.goal.grown(Load::of_list(&self.input).tokens(), request.current_tokens);
        self.state = state.clone();
        self.state.begin_run();
        self.current_tokens = request.current_tokens;
        if self.goal.is_over() {
            let [list, ..] = self.goal.levels();
            let handoff = list.saturating_sub(kept_tokens(&self.layout));
            self.target = Some(Target { list, handoff });
        }
        self
    }

    /// Whether the decision still holds. A list over the threshold must leave enough room for the handoff. A
    /// list below it always does, unless the decision was made for a list over the threshold.
    pub fn fits(&self) -> bool {
        // A decision for a list over its threshold does not suit a smaller one.
        let is_as_decided = self.goal.is_over() || self.target.is_none();
        is_as_decided && self.target.is_none_or(|target| target.handoff >= self.brief.handoff_tokens / 2)
    }

    /// Returns the chars of the messages that the handoff replaces, as the estimate counts them.
    pub fn replaced_chars(&self) -> usize {
        let middle = self.middle().filter(|at| self.layout.kept.binary_search(at).is_err());
        Measure::of_all(middle.filter_map(|at| self.input.get(at))).chars
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::Settings;
    use crate::compressor::prepare;
    use crate::run::{ArchiveNote, Compressed, Summary};

    fn list(count: usize) -> Vec<Message> {
        let said = |at: usize| {
            let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
            Message::parse(format!(r#"{{"role":"{role}","content":"{at} {}"}}"#, "words ".repeat(80))).unwrap()
        };
        (0..count).map(said).collect()
    }

    fn finished(prepared: Prepared) -> Compressed {
        let note = ArchiveNote { handle: "h".into(), messages: prepared.dropped() };
        prepared.finish(Summary { body: "what was done".into(), ..Summary::default() }, note)
    }

    #[test]
    fn later_messages_are_the_end_of_the_new_list() {
        let settings = Settings::of_window(9_000).unwrap();
        let (all, now) = (list(90), EngineState { compression_count: 4, ..EngineState::default() });
        let request = CompressRequest { current_tokens: Some(77), ..CompressRequest::default() };
        let prepare = |count: usize| prepare(&all[..count], &settings, &EngineState::default(), &request).unwrap();
        let early = finished(prepare(80));
        let late = finished(prepare(80).continued(all[80..].to_vec(), &now, &request));
        let texts = |compressed: &Compressed| -> Vec<String> {
            compressed.messages(&all).map(|message| message.raw().to_owned()).collect()
        };
        let expected: Vec<String> =
            texts(&early).into_iter().chain(all[80..].iter().map(|message| message.raw().to_owned())).collect();
        assert_eq!(texts(&late), expected);
        assert_eq!(late.state.compression_count, 5);
        assert_eq!((late.numbers.messages_before, late.numbers.tokens_before), (90, 77));
        assert_eq!(late.numbers.tail, early.numbers.tail + 10);
        let removed = |compressed: &Compressed| compressed.removed.iter().map(|one| one.index()).collect::<Vec<_>>();
        assert_eq!(removed(&late), removed(&early));
    }

    #[test]
    fn the_replaced_chars_are_those_of_the_middle() {
        let settings = Settings::of_window(9_000).unwrap();
        let all = list(90);
        let prepared = prepare(&all, &settings, &EngineState::default(), &CompressRequest::default()).unwrap();
        assert_eq!(prepared.replaced_chars(), Measure::of_all(&all[prepared.middle()]).chars);
    }
}
