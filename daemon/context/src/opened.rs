//! Parts of a conversation that are in its list again, word for word, until they are closed.
//!
//! The handoff summarises them, so they are next to it: after it, or before the user's message that it was
//! merged into. Many providers reject two successive messages of one role. If such messages would meet, a
//! mark is put between them. That can happen at the ends of a part, and where something between its messages
//! stayed in the list.

use std::ops::Range;

use crate::fingerprint::Fingerprint;
use crate::handoff;
use crate::json;
use crate::message::{Message, Role};

/// The beginning of a mark before opened messages.
const OPENED: &str = "[Opened again, word for word: ";
/// The beginning of a mark between two of them.
const GOES_ON: &str = "[What was opened again goes on: ";
/// The beginning of a mark after them.
const END: &str = "[End of what was opened again: ";

/// An opened part of a conversation, with the marks that its place needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenedPart {
    /// The id of the part.
    pub id: String,
    /// The conversation numbers of its messages. Several parts are in the order of these numbers.
    pub numbers: Range<u64>,
    /// Its messages.
    pub messages: Vec<Message>,
    /// Indexes of the messages that do not directly follow the one before in the conversation: something
    /// between them stayed in the list.
    pub gaps: Vec<usize>,
    /// The roles of the marks before and after it, if there are any.
    pub marks: Marks,
}

/// The roles of the marks around a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The role of the mark before it.
    pub before: Option<Role>,
    /// The role of the mark after it.
    pub behind: Option<Role>,
}

impl Marks {
    /// Returns the marks that messages need between two others.
    pub fn between(before: Option<&Message>, messages: &[Message], behind: Option<&Message>) -> Self {
        Self { before: mark(before, messages.first()), behind: mark(messages.last(), behind) }
    }
}

/// Returns the role of a mark between two messages, if they need one.
fn mark(one: Option<&Message>, next: Option<&Message>) -> Option<Role> {
    let (one, next) = (one?.role(), next?.role());
    match (one, next) {
        (Role::User, Role::User) => Some(Role::Assistant),
        (Role::Assistant, Role::Assistant) => Some(Role::User),
        // After results of calls the model must speak.
        (Role::Tool, Role::User) => Some(Role::Assistant),
        _ => None,
    }
}

impl OpenedPart {
    /// Returns all messages that the part adds to a list.
    pub fn block(&self) -> Vec<Message> {
        let before = self.marks.before.as_ref().map(|role| self.mark(OPENED, role));
        let behind = self.marks.behind.as_ref().map(|role| self.mark(END, role));
        before.into_iter().chain(self.inner()).chain(behind).collect()
    }

    /// Returns its messages, with a mark in each gap where two of them can't follow each other.
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

    /// Returns the range of the part in a list, its marks included.
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

/// Returns the ranges of the parts that are in a list, in the order of the list.
pub fn find<'a>(list: &[Message], parts: &'a [OpenedPart]) -> Vec<(&'a OpenedPart, Range<usize>)> {
    let fingerprints: Vec<Fingerprint> = list.iter().map(Fingerprint::of).collect();
    let mut found: Vec<(&OpenedPart, Range<usize>)> =
        parts.iter().filter_map(|part| Some((part, part.find(&fingerprints, list)?))).collect();
    found.sort_by_key(|(_, range)| range.start);
    found
}

/// Returns the position at which a new part belongs in a list that already has `others`. Returns `None` for a
/// list without a handoff.
pub fn place(list: &[Message], first: u64, others: &[OpenedPart]) -> Option<usize> {
    let found = find(list, others);
    // An opened part may contain an old handoff.
    let is_own = |at: usize| !found.iter().any(|(_, range)| range.contains(&at));
    let handoff = (0..list.len()).rev().find(|&at| is_own(at) && list.get(at).is_some_and(handoff::is_handoff))?;
    let is_alone = list.get(handoff).is_some_and(handoff::is_only_handoff);
    let begin =
        if is_alone { handoff + 1 } else { found.first().map_or(handoff, |(_, range)| range.start.min(handoff)) };
    let earlier = found.iter().filter(|(part, _)| part.numbers.start < first).map(|(_, range)| range.end);
    Some(earlier.fold(begin, usize::max))
}

/// Returns a list that has none of these parts with all of them added.
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
