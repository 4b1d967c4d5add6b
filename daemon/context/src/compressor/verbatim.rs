//! Exchanges between head and tail that stay word for word where the list has room left.

use std::collections::HashSet;
use std::ops::Range;

use super::layout::{Brief, Layout};
use crate::handoff;
use crate::importance::Importance;
use crate::message::{Message, Role};
use crate::prune::DUPLICATE;
use crate::tokens::{Measure, tokens_of};

/// The least score of an exchange that stays.
const LEAST_SCORE: u32 = 40;

/// Keeps the exchanges of the middle that most refers to, within so many tokens: a call with its results, or what the
/// model said by itself. What the user said stands in the handoff. Says which messages.
pub(super) fn keep(
    layout: &mut Layout,
    brief: &mut Brief,
    messages: &[Message],
    tokens: u64,
    scores: &[Importance],
) -> Vec<usize> {
    let mut exchanges: Vec<(u32, Range<usize>)> = exchanges(layout, messages)
        .into_iter()
        .map(|range| (range.clone().filter_map(|at| scores.get(at)).map(|one| one.score).max().unwrap_or(0), range))
        .filter(|(score, _)| *score >= LEAST_SCORE)
        .collect();
    exchanges.sort_by(|one, other| other.0.cmp(&one.0).then(other.1.start.cmp(&one.1.start)));
    let mut left = tokens;
    let mut kept: HashSet<usize> = HashSet::new();
    for (_, range) in exchanges {
        let takes = messages.get(range.clone()).unwrap_or_default().iter().map(tokens_of).sum::<u64>();
        // A handoff replaces something.
        if takes <= left && kept.len() + range.len() < layout.middle().len() {
            left -= takes;
            kept.extend(range);
        }
    }
    for &at in &kept {
        let (Some(message), Some(pruned), Some(measure)) =
            (messages.get(at), layout.pruned.get_mut(at), layout.measures.get_mut(at))
        else {
            continue;
        };
        if !pruned.same(message) {
            layout.pruned_count = layout.pruned_count.saturating_sub(usize::from(message.is(Role::Tool)));
            *measure = Measure::of(message);
            *pruned = message.clone();
        }
    }
    brief.leave_out(&kept);
    layout.kept.extend(kept.iter().copied());
    layout.kept.sort_unstable();
    let mut kept: Vec<usize> = kept.into_iter().collect();
    kept.sort_unstable();
    kept
}

/// What may stay: calls with all of their results, and words of the model, behind an earlier handoff.
fn exchanges(layout: &Layout, messages: &[Message]) -> Vec<Range<usize>> {
    let middle = layout.middle();
    let earlier = middle.clone().rev().find(|at| messages.get(*at).is_some_and(handoff::is_handoff));
    let from = earlier.map_or(middle.start, |at| at + 1);
    let mut found = Vec::new();
    let mut at = from;
    while let Some(message) = messages.get(at).filter(|_| at < middle.end) {
        let results = messages.iter().take(middle.end).skip(at + 1).take_while(|next| next.is(Role::Tool)).count();
        let range = at..at + 1 + results;
        let is_whole = message.is(Role::Assistant) && message.tool_calls().len() == results;
        let is_duplicate = |at: usize| layout.pruned.get(at).is_some_and(|message| message.text() == DUPLICATE);
        if is_whole && !range.clone().any(|at| is_duplicate(at) || layout.kept.contains(&at)) {
            found.push(range);
        }
        at += 1 + results;
    }
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::importance::importance;
    use crate::request::Focus;
    use crate::testing::{call_of, result, say, settings};

    /// Thirty calls; the results of the fourth and of the twenty-first are what later ones are given.
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
        let settings = settings(200_000, 1, 3);
        let mut layout = Layout { end: 60, tail: 60, ..Layout::of(list, &settings) };
        let mut brief = Brief::of(&layout, list, &settings, None, &Focus::Off);
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
        // One of the two: the one with the higher score.
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
}
