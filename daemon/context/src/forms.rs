//! Lists in the forms of other providers: reading them as chat completions, and writing them back.
//!
//! The engines know one form, that of OpenAI's chat completions. [`read`] converts Anthropic's messages, the
//! items of OpenAI's Responses, Gemini's contents and the older `function_call` into it. After an engine ran,
//! [`Translation::slots`] returns what became of the items. An unchanged item comes back byte for byte.
//!
//! Items and messages aren't one to one. For Anthropic and Gemini all results of a turn are one item. For
//! Responses a thought, a text and a call are three. A `Unit` is the smallest part of a list that is
//! translated as a whole. The translation depends only on an item and its neighbours in the unit, never on
//! the position in the list. So a message keeps its fingerprint (for pins, discarded outputs, undo) as the
//! list grows.

mod anthropic;
mod back;
mod detect;
mod function_call;
mod gemini;
mod object;
mod responses;

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::constants::METADATA_KEY;
use crate::handoff;
use crate::message::{Message, Role};
use crate::parallel::FEW_MESSAGES;

/// The field for the parts of an item that have no place in chat completions.
const ITEM: &str = "_item";

/// The same for the block or part that held a result.
const BLOCK: &str = "_block";

/// The field of a user message that was in one item after results.
const JOINED: &str = "_joined";

/// The supported forms, for error texts.
pub const KNOWN: &str =
    "chat completions, Anthropic's messages, items of Responses and Gemini's contents are understood";

/// The form of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// OpenAI's chat completions, and every message that looks the same in all forms.
    Chat,
    /// Chat completions with `function_call` and the role `function`, the form before tools.
    FunctionCall,
    /// Anthropic's messages: calls and results are blocks of the content.
    Anthropic,
    /// OpenAI's Responses: calls and results are items of their own.
    Responses,
    /// Gemini's contents: everything is a part.
    Gemini,
}

impl Form {
    const NAMED: [(&str, Self); 4] = [
        ("function_call", Self::FunctionCall),
        ("anthropic", Self::Anthropic),
        ("responses", Self::Responses),
        ("gemini", Self::Gemini),
    ];

    /// Whether one item can hold several messages: the results of a turn, and the user's words with them.
    const fn joins_results(self) -> bool {
        matches!(self, Self::Anthropic | Self::Gemini)
    }

    /// Writes messages as items. They all belong to one item, or are new to the list.
    fn write(self, messages: &[&Message]) -> Vec<String> {
        match self {
            Self::Chat => messages.iter().map(|message| message.raw().to_owned()).collect(),
            Self::FunctionCall => messages.iter().map(|message| function_call::write(message)).collect(),
            Self::Anthropic => anthropic::write(messages),
            Self::Responses => messages.iter().flat_map(|message| responses::write(message)).collect(),
            Self::Gemini => gemini::write(messages),
        }
    }
}

/// The error for an item that is not a message in any form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("item {index} (counted from 0) is no message: {why}; {KNOWN}")]
pub struct ItemError {
    /// The position of the item.
    pub index: usize,
    /// What the item is, or what it lacks.
    pub why: String,
}

/// Items that are translated as a whole, and the messages read from them.
#[derive(Clone, Debug)]
struct Unit {
    form: Form,
    items: Range<usize>,
    messages: Range<usize>,
}

/// A list that is not all chat completions, and its translation.
#[derive(Debug)]
pub struct Translation {
    /// The form for messages that are new to the list.
    form: Form,
    items: Vec<Message>,
    units: Vec<Unit>,
    /// The number of messages.
    length: usize,
}

/// A list in the form of the engines.
#[derive(Clone, Debug)]
pub struct Read {
    /// The messages, as JSON texts.
    pub messages: Vec<String>,
    /// The translation; `None` for a list of chat completions.
    pub translation: Option<Arc<Translation>>,
}

/// Reads a list of JSON texts in any form.
///
/// # Errors
/// Returns the error for the first item that is not a message.
pub fn read(items: Vec<String>) -> Result<Read, ItemError> {
    let forms: Vec<Result<Form, String>> =
        items.par_iter().with_min_len(FEW_MESSAGES).map(|item| detect::form(item)).collect();
    // The items are checked in parallel, but the error names the first bad one.
    let named = |(index, form): (usize, Result<Form, String>)| form.map_err(|why| ItemError { index, why });
    let forms: Vec<Form> = forms.into_iter().enumerate().map(named).collect::<Result<_, _>>()?;
    Ok(read_as(items, &forms))
}

/// Reads a list that was stored before. An item that is not a message in any form stays as it is.
pub fn read_kept(items: Vec<String>) -> Read {
    let forms: Vec<Form> = items.iter().map(|item| detect::form(item).unwrap_or(Form::Chat)).collect();
    read_as(items, &forms)
}

/// Whether every item is a chat completions message, or no message at all.
pub fn are_chat(items: &[String]) -> bool {
    items.iter().all(|item| detect::form(item).unwrap_or(Form::Chat) == Form::Chat)
}

fn read_as(items: Vec<String>, forms: &[Form]) -> Read {
    let Some(form) = forms.iter().copied().find(|form| *form != Form::Chat) else {
        return Read { messages: items, translation: None };
    };
    let (messages, units) = Reading::of(&items, forms);
    let items = Message::all_of_json(items);
    let translation = Translation { form, items, units, length: messages.len() };
    Read { messages, translation: Some(Arc::new(translation)) }
}

impl Read {
    /// Applies the form of the session's earlier lists. Without calls a list looks the same in several forms
    /// and is read as chat completions.
    #[must_use]
    pub fn in_known_form(self, name: &str) -> Self {
        let known = Form::NAMED.iter().find(|(known, _)| *known == name);
        let has_calls = |text: &String| {
            let message = Message::of_json(text.as_str());
            *message.role() == Role::Tool || !message.tool_calls().is_empty()
        };
        match known.filter(|_| self.translation.is_none() && !self.messages.iter().any(has_calls)) {
            Some((_, form)) => {
                let units = (0..self.messages.len())
                    .map(|at| Unit { form: Form::Chat, items: at..at + 1, messages: at..at + 1 })
                    .collect();
                let items = Message::all_of_json(self.messages.clone());
                let translation = Translation { form: *form, items, units, length: self.messages.len() };
                Self { translation: Some(Arc::new(translation)), ..self }
            }
            None => self,
        }
    }

    /// Returns the name of the list's form, to remember for the next list; empty for chat completions.
    pub fn form(&self) -> &'static str {
        let form = self.translation.as_ref().map(|translation| translation.form);
        let named = Form::NAMED.iter().find(|(_, known)| Some(*known) == form);
        named.map_or("", |(name, _)| name)
    }
}

/// Messages read from items, and the units.
#[derive(Default)]
struct Reading {
    messages: Vec<String>,
    units: Vec<Unit>,
    /// Results of the current turn without an id, by function name.
    results: gemini::Count,
}

impl Reading {
    fn of(items: &[String], forms: &[Form]) -> (Vec<String>, Vec<Unit>) {
        let mut reading = Self::default();
        let mut at = 0;
        while let (Some(&form), Some(item)) = (forms.get(at), items.get(at)) {
            let mut end = at + 1;
            let messages = match form {
                Form::Chat => vec![item.clone()],
                Form::FunctionCall => vec![function_call::read(item)],
                Form::Anthropic => anthropic::read(item),
                Form::Gemini => gemini::read(item, &mut reading.results),
                Form::Responses => {
                    let run = forms.iter().skip(at).take_while(|form| **form == Form::Responses).count();
                    let rest = items.get(at..at + run).unwrap_or_default();
                    end = at + responses::turn(rest);
                    vec![responses::read(items.get(at..end).unwrap_or_default())]
                }
            };
            reading.add(form, at..end, messages);
            at = end;
        }
        (reading.messages, reading.units)
    }

    fn add(&mut self, form: Form, items: Range<usize>, messages: Vec<String>) {
        let first = self.messages.len();
        self.messages.extend(messages.into_iter().map(flagged));
        self.units.push(Unit { form, items, messages: first..self.messages.len() });
    }
}

/// Adds the summary flag to a handoff, because lists in other providers' forms lack it.
fn flagged(text: String) -> String {
    let message = Message::of_json(text);
    let is_unflagged = handoff::is_handoff(&message) && !message.is_summary();
    match message.content_span().map(|span| message.slice(span)) {
        Some(content) if is_unflagged => message.with_content(content, &[(METADATA_KEY, "true")]).raw().to_owned(),
        _ => message.raw().to_owned(),
    }
}

impl Translation {
    /// Returns the items of the list.
    pub fn items(&self) -> &[Message] {
        &self.items
    }

    /// Returns the position of the item from which a message was read; past the end, the number of items.
    pub fn item_of(&self, message: usize) -> usize {
        self.unit_of(message).map_or(self.items.len(), |unit| unit.items.start)
    }

    /// Returns the messages that were read from an item, or from the unit it belongs to.
    pub fn messages_of(&self, item: usize) -> Range<usize> {
        let at = self.units.partition_point(|unit| unit.items.end <= item);
        self.units.get(at).map_or(self.length..self.length, |unit| unit.messages.clone())
    }

    /// Returns the messages whose items are entirely within a range.
    pub fn messages_within(&self, items: Range<usize>) -> Range<usize> {
        let starts_within = |unit: &&Unit| unit.items.start >= items.start;
        let start = self.units.iter().find(starts_within).map_or(self.length, |unit| unit.messages.start);
        let ends_within = |unit: &&Unit| unit.items.end <= items.end;
        let end = self.units.iter().rev().find(ends_within).map_or(0, |unit| unit.messages.end);
        start..end.max(start)
    }

    /// Returns the items from which the last messages were read.
    pub fn last(&self, messages: usize) -> &[Message] {
        let first = self.item_of(self.length.saturating_sub(messages));
        self.items.get(first..).unwrap_or_default()
    }

    /// Writes messages that were not read from this list as items of its form.
    pub fn write(&self, messages: &[Message]) -> Vec<Message> {
        back::written(self.form, messages)
    }

    fn unit_of(&self, message: usize) -> Option<&Unit> {
        self.units.get(self.units.partition_point(|unit| unit.messages.end <= message))
    }
}
