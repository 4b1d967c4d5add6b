//! Converts the engine's compressed list to the rows that Claude Code's plugin hook returns. No I/O.
//!
//! A row that the hook returns unchanged keeps everything that Claude Code attached to it: the model's thoughts,
//! pictures, and the context that hooks added after it. Claude Code rebuilds a changed row from only its text and its
//! results. So calls are always returned unchanged, results may be shortened, and the handoff is a separate row.

mod row;

use std::collections::{HashMap, HashSet};

use herma_base::kept::hash;
use serde_json::{Value, json};

use crate::agent::CompactedRows;
use row::{Message, Row, ToolResult, plain};

/// The rows after the newest message of the list, which are newer than the last event.
const MAX_UNREAD_ROWS: usize = 60;

/// The chars of a conversation that is small already. It need not become half as large.
const SMALL: usize = 48_000;

/// A result counts as shortened if it has at most this percentage of its chars.
const SHORT_PERCENT: usize = 90;

/// A row of the compacted conversation.
#[derive(Debug, PartialEq, Eq)]
enum Item {
    /// Claude Code's row at that index.
    Existing(usize),
    /// A new row with a role and a text.
    New(&'static str, String),
}

/// Returns the rows for a list. Rows that are newer than the list are kept. `with_context` has the keys of rows to
/// which Claude Code attached herma's context. These rows are rebuilt, because the new window gets the context again.
/// `kept` returns a text as herma keeps it, which is how the list has it.
///
/// # Errors
/// The reason why the rows would be no compaction, for the log.
pub(super) fn rows(
    list: &[Value],
    rows: &Value,
    with_context: &[String],
    kept: &mut dyn FnMut(&str) -> String,
) -> Result<CompactedRows, String> {
    let rows: Option<Vec<Row>> = rows.as_array().and_then(|rows| rows.iter().map(Row::read).collect());
    let mut rows = rows.filter(|rows| !rows.is_empty()).ok_or("the rows of the client are not rows with handles")?;
    let list: Vec<Message> = list.iter().map(Message::read).collect();
    rows.iter_mut().for_each(|row| row.note_kept(&list, kept));
    let mut plan = RowPlan::new(&list, &rows);
    plan.add_missing_pairs(&rows);
    let planned: Vec<Value> = plan.items.iter().map(|item| plan.row(item, &rows, with_context)).collect();
    let before: usize = rows.iter().map(Row::chars).sum();
    let by_handle: HashMap<&str, usize> = rows.iter().map(|row| (row.handle.as_str(), row.chars())).collect();
    let chars = |row: &Value| match row.get("handle").and_then(Value::as_str) {
        Some(handle) => by_handle.get(handle).copied().unwrap_or_default(),
        None => Row::chars_of(row),
    };
    let after: usize = planned.iter().map(chars).sum();
    let is_small = after < before && after <= SMALL;
    if after > before / 2 && !is_small {
        return Err(format!("its rows would have {after} chars instead of {before}, which is no compaction"));
    }
    let last = match plan.items.last() {
        Some(Item::Existing(index)) => rows[*index].key(),
        Some(Item::New(_, text)) => key(text),
        None => String::new(),
    };
    Ok(CompactedRows { rows: planned.into(), chars: after, newest: newest(&rows), last })
}

/// Returns the chars that Claude Code's own compaction keeps of the rows.
fn newest(rows: &[Row]) -> usize {
    let call = rows.iter().rposition(|row| !row.calls.is_empty()).unwrap_or(rows.len());
    let user = rows[..call].iter().rfind(|row| row.is_user_text()).map_or(0, Row::chars);
    user + rows[call..].iter().map(Row::chars).sum::<usize>()
}

/// Returns the id of the call whose result is the newest of the agent's rows.
pub(super) fn newest_result(rows: &Value) -> Option<String> {
    let rows: Vec<Row> = rows.as_array()?.iter().filter_map(Row::read).collect();
    rows.iter().rev().find_map(|row| row.results.last()).map(|result| result.id.clone())
}

/// Returns the key of a row that has only a text. Each compaction gives a row a new handle, but not a new key.
pub(super) fn key(text: &str) -> String {
    hash(plain(text).as_bytes())
}

/// The rows in their new order, and the list's texts for their results.
struct RowPlan {
    items: Vec<Item>,
    /// The texts of results in the list, by the index of the row and the id of the call.
    results: HashMap<(usize, String), String>,
    /// The indexes of rows with a picture or a file that only Claude Code has.
    pictured: HashSet<usize>,
}

impl RowPlan {
    /// Matches the list with the rows, from the newest message to the oldest.
    fn new(list: &[Message], rows: &[Row]) -> Self {
        let mut plan = Self { items: Vec::new(), results: HashMap::new(), pictured: HashSet::new() };
        // The index of the row that matched last. Every kept row from here on is in `items`.
        let mut matched = rows.len();
        for message in list.iter().rev() {
            if let Some(row) = rows.get(matched).filter(|row| message.is_result_in(row)) {
                plan.note(message, matched, row);
                continue;
            }
            match (0..matched).rev().find(|index| message.is_in(&rows[*index])) {
                Some(index) if matched < rows.len() || matched - index <= MAX_UNREAD_ROWS => {
                    // Rows after the newest message are unread. Empty rows belong to their neighbours.
                    let are_unread = matched == rows.len();
                    let between = (index + 1..matched).filter(|row| are_unread || rows[*row].is_empty());
                    plan.items.extend(between.rev().map(Item::Existing));
                    plan.items.push(Item::Existing(index));
                    plan.note(message, index, &rows[index]);
                    matched = index;
                }
                // A result without a row is not a text of the user. `add_missing_pairs` restores its row if it is
                // needed.
                _ if message.text.is_empty() || message.result.is_some() => {}
                _ => plan.items.push(Item::New(message.role, message.text.clone())),
            }
        }
        plan.items.reverse();
        if matched == rows.len() {
            plan.items = handoff_and_newest(list, rows);
        }
        plan
    }

    /// Records what the list contains for a row.
    fn note(&mut self, message: &Message, index: usize, row: &Row) {
        if let Some(id) = &message.result {
            self.results.insert((index, id.clone()), message.text.clone());
        } else if message.names_more_files_than(row) {
            self.pictured.insert(index);
        }
    }

    /// Adds the results of kept calls and the calls of kept results, until every pair is complete.
    fn add_missing_pairs(&mut self, rows: &[Row]) {
        loop {
            let kept: HashSet<usize> = self.items.iter().filter_map(Item::index).collect();
            let is_missing =
                |index: &usize| !kept.contains(index) && kept.iter().any(|kept| rows[*index].is_paired(&rows[*kept]));
            let Some(missing) = (0..rows.len()).find(is_missing) else { return };
            let before = self.items.iter().rposition(|item| item.index().is_some_and(|kept| kept < missing));
            let after = self.items.iter().position(|item| item.index().is_some_and(|kept| kept > missing));
            let at = before.map_or(after.unwrap_or(self.items.len()), |before| before + 1);
            self.items.insert(at, Item::Existing(missing));
        }
    }

    fn row(&self, item: &Item, rows: &[Row], with_context: &[String]) -> Value {
        let index = match item {
            Item::New(role, text) => return json!({ "role": role, "text": text, "toolUses": [] }),
            Item::Existing(index) => *index,
        };
        let row = &rows[index];
        // The context of the session's beginning is attached to its first row.
        let has_context = index == 0 || with_context.contains(&row.key());
        let shortened: Vec<Option<&str>> = row.results.iter().map(|result| self.shortened(index, result)).collect();
        let is_changed = has_context || shortened.iter().any(Option::is_some);
        let must_stay = !row.calls.is_empty() || self.pictured.contains(&index) || row.has_picture();
        if is_changed && !must_stay { row.rebuilt(&shortened) } else { json!({ "handle": row.handle }) }
    }

    /// Returns the list's text of a result if it is shorter.
    fn shortened(&self, index: usize, result: &ToolResult) -> Option<&str> {
        let text = self.results.get(&(index, result.id.clone()))?;
        (text.chars().count() * 100 <= result.chars() * SHORT_PERCENT).then_some(text)
    }
}

/// Returns the rows for a list whose messages match no row: the handoff, and the newest rows. These begin with the
/// user's last message if it is near, otherwise with the last message of the model.
fn handoff_and_newest(list: &[Message], rows: &[Row]) -> Vec<Item> {
    let handoff = list.first().filter(|message| !message.text.is_empty());
    let handoff = handoff.map(|message| Item::New(message.role, message.text.clone()));
    let near = rows.len().saturating_sub(MAX_UNREAD_ROWS);
    let user = rows.iter().rposition(Row::is_user_text).filter(|index| *index >= near);
    let newest = user.or_else(|| rows.iter().rposition(|row| row.results.is_empty())).unwrap_or(near);
    handoff.into_iter().chain((newest..rows.len()).map(Item::Existing)).collect()
}

impl Item {
    const fn index(&self) -> Option<usize> {
        match self {
            Self::Existing(index) => Some(*index),
            Self::New(..) => None,
        }
    }
}

#[cfg(test)]
mod tests;
