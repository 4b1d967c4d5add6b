//! Exchanges between head and tail that stay word for word if the list has room left.
//!
//! They come after the handoff, and a provider must accept the list: a model message follows results, and a
//! message of someone else follows the model. If its neighbours don't fit, an exchange is extended by
//! neighbouring messages, or does not stay.

use std::ops::Range;

use super::layout::{Brief, Layout};
use crate::handoff;
use crate::importance::Importance;
use crate::message::{Message, Role};
use crate::pairs;
use crate::prune::DUPLICATE;
use crate::tokens::tokens_of;

/// The least score of an exchange that stays.
const LEAST_SCORE: u32 = 40;

/// Keeps the most important exchanges of the middle, calls with their results, within so many tokens. The
/// user's words are in the handoff anyway. Returns the positions of the kept messages.
pub(super) fn keep(
    layout: &mut Layout,
    brief: &mut Brief,
    messages: &[Message],
    tokens: u64,
    scores: &[Importance],
) -> Vec<usize> {
    let middle = Middle::of(layout, messages);
    let mut exchanges: Vec<(u32, Range<usize>)> = middle
        .exchanges(layout)
        .into_iter()
        .map(|range| (range.clone().filter_map(|at| scores.get(at)).map(|one| one.score).max().unwrap_or(0), range))
        .filter(|(score, _)| *score >= LEAST_SCORE)
        .collect();
    exchanges.sort_by(|one, other| other.0.cmp(&one.0).then(other.1.start.cmp(&one.1.start)));
    let mut left = tokens;
    let mut chosen: Vec<Range<usize>> = Vec::new();
    for (_, range) in exchanges {
        let takes = middle.tokens(&range);
        if takes <= left {
            left -= takes;
            chosen.push(range);
        }
    }
    chosen.sort_by_key(|range| range.start);
    let kept: Vec<usize> = middle.fitted(chosen, left).into_iter().flatten().collect();
    // A handoff must replace at least one message.
    if kept.is_empty() || kept.len() == layout.middle().len() {
        return Vec::new();
    }
    for &at in &kept {
        if let Some(message) = messages.get(at) {
            layout.restore(at, message);
        }
    }
    brief.leave_out(&kept);
    layout.kept.clone_from(&kept);
    kept
}

/// The messages between head and tail, after an earlier handoff.
struct Middle<'a> {
    messages: &'a [Message],
    range: Range<usize>,
    /// For each result the message and position of its call.
    callers: Vec<Option<(usize, usize)>>,
    /// Whether the head ends with a user message. Then the handoff would be merged into a model message after
    /// it.
    is_behind_user: bool,
}

impl<'a> Middle<'a> {
    fn of(layout: &Layout, messages: &'a [Message]) -> Self {
        let Range { start, end } = layout.middle();
        let earlier = (start..end).rev().find(|at| messages.get(*at).is_some_and(handoff::is_handoff));
        let before = start.checked_sub(1).and_then(|at| messages.get(at));
        Self {
            messages,
            range: earlier.map_or(start, |at| at + 1)..end,
            callers: pairs::callers(messages),
            is_behind_user: before.is_some_and(|message| message.is(Role::User)),
        }
    }

    fn get(&self, at: usize) -> Option<&'a Message> {
        self.messages.get(at)
    }

    fn tokens(&self, range: &Range<usize>) -> u64 {
        self.messages.get(range.clone()).unwrap_or_default().iter().map(tokens_of).sum()
    }

    /// Returns the calls that have exactly one result each.
    fn exchanges(&self, layout: &Layout) -> Vec<Range<usize>> {
        let is_done_with =
            |at: usize| layout.discarded.binary_search(&at).is_ok() || layout.finished.binary_search(&at).is_ok();
        let is_duplicate = |at: usize| layout.pruned.get(at).is_some_and(|message| message.text() == DUPLICATE);
        let mut found = Vec::new();
        let mut at = self.range.start;
        while at < self.range.end {
            match self.exchange(at) {
                Some(range) => {
                    at = range.end;
                    if !range.clone().any(|at| is_duplicate(at) || is_done_with(at)) {
                        found.push(range);
                    }
                }
                None => at += 1,
            }
        }
        found
    }

    /// Returns the calls at a position with their results, if each call has exactly one.
    fn exchange(&self, at: usize) -> Option<Range<usize>> {
        let message = self.get(at).filter(|message| message.is(Role::Assistant))?;
        let calls = message.tool_calls().len();
        let end = at + 1 + calls;
        if calls == 0 || end > self.range.end || self.get(end).is_some_and(|next| next.is(Role::Tool)) {
            return None;
        }
        let mut answered: Vec<usize> = (at + 1..end)
            .map_while(|result| self.callers.get(result).copied().flatten().filter(|(by, _)| *by == at))
            .map(|(_, call)| call)
            .collect();
        answered.sort_unstable();
        answered.dedup();
        (answered.len() == calls).then_some(at..end)
    }

    /// Returns those exchanges that can be between a handoff and the tail, extended as needed by up to `left`
    /// tokens.
    fn fitted(&self, mut chosen: Vec<Range<usize>>, mut left: u64) -> Vec<Range<usize>> {
        while let Some(first) = chosen.first().cloned().filter(|_| self.is_behind_user) {
            let begin = self.asked(first.start).map(|begin| begin..first.start);
            match begin.map(|more| (self.tokens(&more), more.start)).filter(|(takes, _)| *takes <= left) {
                Some((takes, start)) => {
                    left -= takes;
                    if let Some(first) = chosen.first_mut() {
                        first.start = start;
                    }
                    break;
                }
                None => drop(chosen.remove(0)),
            }
        }
        while let Some(last) = chosen.last().cloned().filter(|_| !self.is_before_model()) {
            let more = last.end..self.answered(last.end);
            let takes = self.tokens(&more);
            let is_closed = more.end == self.range.end
                || more
                    .end
                    .checked_sub(1)
                    .and_then(|at| self.get(at))
                    .is_some_and(|message| message.is(Role::Assistant));
            if is_closed && takes <= left {
                if let Some(last) = chosen.last_mut() {
                    last.end = more.end;
                }
                break;
            }
            chosen.pop();
        }
        chosen
    }

    /// Whether the tail begins with a model message.
    fn is_before_model(&self) -> bool {
        self.get(self.range.end).is_some_and(|message| message.is(Role::Assistant))
    }

    /// Returns the position of the user message that led to the message at `at`.
    fn asked(&self, at: usize) -> Option<usize> {
        let found = (self.range.start..at)
            .rev()
            .find(|at| self.get(*at).is_some_and(|message| !message.is(Role::Assistant) && !message.is(Role::Tool)))?;
        self.get(found).filter(|message| message.is(Role::User)).map(|_| found)
    }

    /// Returns where the model's reaction to the results before `from` ends: after its answer, or where
    /// someone else speaks.
    fn answered(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.range.end {
            if let Some(exchange) = self.exchange(at) {
                at = exchange.end;
                continue;
            }
            let is_answer = |message: &&Message| message.is(Role::Assistant) && message.tool_calls().is_empty();
            return if self.get(at).filter(is_answer).is_some() { at + 1 } else { at };
        }
        at
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::importance::importance;
    use crate::rehydrate::Earlier;
    use crate::request::Focus;
    use crate::testing::{call_of, result, say, settings};

    /// Builds thirty calls. Later calls refer to the results of the fourth and the twenty-first.
    fn session() -> Vec<Message> {
        let mut list = vec![say("system", "you help"), say("user", "go on")];
        for at in 0..30 {
            let id = at.to_string();
            let given = match at {
                9 => r#"{"a": "ab_4 cd_4 ef_4 gh_4"}"#,
                27 => r#"{"a": "ab_21 cd_21 ef_21 gh_21 ij_21"}"#,
                _ => "{}",
            };
            let found = format!("ab_{at} cd_{at} ef_{at} gh_{at} ij_{at}");
            list.extend([call_of(&id, "look", given), result(&id, &format!("found {found}"))]);
            if at % 10 == 9 {
                list.push(say("user", "and more"));
            }
        }
        list
    }

    fn kept(list: &[Message], tokens: u64) -> Vec<usize> {
        kept_of(list, 3, 60, tokens)
    }

    fn kept_of(list: &[Message], head: usize, tail: usize, tokens: u64) -> Vec<usize> {
        let settings = settings(200_000, head, 3);
        let mut layout = Layout { end: tail, tail, ..Layout::of(list, &settings) };
        let mut brief = Brief::of(&layout, list, &settings, Earlier::default(), &Focus::Off);
        let before = (brief.turns.len(), layout.dropped());
        let kept = keep(&mut layout, &mut brief, list, tokens, &importance(list));
        assert_eq!(layout.kept, kept);
        assert!(brief.indexes.iter().all(|at| !kept.contains(at)));
        assert_eq!((brief.turns.len(), layout.dropped()), (before.0 - kept.len(), before.1 - kept.len()));
        kept
    }

    #[test]
    fn what_most_refers_to_stays_with_its_call_as_far_as_there_is_room() {
        let list = session();
        let ranks = importance(&list);
        let best: Vec<usize> = (0..60).filter(|at| ranks[*at].score >= LEAST_SCORE).collect();
        let of_call =
            |at: usize| list.iter().position(|message| message.tool_call_id() == Some(&at.to_string())).unwrap();
        assert_eq!(best, [of_call(4), of_call(21)]);
        let (fourth, later) = ([of_call(4) - 1, of_call(4)], [of_call(21) - 1, of_call(21)]);
        assert_eq!(kept(&list, 10_000), [fourth, later].concat());
        // With room for one of the two, the one with the higher score stays.
        let one: u64 = later.iter().map(|at| tokens_of(&list[*at])).sum();
        assert_eq!(kept(&list, one), later);
        assert_eq!(kept(&list, 5), [0_usize; 0]);
    }

    #[test]
    fn nothing_stays_that_is_before_an_earlier_handoff_or_has_not_all_of_its_results() {
        let mut list = session();
        let at = list.iter().position(|message| message.tool_call_id() == Some("21")).unwrap();
        list[at] = say("user", "the result was lost");
        assert_eq!(kept(&list, 10_000).len(), 2);
        list[30] = handoff::standalone(&handoff::with_frame("all that was before"), Role::User);
        assert_eq!(kept(&list, 10_000), [0_usize; 0]);
    }

    #[test]
    fn what_stays_has_neighbours_that_a_provider_takes() {
        // Question, call, result and answer, twelve times. The eleventh call refers to the results of the
        // fourth and the seventh.
        let mut list = vec![say("system", "you help")];
        for at in 0..12 {
            let id = at.to_string();
            let given = r#"{"a": "ab_3 cd_3 ef_3 gh_3", "b": "ab_6 cd_6 ef_6 gh_6"}"#;
            let found = format!("found ab_{at} cd_{at} ef_{at} gh_{at}");
            list.push(say("user", &format!("question {at}")));
            list.extend([call_of(&id, "look", if at == 10 { given } else { "{}" }), result(&id, &found)]);
            list.push(say("assistant", &format!("answer {at}")));
        }
        let question = |at: usize| 1 + 4 * at;
        let (third, sixth) = (question(3), question(6));
        let tokens = |range: Range<usize>| list[range].iter().map(tokens_of).sum::<u64>();
        // Between the system message and a user message only the last exchange needs its answer.
        let all = [third + 1, third + 2, sixth + 1, sixth + 2, sixth + 3];
        assert_eq!(kept_of(&list, 0, question(9), 10_000), all);
        // Before the model's call there must be no answer.
        assert_eq!(kept_of(&list, 0, question(9) + 1, 10_000), all[..4]);
        // After a user message the first exchange needs its question.
        assert_eq!(kept_of(&list, 1, question(9) + 1, 10_000), [&[third], &all[..4]].concat());
        // Without room for that, another exchange becomes the first or the last.
        let room = tokens(third + 1..third + 3) + tokens(sixth + 1..sixth + 3);
        assert_eq!(kept_of(&list, 0, question(9), room), [0_usize; 0]);
        let room = room + tokens(sixth + 3..sixth + 4);
        assert_eq!(kept_of(&list, 0, question(9), room), all);
        assert_eq!(kept_of(&list, 1, question(9), room - 1), [0_usize; 0]);
        // Results of another call don't count.
        list[sixth + 2] = result("3", "found ab_6 cd_6 ef_6 gh_6");
        assert_eq!(kept_of(&list, 0, question(9) + 1, 10_000), all[..2]);
    }
}
