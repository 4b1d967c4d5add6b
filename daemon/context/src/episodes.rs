//! Episodes: sub-tasks that the agent opened and closed. The next compression takes what was said in one out of the
//! list, and leaves a line of it.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use crate::fingerprint::Fingerprint;
use crate::handoff;
use crate::message::{Message, Role};
use crate::parallel::FEW_MESSAGES;

pub(crate) mod section;

/// A sub-task that was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Episode {
    /// What it was about, in one line.
    pub title: String,
    /// What came of it, in one line.
    pub outcome: Option<String>,
    /// The last message before it; none where it was opened before anything was said.
    pub after: Option<Fingerprint>,
    /// Its last message.
    pub last: Fingerprint,
}

/// The closed episodes of a session, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Episodes(Vec<Episode>);

/// An episode and where it stands in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) title: String,
    pub(crate) outcome: Option<String>,
    /// Calls in it have their results in it, and no results are in it whose call is not.
    pub(crate) range: Range<usize>,
}

impl Episodes {
    /// Those that stand in a list, with what of each stands there.
    pub(crate) fn find(&self, messages: &[Message]) -> Vec<Found> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let wanted =
            |one: &Fingerprint| self.0.iter().any(|episode| episode.last == *one || episode.after == Some(*one));
        let all = messages.par_iter().enumerate().with_min_len(FEW_MESSAGES);
        let known: Vec<(Fingerprint, usize)> =
            all.map(|(at, message)| (Fingerprint::of(message), at)).filter(|(one, _)| wanted(one)).collect();
        let mut places: HashMap<Fingerprint, Vec<usize>> = HashMap::new();
        for (one, at) in known {
            places.entry(one).or_default().push(at);
        }
        let found = |episode: &Episode| {
            let range = with_results(messages, episode.range(&places, messages)?);
            let Episode { title, outcome, .. } = episode.clone();
            (!range.is_empty()).then_some(Found { title, outcome, range })
        };
        self.0.iter().filter_map(found).collect()
    }
}

impl Episodes {
    /// What of each stands in a list.
    pub fn ranges(&self, messages: &[Message]) -> Vec<Range<usize>> {
        self.find(messages).into_iter().map(|found| found.range).collect()
    }
}

impl FromIterator<Episode> for Episodes {
    fn from_iter<All: IntoIterator<Item = Episode>>(all: All) -> Self {
        Self(all.into_iter().collect())
    }
}

impl Episode {
    /// Where it stands in a list. Where its first or its last message was said more than once, the oldest and shortest
    /// part is meant: too little leaves then, and nothing that is newer.
    fn range(&self, places: &HashMap<Fingerprint, Vec<usize>>, messages: &[Message]) -> Option<Range<usize>> {
        let lasts = places.get(&self.last)?;
        let Some(after) = self.after else { return Some(0..lasts.first()? + 1) };
        if after == self.last {
            return None;
        }
        match places.get(&after) {
            Some(afters) => lasts.iter().find_map(|&last| {
                let before = afters.iter().rfind(|&&after| after < last)?;
                Some(before + 1..last + 1)
            }),
            // Its beginning left the list with an earlier compression.
            None => {
                let last = *lasts.first()?;
                let earlier = messages.get(..last)?.iter().rposition(handoff::is_handoff)?;
                Some(earlier + 1..last + 1)
            }
        }
    }
}

/// A range with the results of its last call, without those of a call before it.
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
    use crate::testing::{list, say};

    fn episode(messages: &[Message], after: Option<usize>, last: usize) -> Episode {
        let of = |at: usize| Fingerprint::of(&messages[at]);
        Episode { title: "look".into(), outcome: None, after: after.map(of), last: of(last) }
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
    fn one_whose_beginning_left_the_list_begins_behind_the_handoff() {
        let before = list("suaaua");
        let wanted = episode(&before, Some(1), 4);
        let mut after = vec![before[0].clone()];
        after.extend_from_slice(&before[2..]);
        assert_eq!(range(&after, wanted.clone()), None);
        after[1] = handoff::standalone(&handoff::with_frame("what was done"), Role::User);
        assert_eq!(range(&after, wanted), Some(2..4));
    }
}
