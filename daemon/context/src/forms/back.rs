//! Translates the changes of a list's messages into changes of its items.

use std::borrow::Cow;

use super::object::{Object, items};
use super::{Form, JOINED, Translation, Unit, gemini, responses};
use crate::message::{Message, Role};
use crate::slot::Slot;

/// One message of the new list.
struct Entry<'a> {
    message: Cow<'a, Message>,
    /// The unit from which it was read, if it is not new.
    unit: Option<usize>,
    is_kept: bool,
}

impl Translation {
    /// Returns what became of the items. `messages` are the messages read from the items, and `slots` is what
    /// became of them.
    pub fn slots(&self, slots: &[Slot], messages: &[Message]) -> Vec<Slot> {
        let entries: Vec<Entry<'_>> = slots.iter().filter_map(|slot| self.entry(slot, messages)).collect();
        let mut found = Vec::with_capacity(entries.len());
        let mut rest = entries.as_slice();
        while !rest.is_empty() {
            let pairs = rest.iter().zip(rest.iter().skip(1));
            let length = 1 + pairs.take_while(|(one, next)| self.are_joined(one, next)).count();
            let (run, behind) = rest.split_at(length);
            self.write_run(run, messages, &mut found);
            rest = behind;
        }
        found
    }

    fn entry<'a>(&self, slot: &'a Slot, messages: &'a [Message]) -> Option<Entry<'a>> {
        let message = match slot {
            Slot::Inserted(message) => self.form.answering(message, messages),
            _ => Cow::Borrowed(slot.message(messages)?),
        };
        let unit = slot.index().map(|at| self.units.partition_point(|unit| unit.messages.end <= at));
        Some(Entry { message, unit, is_kept: matches!(slot, Slot::Kept(_)) })
    }

    /// Whether two successive messages belong into one item: they came from one, or they are results of which
    /// at least one is new.
    fn are_joined(&self, one: &Entry<'_>, next: &Entry<'_>) -> bool {
        if one.unit.is_some() && one.unit == next.unit {
            return true;
        }
        let is_result = |entry: &Entry<'_>| entry.message.is(Role::Tool);
        let is_new = one.unit.is_none() || next.unit.is_none();
        self.form.joins_results() && is_result(one) && is_result(next) && is_new
    }

    fn write_run(&self, run: &[Entry<'_>], messages: &[Message], found: &mut Vec<Slot>) {
        let unit = run.iter().find_map(|entry| self.units.get(entry.unit?));
        let Some(unit) = unit else {
            let new: Vec<&Message> = run.iter().map(|entry| &*entry.message).collect();
            return found.extend(self.form.write(&new).into_iter().map(|item| Slot::Inserted(Message::of_json(item))));
        };
        let is_whole = run.len() == unit.messages.len() && run.iter().all(|entry| entry.is_kept);
        if is_whole {
            return found.extend(unit.items.clone().map(Slot::Kept));
        }
        let form = if unit.form == Form::Chat { self.form } else { unit.form };
        let new: Vec<&Message> = run.iter().map(|entry| &*entry.message).collect();
        let before = messages.get(unit.messages.clone()).unwrap_or_default();
        // A message read from other items may be first here although its items come before the last ones.
        let is_there = found.iter().rev().find_map(Slot::index).is_some_and(|last| last >= unit.items.start);
        if is_there {
            found.extend(form.write(&new).into_iter().map(|item| Slot::Inserted(Message::of_json(item))))
        } else {
            found.extend(changed(unit, form, before, &form.write(&new)))
        }
    }
}

impl Form {
    /// Returns a new message with the facts about its call, if it is a result that needs them.
    fn answering<'a>(self, message: &'a Message, messages: &[Message]) -> Cow<'a, Message> {
        let call = message.tool_call_id().and_then(|id| call_of(id, messages));
        match (self, call) {
            (Self::Responses, Some(call)) => Cow::Owned(responses::answering(message, &call)),
            (Self::Gemini, Some(call)) => Cow::Owned(gemini::answering(message, &call)),
            _ => Cow::Borrowed(message),
        }
    }
}

/// Returns the last call with this id.
fn call_of<'a>(id: &str, messages: &'a [Message]) -> Option<Object<'a>> {
    let has_id = |message: &&Message| message.tool_calls().iter().any(|call| call.id.as_deref() == Some(id));
    let caller = Object::of(messages.iter().rev().find(has_id)?.raw());
    let calls = items(caller.get("tool_calls")?).into_iter().map(Object::of);
    calls.rev().find(|call| call.text("id").as_deref() == Some(id))
}

/// Returns what became of the items of a changed unit.
fn changed(unit: &Unit, form: Form, before: &[Message], items: &[String]) -> Vec<Slot> {
    let before = form.write(&before.iter().collect::<Vec<_>>());
    let is_comparable = before.len() == items.len() && items.len() == unit.items.len();
    let slot = |(at, item): (usize, &String)| {
        let index = unit.items.start + at;
        match before.get(at).filter(|_| is_comparable) {
            Some(same) if same == item => Slot::Kept(index),
            _ if index < unit.items.end => Slot::Replaced { index, message: Message::of_json(item.clone()) },
            _ => Slot::Inserted(Message::of_json(item.clone())),
        }
    };
    items.iter().enumerate().map(slot).collect()
}

/// Writes messages as items of a form; successive results, and the user's words with them, become one.
pub(super) fn written(form: Form, messages: &[Message]) -> Vec<Message> {
    let mut items = Vec::new();
    let mut rest = messages;
    while let Some(first) = rest.first() {
        let results = rest.iter().take_while(|message| message.is(Role::Tool)).count();
        let is_joined = |message: &Message| Object::of(message.raw()).get(JOINED).is_some();
        let is_followed = results > 0 && rest.get(results).is_some_and(is_joined);
        let length = if form.joins_results() { results + usize::from(is_followed) } else { 0 };
        let (run, behind) = rest.split_at(length.max(1));
        let run: Vec<&Message> = if length == 0 { vec![first] } else { run.iter().collect() };
        items.extend(form.write(&run).into_iter().map(Message::of_json));
        rest = behind;
    }
    items
}
