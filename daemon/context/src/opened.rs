//! Parts of a conversation that stand in its list again, word for word, until they are closed.
//!
//! What stands for them in the list is the handoff, so they stand beside it: behind it, or in front of the user's
//! message that it was put into. Where two messages of one role would meet, at its ends or where something between them
//! stayed in the list, a mark is put between them, for many providers take no two of them in a row.

use std::ops::Range;

use crate::fingerprint::Fingerprint;
use crate::handoff;
use crate::json;
use crate::message::{Message, Role};

/// What a mark before opened messages begins with.
const OPENED: &str = "[Opened again, word for word: ";
/// What a mark between two of them begins with.
const GOES_ON: &str = "[What was opened again goes on: ";
/// What a mark behind them begins with.
const END: &str = "[End of what was opened again: ";

/// A part of a conversation that is opened, with the marks that its place needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenedPart {
    /// Names it.
    pub id: String,
    /// The numbers of its messages in the conversation: those of more parts stand in this order.
    pub numbers: Range<u64>,
    /// Its messages.
    pub messages: Vec<Message>,
    /// Which of them don't follow the one before in the conversation, by their places here: something between stayed
    /// in the list.
    pub gaps: Vec<usize>,
    /// Who says the marks before and behind it, where there are any.
    pub marks: Marks,
}

/// The roles of the marks round a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Of the one before it.
    pub before: Option<Role>,
    /// Of the one behind it.
    pub behind: Option<Role>,
}

impl Marks {
    /// Those that messages need between two others.
    pub fn between(before: Option<&Message>, messages: &[Message], behind: Option<&Message>) -> Self {
        Self { before: mark(before, messages.first()), behind: mark(messages.last(), behind) }
    }
}

/// Who has to say something between two messages.
fn mark(one: Option<&Message>, next: Option<&Message>) -> Option<Role> {
    let (one, next) = (one?.role(), next?.role());
    match (one, next) {
        (Role::User, Role::User) => Some(Role::Assistant),
        (Role::Assistant, Role::Assistant) => Some(Role::User),
        // Results of calls are followed by the model's words.
        (Role::Tool, Role::User) => Some(Role::Assistant),
        _ => None,
    }
}

impl OpenedPart {
    /// All that it puts into a list.
    pub fn block(&self) -> Vec<Message> {
        let before = self.marks.before.as_ref().map(|role| self.mark(OPENED, role));
        let behind = self.marks.behind.as_ref().map(|role| self.mark(END, role));
        before.into_iter().chain(self.inner()).chain(behind).collect()
    }

    /// Its messages, with a mark in each gap at which two of them can't follow each other.
    fn inner(&self) -> Vec<Message> {
        let with_mark = |(at, message): (usize, &Message)| {
            let before =
                at.checked_sub(1).filter(|_| self.gaps.contains(&at)).and_then(|before| self.messages.get(before));
            let role = mark(before, Some(message));
            role.map(|role| self.mark(GOES_ON, &role)).into_iter().chain([message.clone()])
        };
        self.messages.iter().enumerate().flat_map(with_mark).collect()
    }

    fn mark(&self, begins: &str, role: &Role) -> Message {
        let text = format!("{begins}{}]", self.id);
        Message::compose(&[("role", json::encode(role.as_str())), ("content", json::encode(&text))])
    }

    /// Where it stands in a list, its marks included.
    fn find(&self, fingerprints: &[Fingerprint], list: &[Message]) -> Option<Range<usize>> {
        let own: Vec<Fingerprint> = self.inner().iter().map(Fingerprint::of).collect();
        if own.is_empty() {
            return None;
        }
        let start = fingerprints.windows(own.len()).position(|window| window == own)?;
        let has_mark = |at: Option<usize>, begins: &str| {
            let mark = format!("{begins}{}]", self.id);
            at.and_then(|at| list.get(at)).is_some_and(|message| message.text() == mark)
        };
        let (before, end) = (start.checked_sub(1), start + own.len());
        let start = start - usize::from(has_mark(before, OPENED));
        Some(start..end + usize::from(has_mark(Some(end), END)))
    }
}

/// Where parts stand in a list, those that do, in the order of the list.
pub fn find<'a>(list: &[Message], parts: &'a [OpenedPart]) -> Vec<(&'a OpenedPart, Range<usize>)> {
    let fingerprints: Vec<Fingerprint> = list.iter().map(Fingerprint::of).collect();
    let mut found: Vec<(&OpenedPart, Range<usize>)> =
        parts.iter().filter_map(|part| Some((part, part.find(&fingerprints, list)?))).collect();
    found.sort_by_key(|(_, range)| range.start);
    found
}

/// Before which message of a list a part belongs that is not in it yet, among others that are. `None` in a list without a
/// handoff.
pub fn place(list: &[Message], first: u64, others: &[OpenedPart]) -> Option<usize> {
    let found = find(list, others);
    // What is opened may have an old handoff in it.
    let is_own = |at: usize| !found.iter().any(|(_, range)| range.contains(&at));
    let handoff = (0..list.len()).rev().find(|&at| is_own(at) && list.get(at).is_some_and(handoff::is_handoff))?;
    let is_alone = list.get(handoff).is_some_and(handoff::is_only_handoff);
    let begin =
        if is_alone { handoff + 1 } else { found.first().map_or(handoff, |(_, range)| range.start.min(handoff)) };
    let earlier = found.iter().filter(|(part, _)| part.numbers.start < first).map(|(_, range)| range.end);
    Some(earlier.fold(begin, usize::max))
}

/// A list that has none of these parts in it, with all of them in their places.
pub fn with_parts(list: &[Message], parts: &[OpenedPart]) -> Vec<Message> {
    let mut sorted: Vec<&OpenedPart> = parts.iter().collect();
    sorted.sort_by_key(|part| part.numbers.start);
    let at = place(list, 0, &[]).unwrap_or(list.len());
    let (before, behind) = list.split_at(at.min(list.len()));
    let blocks = sorted.into_iter().flat_map(OpenedPart::block);
    before.iter().cloned().chain(blocks).chain(behind.iter().cloned()).collect()
}

#[cfg(test)]
mod tests;
