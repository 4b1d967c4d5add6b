//! The importance of each message of a list for the messages after it. It is counted from references between
//! messages; the text is not interpreted.

mod said;

use hashbrown::HashSet;

use rayon::prelude::*;
use said::MessageFacts;

use crate::hash::HashedMap;
use crate::message::{Message, Role};
use crate::pairs;
use crate::parallel::FEW_MESSAGES;

/// Points for an exact name in the arguments of a later call, if no message between them contains it.
const USED_NAME: u32 = 10;
/// Points for a number or a date used in the same way; many match by chance.
const USED_NUMBER: u32 = 3;
/// The most points for used values.
const MOST_USED: u32 = 50;
/// Points for an unresolved error: no later call of the same kind succeeded.
const OPEN_ERROR: u32 = 30;
/// Points for a correction by the user.
const CORRECTION: u32 = 30;
/// Points for a decision.
const DECISION: u32 = 20;
/// Points for an exact name that no other message of the list contains.
const ONLY: u32 = 2;
/// The most points for such names.
const MOST_ONLY: u32 = 20;
/// The most points of a message.
pub const MOST: u32 = 100;

/// The importance of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Importance {
    /// 0 to [`MOST`]. The scale is arbitrary; only the order of scores counts.
    pub score: u32,
    /// The sources of the points, the largest first.
    pub reasons: Vec<Reason>,
}

/// Why a message is important.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The arguments of later calls contain exact values from this message.
    Used,
    /// Something failed, and no call of that kind has succeeded since.
    OpenError,
    /// The user corrects or changes an earlier statement.
    Correction,
    /// A decision was made.
    Decision,
    /// Some exact names are in no other message.
    OnlyPlace,
}

impl Reason {
    /// Returns the name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::OpenError => "open_error",
            Self::Correction => "correction",
            Self::Decision => "decision",
            Self::OnlyPlace => "only_place",
        }
    }
}

/// Returns the importance of each message of a list.
#[must_use]
pub fn importance(messages: &[Message]) -> Vec<Importance> {
    let is_read = said::read(messages);
    let of = |(message, is_read): (&Message, bool)| MessageFacts::of(message, is_read);
    let said: Vec<MessageFacts> =
        messages.par_iter().zip(is_read.into_par_iter()).with_min_len(FEW_MESSAGES).map(of).collect();
    let used = used(&said);
    let only = only(&said);
    let errors = open_errors(messages, &said);
    let all = said.iter().enumerate().map(|(at, said)| {
        let of = |points: &[u32]| points.get(at).copied().unwrap_or(0);
        let mut points = [
            (of(&used).min(MOST_USED), Reason::Used),
            (if errors.contains(&at) { OPEN_ERROR } else { 0 }, Reason::OpenError),
            (if said.corrects { CORRECTION } else { 0 }, Reason::Correction),
            (if said.decides { DECISION } else { 0 }, Reason::Decision),
            ((of(&only) * ONLY).min(MOST_ONLY), Reason::OnlyPlace),
        ];
        points.sort_by_key(|(points, _)| std::cmp::Reverse(*points));
        Importance {
            score: points.iter().map(|(points, _)| points).sum::<u32>().min(MOST),
            reasons: points.into_iter().filter(|(points, _)| *points > 0).map(|(_, reason)| reason).collect(),
        }
    });
    all.collect()
}

/// Returns the points for values in the arguments of later calls. The last message with the value before the
/// call gets them.
fn used(said: &[MessageFacts]) -> Vec<u32> {
    let mut points = vec![0; said.len()];
    // For each value the last message with it, and whether a later use was counted.
    let mut newest: HashedMap<(usize, bool)> = HashedMap::default();
    for (at, message) in said.iter().enumerate() {
        for value in &message.given {
            let (by, is_counted) = newest.entry(value.hash).or_insert((at, false));
            if *by != at && !*is_counted {
                *is_counted = true;
                if let Some(points) = points.get_mut(*by) {
                    *points += if value.is_name { USED_NAME } else { USED_NUMBER };
                }
            }
        }
        for value in &message.values {
            newest.insert(value.hash, (at, false));
        }
    }
    points
}

/// Returns for each message how many exact names only it contains.
fn only(said: &[MessageFacts]) -> Vec<u32> {
    let mut places: HashedMap<Option<usize>> = HashedMap::default();
    for (at, message) in said.iter().enumerate() {
        for value in message.values.iter().chain(&message.given).filter(|value| value.is_name) {
            places
                .entry(value.hash)
                .and_modify(|place| *place = place.filter(|first| *first == at))
                .or_insert(Some(at));
        }
    }
    let mut counts = vec![0; said.len()];
    for at in places.into_values().flatten() {
        if let Some(count) = counts.get_mut(at) {
            *count += 1;
        }
    }
    counts
}

/// Returns the results that report a failure, if no later call of the same kind succeeded.
fn open_errors(messages: &[Message], said: &[MessageFacts]) -> HashSet<usize> {
    let callers = pairs::callers(messages);
    let mut well: HashSet<(&str, u64)> = HashSet::new();
    let mut open = HashSet::new();
    for (at, _) in messages.iter().enumerate().rev().filter(|(_, message)| message.is(Role::Tool)) {
        let call = callers.get(at).copied().flatten();
        let call = call.and_then(|(by, index)| Some((messages.get(by)?.tool_calls().get(index)?, by, index)));
        let Some((call, by, index)) = call else { continue };
        let about = said.get(by).and_then(|said| said.about.get(index)).copied().unwrap_or(0);
        let kind = (call.name.as_deref().unwrap_or(""), about);
        match said.get(at).is_some_and(|said| said.failed) {
            true if !well.contains(&kind) => {
                open.insert(at);
            }
            true => {}
            false => {
                well.insert(kind);
            }
        }
    }
    open
}

#[cfg(test)]
mod tests;
