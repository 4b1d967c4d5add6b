//! What the beginning of an episode is known by, however often its list is compressed.

use std::fmt;
use std::str::FromStr;

use super::{Episode, Episodes};
use crate::fingerprint::{Fingerprint, FingerprintError};
use crate::message::Message;
use crate::slot::Slot;

/// Anchors of one episode that are remembered: an undo goes five compressions back.
const MOST: usize = 8;

/// The messages that an episode's beginning is known by: it begins behind the last of them that stands in a list.
/// None where it was opened before anything was said.
///
/// The first is the one behind which it was opened. Each compression that takes that away, or gives it another form,
/// adds the one that stands before the episode then; so that an undo finds the one of before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anchors(Vec<Fingerprint>);

impl Anchors {
    /// Of an episode that is opened behind a message.
    #[must_use]
    pub fn behind(message: Option<Fingerprint>) -> Self {
        Self(message.into_iter().collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Fingerprint> {
        self.0.iter()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, one: &Fingerprint) -> bool {
        self.0.contains(one)
    }

    fn and(&self, one: Fingerprint) -> Self {
        let others = self.0.iter().copied().filter(|other| *other != one);
        let mut all: Vec<Fingerprint> = others.chain([one]).collect();
        let excess = all.len().saturating_sub(MOST);
        all.drain(..excess);
        Self(all)
    }
}

impl fmt::Display for Anchors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(Fingerprint::to_string).collect();
        formatter.write_str(&all.join(" "))
    }
}

impl FromStr for Anchors {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        text.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl Episodes {
    /// The anchors, by number, of those episodes whose beginning is known by another message in a list that a
    /// compression made of `input`.
    pub(crate) fn anchored_anew(&self, input: &[Message], slots: &[Slot]) -> Vec<(u64, Anchors)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let places = self.places(input);
        let anew = |episode: &Episode| {
            let begin = episode.begin(&places)?;
            let is_behind = |slot: &Slot| slot.index().is_some_and(|index| index >= begin);
            let first = slots.iter().position(is_behind).unwrap_or(slots.len());
            let before = Fingerprint::of(slots.get(first.checked_sub(1)?)?.message(input)?);
            let is_known =
                places.get(&before).is_some_and(|at| episode.after.has(&before) && at.contains(&(begin - 1)));
            (!is_known).then(|| (episode.number, episode.after.and(before)))
        };
        self.0.iter().filter_map(anew).collect()
    }
}
