//! A shorter list in the place of a conversation as Claude Code's plugins have it: rows with handles. Pure.
//!
//! A row that comes back as it was keeps all that belongs to it: thoughts of the model, pictures, and what hooks added
//! beside it. A row that comes back in another form is made anew from its text and its results, and keeps nothing else.
//! So calls always come back as they were, results may become short, and the handoff is a row of its own.

mod row;

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::kept::hash;
use row::{Message, Row, plain};

/// Rows behind the newest message that the list knows: what was said between the last event and this one.
const MEANWHILE: usize = 60;

/// Chars of a conversation that may come back without being half as large: it is small already.
const SMALL: usize = 48_000;

/// A result counts as made short if it has at most so many percent of its chars.
const SHORT_PERCENT: usize = 90;

/// The rows that stand for a conversation from now on.
#[derive(Debug, PartialEq)]
pub(super) struct Rows {
    /// As the client takes them.
    pub(super) rows: Value,
    /// The key of the last one: what is told of the new window will stand beside it.
    pub(super) last: String,
}

/// What stands in the new list.
#[derive(Debug, PartialEq, Eq)]
enum Item {
    /// The row at that place.
    Kept(usize),
    /// A new one.
    New(&'static str, String),
}

/// The rows that stand for a list, newest last. Rows behind those that the list knows stay: they were said meanwhile.
/// `told` are the keys of rows beside which herma told something, which is told anew.
///
/// # Errors
/// Why the client has to compact by itself.
pub(super) fn rows(list: &[Value], rows: &Value, told: &[String]) -> Result<Rows, String> {
    let rows: Option<Vec<Row>> = rows.as_array().and_then(|rows| rows.iter().map(Row::read).collect());
    let rows = rows.filter(|rows| !rows.is_empty()).ok_or("the rows of the client are not rows with handles")?;
    let list: Vec<Message> = list.iter().map(Message::read).collect();
    let mut arranged = Arranged::of(&list, &rows);
    arranged.complete(&rows);
    let written: Vec<Value> = arranged.items.iter().map(|item| arranged.written(item, &rows, told)).collect();
    let before: usize = rows.iter().map(Row::chars).sum();
    let known: HashMap<&str, usize> = rows.iter().map(|row| (row.handle.as_str(), row.chars())).collect();
    let chars_of = |value: &Value| match value.get("handle").and_then(Value::as_str) {
        Some(handle) => known.get(handle).copied().unwrap_or_default(),
        None => Row::chars_of(value),
    };
    let after: usize = written.iter().map(chars_of).sum();
    let is_small = after < before && after <= SMALL;
    if after > before / 2 && !is_small {
        return Err(format!("its rows would have {after} chars instead of {before}, which is no compaction"));
    }
    let last = match arranged.items.last() {
        Some(Item::Kept(place)) => rows[*place].key(),
        Some(Item::New(_, text)) => key(text),
        None => String::new(),
    };
    Ok(Rows { rows: written.into(), last })
}

/// What a row that has nothing but a text is known by.
pub(super) fn key(text: &str) -> String {
    hash(plain(text).as_bytes())
}

/// Rows in their new order, and what the list has in the place of their results.
struct Arranged {
    items: Vec<Item>,
    /// The text of a result, by the place of its row and its call's id.
    results: HashMap<(usize, String), String>,
    /// Rows of which the list names a picture or a file that the client has.
    pictured: HashSet<usize>,
}

impl Arranged {
    fn of(list: &[Message], rows: &[Row]) -> Self {
        let mut arranged = Self { items: Vec::new(), results: HashMap::new(), pictured: HashSet::new() };
        // The row that the message before belongs to; all that follow it are in the items.
        let mut at = rows.len();
        for message in list.iter().rev() {
            if let Some(row) = rows.get(at).filter(|row| message.is_part_of(row)) {
                arranged.note(message, at, row);
                continue;
            }
            match (0..at).rev().find(|place| message.is_in(&rows[*place])) {
                // The newest row is behind what was read of the transcript; empty ones belong to those around them.
                Some(place) if at < rows.len() || at - place <= MEANWHILE => {
                    let is_newest = at == rows.len();
                    let between = (place + 1..at).filter(|row| is_newest || rows[*row].is_empty());
                    arranged.items.extend(between.rev().map(Item::Kept));
                    arranged.items.push(Item::Kept(place));
                    arranged.note(message, place, &rows[place]);
                    at = place;
                }
                // What a tool said is no word of the user; its row may be that of a message behind it.
                _ if message.text.is_empty() || message.result.is_some() => {}
                _ => arranged.items.push(Item::New(message.role, message.text.clone())),
            }
        }
        arranged.items.reverse();
        if at == rows.len() {
            arranged.items = beside_the_newest(list, rows);
        }
        arranged
    }

    /// Notes what the list has of a row.
    fn note(&mut self, message: &Message, place: usize, row: &Row) {
        match &message.result {
            Some(id) => drop(self.results.insert((place, id.clone()), message.text.clone())),
            None if message.names_more_than(row) => drop(self.pictured.insert(place)),
            None => {}
        }
    }

    /// Adds the answers to calls that stay, and the calls of answers, until none is missing.
    fn complete(&mut self, rows: &[Row]) {
        loop {
            let kept: HashSet<usize> = self.items.iter().filter_map(Item::place).collect();
            let is_missing =
                |place: &usize| !kept.contains(place) && kept.iter().any(|kept| rows[*place].is_paired(&rows[*kept]));
            let Some(place) = (0..rows.len()).find(is_missing) else { return };
            let before = self.items.iter().rposition(|item| item.place().is_some_and(|kept| kept < place));
            let behind = self.items.iter().position(|item| item.place().is_some_and(|kept| kept > place));
            self.items.insert(before.map_or(behind.unwrap_or(self.items.len()), |at| at + 1), Item::Kept(place));
        }
    }

    fn written(&self, item: &Item, rows: &[Row], told: &[String]) -> Value {
        match item {
            Item::New(role, text) => json!({ "role": role, "text": text, "toolUses": [] }),
            Item::Kept(place) => {
                let row = &rows[*place];
                // What is told at the beginning of a session stands beside its first row.
                let is_told = *place == 0 || told.contains(&row.key());
                let shown: Vec<Option<&str>> = row.results.iter().map(|result| self.short(*place, result)).collect();
                let is_short = shown.iter().any(Option::is_some);
                let has_more = self.pictured.contains(place) || row.has_picture();
                match (is_short || is_told) && !has_more && row.calls.is_empty() {
                    true => row.anew(&shown),
                    false => json!({ "handle": row.handle }),
                }
            }
        }
    }

    /// What stands for a result, if it is shorter.
    fn short(&self, place: usize, result: &row::Answer) -> Option<&str> {
        let text = self.results.get(&(place, result.id.clone()))?;
        (text.chars().count() * 100 <= result.chars() * SHORT_PERCENT).then_some(text)
    }
}

/// The handoff and the newest rows, for a list that has none of the rows: the user's last words, if they are near, and
/// what followed them.
fn beside_the_newest(list: &[Message], rows: &[Row]) -> Vec<Item> {
    let handoff = list.first().filter(|message| !message.text.is_empty());
    let handoff = handoff.map(|message| Item::New(message.role, message.text.clone()));
    let near = rows.len().saturating_sub(MEANWHILE);
    let user = rows.iter().rposition(Row::is_said).filter(|at| *at >= near);
    let newest = user.or_else(|| rows.iter().rposition(|row| row.results.is_empty())).unwrap_or(near);
    handoff.into_iter().chain((newest..rows.len()).map(Item::Kept)).collect()
}

impl Item {
    const fn place(&self) -> Option<usize> {
        match self {
            Self::Kept(place) => Some(*place),
            Self::New(..) => None,
        }
    }
}

#[cfg(test)]
mod tests;
