//! Matches the engine's compressed list with an agent's own rows of the conversation. An agent's row has more than the
//! list knows of it: the model's thoughts, pictures, the agent's own context. So what stays in the window stays as the
//! agent's rows. No I/O.

pub(crate) mod entries;
mod row;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

pub(crate) use row::{Message, Row, ToolResult, key, newest_result};

/// The rows after the newest message of the list, which are newer than the last event.
const MAX_UNREAD_ROWS: usize = 60;

/// The chars of a conversation that is small already. It need not become half as large.
const SMALL: usize = 48_000;

/// A row of the compacted conversation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// The agent's row at that index.
    Existing(usize),
    /// A new row with a role and a text.
    New(&'static str, String),
}

/// Reads the agent's rows. `kept` returns a text as herma keeps it, which is how the list has it.
///
/// # Errors
/// They are not rows with handles. The error is for the log.
pub(crate) fn read(rows: &Value, list: &[Message], kept: &mut dyn FnMut(&str) -> String) -> Result<Vec<Row>, String> {
    let rows: Option<Vec<Row>> = rows.as_array().and_then(|rows| rows.iter().map(Row::read).collect());
    let mut rows = rows.filter(|rows| !rows.is_empty()).ok_or("the rows of the agent are not rows with handles")?;
    rows.iter_mut().for_each(|row| row.note_kept(list, kept));
    Ok(rows)
}

/// Checks that a compaction makes a conversation much shorter, in chars.
///
/// # Errors
/// It doesn't. The error is for the log.
pub(crate) fn check_size(before: usize, after: usize) -> Result<(), String> {
    let is_small = after < before && after <= SMALL;
    if after > before / 2 && !is_small {
        return Err(format!("its rows would have {after} chars instead of {before}, which is no compaction"));
    }
    Ok(())
}

/// Returns the chars that an agent's own compaction keeps of the rows: the newest call with its results, and the
/// newest message of the user.
pub(crate) fn newest(rows: &[Row]) -> usize {
    let call = rows.iter().rposition(|row| !row.calls.is_empty()).unwrap_or(rows.len());
    let user = rows[..call].iter().rfind(|row| row.is_user_text()).map_or(0, Row::chars);
    user + rows[call..].iter().map(Row::chars).sum::<usize>()
}

/// The rows in their new order, and the list's texts for their results.
pub(crate) struct RowPlan {
    pub(crate) items: Vec<Item>,
    /// The texts of results in the list, by the index of the row and the id of the call.
    pub(crate) results: HashMap<(usize, String), String>,
    /// The indexes of rows with a picture or a file that only the agent has.
    pub(crate) pictured: HashSet<usize>,
}

impl RowPlan {
    /// Returns the rows for a list. Rows that are newer than the list are kept, and so is the other half of each call
    /// and its result.
    pub(crate) fn of(list: &[Message], rows: &[Row]) -> Self {
        let mut plan = Self::matched(list, rows);
        plan.add_missing_pairs(rows);
        plan
    }

    /// Matches the list with the rows, from the newest message to the oldest.
    fn matched(list: &[Message], rows: &[Row]) -> Self {
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
    /// Returns the index of an existing row.
    pub(crate) const fn index(&self) -> Option<usize> {
        match self {
            Self::Existing(index) => Some(*index),
            Self::New(..) => None,
        }
    }
}
