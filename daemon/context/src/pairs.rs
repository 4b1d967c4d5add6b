//! Tool calls and their results, paired by position.
//!
//! A result belongs to the nearest unanswered call with its id before it, so ids may be reused. Calls that
//! are still open at the very end of a list are in flight: their results will follow.

use std::collections::VecDeque;

use hashbrown::HashMap;

use crate::json;
use crate::message::{Message, Role};
use crate::tokens::tokens_of;

/// The text that replaces a missing result.
pub const STUB: &str = "[Result from earlier conversation — see context summary above]";

/// The faults in the pairing of a list's calls and results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairing {
    /// Results with an id but no call, by index, ascending.
    pub orphans: Vec<usize>,
    /// Calls without a result: the assistant's index and the call's id, ascending. Calls in flight do not
    /// count.
    pub unanswered: Vec<(usize, String)>,
}

/// Pairs the calls and results of a list.
pub fn pairing<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Pairing {
    let messages: Vec<&Message> = messages.into_iter().collect();
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut calls: Vec<(usize, &str)> = Vec::new();
    let mut answered: Vec<bool> = Vec::new();
    let mut out = Pairing::default();
    for (at, message) in messages.iter().enumerate() {
        match message.role() {
            Role::Assistant => {
                // In reverse, so that the first of two calls with one id is answered first.
                let first = calls.len();
                for id in message.tool_calls().iter().filter_map(|call| call.id.as_deref()) {
                    calls.push((at, id));
                    answered.push(false);
                }
                for (call, (_, id)) in calls.iter().enumerate().skip(first).rev() {
                    open.entry(id).or_default().push(call);
                }
            }
            Role::Tool => {
                let Some(id) = message.tool_call_id() else { continue };
                match open.get_mut(id).and_then(Vec::pop) {
                    Some(call) => answered[call] = true,
                    None => out.orphans.push(at),
                }
            }
            _ => {}
        }
    }
    let last = last_caller(&messages);
    out.unanswered = calls
        .into_iter()
        .zip(answered)
        .filter(|((at, _), answered)| !answered && Some(*at) != last)
        .map(|((at, id), _)| (at, id.to_owned()))
        .collect();
    out
}

/// Returns for each result the message and index of its call, by the same rule. A further result of an
/// answered call also belongs to that call, so that it still has a name. If neither has an id (Ollama),
/// results match calls in order.
pub(crate) fn callers<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Vec<Option<(usize, usize)>> {
    let mut open: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    let mut last: HashMap<&str, (usize, usize)> = HashMap::new();
    let mut without_id: VecDeque<(usize, usize)> = VecDeque::new();
    messages
        .into_iter()
        .enumerate()
        .map(|(at, message)| {
            for (index, call) in message.tool_calls().iter().enumerate().rev() {
                if let Some(id) = call.id.as_deref() {
                    open.entry(id).or_default().push((at, index));
                }
            }
            if !message.is(Role::Tool) {
                let calls = message.tool_calls().iter().enumerate().filter(|(_, call)| call.id.is_none());
                without_id = calls.map(|(index, _)| (at, index)).collect();
                return None;
            }
            let Some(id) = message.tool_call_id() else { return without_id.pop_front() };
            let call = open.get_mut(id).and_then(Vec::pop).or_else(|| last.get(id).copied())?;
            last.insert(id, call);
            Some(call)
        })
        .collect()
}

/// Returns the assistant message whose calls are still open at the end of the list, if there is one.
pub fn in_flight(messages: &[Message]) -> Option<usize> {
    let tail: Vec<&Message> = {
        let results = messages.iter().rev().take_while(|m| m.is(Role::Tool)).count();
        messages.iter().skip(messages.len().saturating_sub(results + 1)).collect()
    };
    let caller = last_caller(&tail)?;
    let mut results: HashMap<&str, usize> = HashMap::new();
    for id in tail.iter().skip(caller + 1).filter_map(|m| m.tool_call_id()) {
        *results.entry(id).or_default() += 1;
    }
    let open = tail[caller].tool_calls().iter().any(|call| match call.id.as_deref() {
        None => false,
        Some(id) => match results.get_mut(id) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        },
    });
    open.then(|| messages.len() - tail.len() + caller)
}

/// Returns the last assistant message with calls, if only results follow it.
fn last_caller(messages: &[&Message]) -> Option<usize> {
    let last = messages.iter().rposition(|m| !m.is(Role::Tool))?;
    let caller = messages[last];
    (caller.is(Role::Assistant) && !caller.tool_calls().is_empty()).then_some(last)
}

/// Returns a replacement for the lost result of a call.
pub fn stub(id: &str) -> Message {
    Message::compose(&[
        ("role", json::encode("tool")),
        ("content", json::encode(STUB)),
        ("tool_call_id", json::encode(id)),
    ])
}

/// Returns the stubs that a repair of the list would add: one for every call without a result.
pub(crate) fn stubs<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Vec<Message> {
    pairing(messages).unanswered.iter().map(|(_, id)| stub(id)).collect()
}

/// Returns the tokens of these stubs.
pub(crate) fn stub_tokens<'a>(messages: impl IntoIterator<Item = &'a Message>) -> u64 {
    stubs(messages).iter().map(tokens_of).sum()
}

/// A list entry that holds a message and can be built from a new message.
pub(crate) trait Entry {
    /// Returns the message.
    fn message(&self) -> &Message;
    /// Creates an entry for a message that the list did not have.
    fn inserted(message: Message) -> Self;
}

impl Entry for Message {
    fn message(&self) -> &Message {
        self
    }
    fn inserted(message: Message) -> Self {
        message
    }
}

/// Returns the list without orphans, and with a stub for every call that lost its result. A stub is after the
/// results of earlier calls of its message, or directly after the message.
pub(crate) fn sanitise<E: Entry>(list: Vec<E>) -> Vec<E> {
    let pairing = pairing(list.iter().map(Entry::message));
    if pairing.orphans.is_empty() && pairing.unanswered.is_empty() {
        return list;
    }
    let mut out = Vec::with_capacity(list.len() + pairing.unanswered.len());
    let mut orphans = pairing.orphans.into_iter().peekable();
    let mut unanswered = pairing.unanswered.into_iter().peekable();
    let mut group = Group::default();
    for (at, entry) in list.into_iter().enumerate() {
        if !entry.message().is(Role::Tool) {
            group.close(&mut out);
        }
        if orphans.next_if_eq(&at).is_some() {
            continue;
        }
        if let Some(id) = entry.message().tool_call_id().filter(|_| entry.message().is(Role::Tool)) {
            group.answer(id, &mut out);
        }
        let mut lost: HashMap<String, usize> = HashMap::new();
        while let Some((_, id)) = unanswered.next_if(|(caller, _)| *caller == at) {
            *lost.entry(id).or_default() += 1;
        }
        if !lost.is_empty() {
            group = Group::of(entry.message(), lost);
        }
        out.push(entry);
    }
    group.close(&mut out);
    out
}

/// The calls of one message, of which some lost their results.
#[derive(Default)]
struct Group {
    /// The calls' ids in order, each with whether its result is lost.
    calls: VecDeque<(String, bool)>,
    /// How many results of each id still follow.
    coming: HashMap<String, usize>,
}

impl Group {
    /// If several calls share one id, the last ones lack a result.
    fn of(message: &Message, mut lost: HashMap<String, usize>) -> Self {
        let mut group = Self::default();
        for id in message.tool_calls().iter().filter_map(|call| call.id.clone()).rev() {
            let left = lost.get_mut(&id).filter(|left| **left > 0);
            let is_lost = left.map(|left| *left -= 1).is_some();
            if !is_lost {
                *group.coming.entry(id.clone()).or_default() += 1;
            }
            group.calls.push_front((id, is_lost));
        }
        group
    }

    /// Handles a result: inserts the stubs of earlier calls before it.
    fn answer<E: Entry>(&mut self, id: &str, out: &mut Vec<E>) {
        let Some(left) = self.coming.get_mut(id).filter(|left| **left > 0) else { return };
        *left -= 1;
        while let Some((call, is_lost)) = self.calls.pop_front() {
            if is_lost {
                out.push(E::inserted(stub(&call)));
            } else if call == id {
                return;
            }
        }
    }

    /// Inserts the remaining stubs: no more results follow.
    fn close<E: Entry>(&mut self, out: &mut Vec<E>) {
        let lost = self.calls.drain(..).filter(|(_, is_lost)| *is_lost);
        out.extend(lost.map(|(id, _)| E::inserted(stub(&id))));
        self.coming.clear();
    }
}

/// Returns the list with its pairs repaired: orphans removed, stubs inserted. See [`Pairing`].
pub fn sanitised(messages: Vec<Message>) -> Vec<Message> {
    sanitise(messages)
}

#[cfg(test)]
mod tests;
