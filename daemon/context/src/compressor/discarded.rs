//! Discarded outputs: one line replaces each, in head, middle or tail.

use super::layout::Layout;
use crate::discards::Discards;
use crate::message::Message;
use crate::prune::Output;
use crate::tokens::Load;
use crate::{pairs, prune};

impl Layout {
    /// Replaces each discarded output with one line, if the line is shorter.
    pub(super) fn discard(&mut self, messages: &[Message], discards: &Discards) {
        let found = discards.positions(messages);
        if found.is_empty() {
            return;
        }
        let callers = pairs::callers(messages);
        for (at, reason) in found {
            let call = callers.get(at).copied().flatten();
            let call = call.and_then(|(by, index)| Some((messages.get(by)?, index)));
            let Some(message) = messages.get(at) else { continue };
            let line = message.with_text(&line(message, call, reason));
            let (Some(pruned), Some(load)) = (self.pruned.get_mut(at), self.loads.get_mut(at)) else { continue };
            let of_line = Load::of(&line);
            if of_line.tokens() < load.tokens() {
                self.pruned_count += usize::from(pruned.same(message));
                *load = of_line;
                *pruned = line;
                self.discarded.push(at);
            }
        }
    }
}

fn line(message: &Message, call: Option<(&Message, usize)>, reason: Option<&str>) -> String {
    let what = prune::line_of(Output::Text(&message.text()), call);
    match reason {
        Some(reason) => format!("{what} [discarded: {reason}]"),
        None => format!("{what} [discarded]"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use crate::compressor::prepare;
    use crate::discards::Discards;
    use crate::fingerprint::Fingerprint;
    use crate::message::{Message, Role};
    use crate::pins::Pins;
    use crate::request::CompressRequest;
    use crate::run::{ArchiveNote, EngineState, Removed, Summary};
    use crate::testing::{list, settings};
    use crate::wishes::MessageRequests;

    fn compressed(messages: &[Message], discarded: &[usize], pinned: &[usize]) -> (Vec<Message>, Vec<usize>, usize) {
        let of = |at: &usize| Fingerprint::of(&messages[*at]);
        let discards: Discards = discarded.iter().map(|at| (of(at), Some("the plan is done".to_owned()))).collect();
        let pins: Pins = pinned.iter().map(of).collect();
        let wishes = MessageRequests { discards, pins, ..MessageRequests::default() };
        let request = CompressRequest { wishes, ..CompressRequest::default() };
        let prepared = prepare(messages, &settings(60_000, 0, 4), &EngineState::default(), &request).unwrap();
        let note = ArchiveNote { handle: "cmp_1_1".into(), messages: prepared.dropped() };
        let new = prepared.finish(Summary { body: "what was done".into(), ..Summary::default() }, note);
        let replaced = new.removed.iter().filter_map(|one| match one {
            Removed::Replaced(at) => Some(*at),
            Removed::Dropped(_) => None,
        });
        (new.messages(messages).cloned().collect(), replaced.collect(), new.discarded)
    }

    #[test]
    fn a_line_stands_for_an_output_that_the_agent_is_done_with() {
        let messages = list(&format!("s{}", "UcTA".repeat(20)));
        // 79 is the last result, in the tail.
        let (new, replaced, count) = compressed(&messages, &[79], &[]);
        let line = new.iter().rfind(|message| message.is(Role::Tool)).unwrap().text().into_owned();
        assert!(line.starts_with("[terminal] ran `ls`") && line.ends_with("[discarded: the plan is done]"), "{line}");
        assert!(replaced.contains(&79));
        assert_eq!(count, 1);
        let (_, replaced, count) = compressed(&messages, &[], &[]);
        assert!(!replaced.contains(&79) && count == 0);
    }

    #[test]
    fn only_outputs_are_discarded_and_none_that_is_pinned_or_shorter_than_its_line() {
        let mut messages = list(&format!("s{}", "UcTA".repeat(20)));
        messages[75] = crate::testing::result("id74", "ok");
        let (new, replaced, count) = compressed(&messages, &[77, 80, 79, 75], &[79]);
        assert_eq!((replaced.iter().filter(|at| **at > 70).count(), count), (0, 0));
        assert!(new.iter().any(|message| message.raw() == messages[79].raw()));
        assert!(new.iter().any(|message| message.raw() == messages[80].raw()));
    }
}
