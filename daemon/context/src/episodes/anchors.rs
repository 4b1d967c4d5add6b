//! The messages that identify the beginning of an episode, through any number of compressions.

use std::fmt;
use std::str::FromStr;

use super::{Episode, Episodes};
use crate::fingerprint::{Fingerprint, FingerprintError};
use crate::message::Message;
use crate::slot::Slot;

/// The most anchors of one episode, because an undo goes back five compressions.
const MOST: usize = 8;

/// The messages that identify an episode's beginning: it begins after the last of them that is in a list.
/// There are none if it was opened before the first message.
///
/// The first anchor is the message after which the episode was opened. A compression that removes or changes
/// the anchor adds the message that is then before the episode. The old anchors stay, so that the beginning
/// is also found after an undo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anchors(Vec<Fingerprint>);

impl Anchors {
    /// Returns the anchors of an episode that is opened after a message.
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
    /// Returns new anchors, by episode number, for the episodes whose beginning has another message before it
    /// in the new list. The new list results from a compression of `input`.
    pub(crate) fn updated_anchors(&self, input: &[Message], slots: &[Slot]) -> Vec<(u64, Anchors)> {
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
