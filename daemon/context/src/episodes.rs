//! Episodes: sub-tasks that the agent opened and closed. The next compression replaces the messages of a
//! closed episode with one line.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use rayon::prelude::*;

use crate::fingerprint::Fingerprint;
use crate::message::{Message, Role};
use crate::parallel::FEW_MESSAGES;

mod anchors;
pub(crate) mod section;

pub use anchors::Anchors;

/// A sub-task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Episode {
    /// The number of the episode, unique in its session.
    pub number: u64,
    /// What it was about, in one line.
    pub title: String,
    /// Its result, in one line.
    pub outcome: Option<String>,
    /// The messages after which it begins.
    pub after: Anchors,
    /// Its last message; none while it is open.
    pub last: Option<Fingerprint>,
}

/// The episodes of a session, oldest first. The messages of closed episodes leave the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Episodes(Vec<Episode>);

/// The positions of some messages in a list, in order.
type Places = HashMap<Fingerprint, Vec<usize>>;

/// An episode and its position in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// See [`Episode::number`].
    pub(crate) number: u64,
    pub(crate) title: String,
    pub(crate) outcome: Option<String>,
    /// Pairs are whole: calls in the range have their results in it, and results have their call.
    pub(crate) range: Range<usize>,
}

impl Episodes {
    /// Returns the closed episodes that are in a list, each with its range.
    pub(crate) fn find(&self, messages: &[Message]) -> Vec<Found> {
        if self.0.iter().all(|episode| episode.last.is_none()) {
            return Vec::new();
        }
        let places = self.places(messages);
        let found = |episode: &Episode| {
            let range = with_results(messages, episode.range(&places)?);
            let Episode { number, title, outcome, .. } = episode.clone();
            (!range.is_empty()).then_some(Found { number, title, outcome, range })
        };
        self.0.iter().filter_map(found).collect()
    }

    /// Whether an episode has that number.
    pub(crate) fn has(&self, number: u64) -> bool {
        self.0.iter().any(|episode| episode.number == number)
    }

    /// Returns the ranges of the closed episodes in a list.
    pub fn ranges(&self, messages: &[Message]) -> Vec<Range<usize>> {
        self.find(messages).into_iter().map(|found| found.range).collect()
    }

    /// Returns the positions of the messages that mark the episodes' begins and ends.
    fn places(&self, messages: &[Message]) -> Places {
        let wanted: HashSet<Fingerprint> =
            self.0.iter().flat_map(|episode| episode.after.iter().copied().chain(episode.last)).collect();
        let all = messages.par_iter().enumerate().with_min_len(FEW_MESSAGES);
        let known: Vec<(Fingerprint, usize)> =
            all.map(|(at, message)| (Fingerprint::of(message), at)).filter(|(one, _)| wanted.contains(one)).collect();
        let mut places = Places::new();
        for (one, at) in known {
            places.entry(one).or_default().push(at);
        }
        places
    }
}

impl FromIterator<Episode> for Episodes {
    fn from_iter<All: IntoIterator<Item = Episode>>(all: All) -> Self {
        Self(all.into_iter().collect())
    }
}

impl Episode {
    /// Returns the range of a closed episode in a list. If its first or last message occurs more than once,
    /// the oldest and shortest range counts. If its beginning is not found, there is no range. So an error
    /// removes too little, and nothing newer.
    fn range(&self, places: &Places) -> Option<Range<usize>> {
        let last = self.last.filter(|last| !self.after.has(last))?;
        let lasts = places.get(&last)?;
        if self.after.is_empty() {
            return Some(0..lasts.first()? + 1);
        }
        let afters = self.afters(places);
        let first = afters.first()?;
        let last = *lasts.get(lasts.partition_point(|last| last <= first))?;
        let before = afters.get(afters.partition_point(|after| *after < last).checked_sub(1)?)?;
        Some(before + 1..last + 1)
    }

    /// Returns where the episode begins in a list, closed or open.
    fn begin(&self, places: &Places) -> Option<usize> {
        match self.last {
            Some(_) => self.range(places).map(|range| range.start).filter(|begin| *begin > 0),
            None => self.afters(places).last().map(|after| after + 1),
        }
    }

    /// Returns the positions of the messages after which it begins, in order.
    fn afters(&self, places: &Places) -> Vec<usize> {
        let mut all: Vec<usize> = self.after.iter().filter_map(|one| places.get(one)).flatten().copied().collect();
        all.sort_unstable();
        all
    }
}

/// Extends a range by the results of its last call, and drops results of an earlier call.
fn with_results(messages: &[Message], range: Range<usize>) -> Range<usize> {
    let is_no_result = |at: &usize| !messages.get(*at).is_some_and(|message| message.is(Role::Tool));
    let start = (range.start..=range.end).find(is_no_result).unwrap_or(range.end);
    let end = (range.end..=messages.len()).find(is_no_result).unwrap_or(range.end);
    start..end
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::handoff;
    use crate::slot::Slot;
    use crate::testing::{list, say};

    fn episode(messages: &[Message], after: Option<usize>, last: usize) -> Episode {
        let of = |at: usize| Fingerprint::of(&messages[at]);
        Episode {
            number: 1,
            title: "look".into(),
            outcome: None,
            after: Anchors::behind(after.map(of)),
            last: Some(of(last)),
        }
    }

    fn range(messages: &[Message], episode: Episode) -> Option<Range<usize>> {
        let found = Episodes::from_iter([episode]).find(messages);
        assert!(found.len() < 2);
        found.into_iter().next().map(|found| found.range)
    }

    #[test]
    fn it_stands_between_the_message_before_it_and_its_last_one_with_whole_pairs() {
        // 0 s, 1 u, 2 c, 3 t, 4 c, 5 t, 6 a, 7 u, 8 a
        let messages = list("suctctaua");
        for (after, last, stands) in [
            (Some(1), 6, Some(2..7)),
            (None, 3, Some(0..4)),
            // Opened by a call that has no result yet, and closed by one.
            (Some(2), 4, Some(4..6)),
            (Some(6), 8, Some(7..9)),
            (Some(6), 6, None),
            (Some(7), 6, None),
        ] {
            assert_eq!(range(&messages, episode(&messages, after, last)), stands, "{after:?} {last}");
        }
        let foreign = episode(&[say("user", "never said")], None, 0);
        assert_eq!(range(&messages, foreign), None);
    }

    #[test]
    fn of_what_was_said_more_than_once_the_oldest_and_shortest_part_counts() {
        let mut messages = list("suaaaaaaaa");
        for at in [2, 5, 8] {
            messages[at] = say("user", "go on");
        }
        assert_eq!(range(&messages, episode(&messages, Some(5), 6)), Some(6..7));
        messages[9] = messages[6].clone();
        assert_eq!(range(&messages, episode(&messages, Some(2), 6)), Some(6..7));
        messages[3] = messages[6].clone();
        assert_eq!(range(&messages, episode(&messages, Some(2), 6)), Some(3..4));
    }

    #[test]
    fn one_whose_beginning_left_the_list_is_known_by_what_stands_before_it_then() {
        let before = list("suaauauaa");
        for last in [None, Some(7)] {
            let wanted = Episode { last: last.map(|at| Fingerprint::of(&before[at])), ..episode(&before, Some(4), 7) };
            let episodes = Episodes::from_iter([wanted.clone()]);
            let handoff = handoff::standalone(&handoff::with_frame("what was done"), Role::User);
            let merged = handoff::merged(&handoff::with_frame("what was done"), &before[5]);
            let same = |slots: &[Slot]| episodes.updated_anchors(&before, slots).is_empty();
            // The first list is unchanged, the second has fewer messages before the episode.
            assert!(same(&(0..9).map(Slot::Kept).collect::<Vec<_>>()));
            assert!(same(&[0, 4, 5, 6, 7, 8].map(Slot::Kept)));
            for slots in [
                vec![Slot::Kept(0), Slot::Kept(3), Slot::Kept(5), Slot::Kept(6), Slot::Kept(7), Slot::Kept(8)],
                vec![
                    Slot::Kept(0),
                    Slot::Inserted(handoff),
                    Slot::Kept(5),
                    Slot::Kept(6),
                    Slot::Kept(7),
                    Slot::Kept(8),
                ],
                vec![Slot::Kept(0), Slot::Replaced { index: 5, message: merged }, Slot::Kept(6), Slot::Kept(7)],
                vec![Slot::Kept(0), Slot::Replaced { index: 4, message: say("user", "short") }, Slot::Kept(7)],
            ] {
                let anew = episodes.updated_anchors(&before, &slots);
                let [(1, after)] = &anew[..] else { panic!("{anew:?}") };
                assert_eq!(after.to_string().parse().as_ref(), Ok(after));
                let after: Vec<Message> = slots.iter().map(|slot| slot.message(&before).unwrap().clone()).collect();
                let [(_, anchors)] = &anew[..] else { panic!("{anew:?}") };
                let closed =
                    Episode { after: anchors.clone(), last: Some(Fingerprint::of(&before[7])), ..wanted.clone() };
                let begin = slots.iter().position(|slot| slot.index().is_some_and(|at| at >= 5)).unwrap();
                let end = slots.iter().position(|slot| slot.index() == Some(7)).unwrap() + 1;
                assert_eq!(range(&after, closed.clone()), Some(begin..end));
                assert_eq!(range(&before, closed), Some(5..8), "an undo brings the older one back");
                assert_eq!(range(&after, episode(&before, Some(4), 7)), None, "nothing leaves where nobody knows");
            }
        }
    }
}
