//! Converts the engine's compressed list to the rows that Claude Code's plugin hook returns. No I/O.
//!
//! A row that the hook returns unchanged keeps everything that Claude Code attached to it: the model's thoughts,
//! pictures, and the context that hooks added after it. Claude Code rebuilds a changed row from only its text and its
//! results. So calls are always returned unchanged, results may be shortened, and the handoff is a separate row.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::agent::CompactedRows;
use crate::rows::{self, Item, Message, Row, RowPlan, ToolResult};

pub(super) use crate::rows::{key, newest_result};

/// A result counts as shortened if it has at most this percentage of its chars.
const SHORT_PERCENT: usize = 90;

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
    let list: Vec<Message> = list.iter().map(Message::read).collect();
    let rows = rows::read(rows, &list, kept)?;
    let plan = RowPlan::of(&list, &rows);
    let planned: Vec<Value> = plan.items.iter().map(|item| row(&plan, item, &rows, with_context)).collect();
    let by_handle: HashMap<&str, usize> = rows.iter().map(|row| (row.handle.as_str(), row.chars())).collect();
    let chars = |row: &Value| match row.get("handle").and_then(Value::as_str) {
        Some(handle) => by_handle.get(handle).copied().unwrap_or_default(),
        None => Row::chars_of(row),
    };
    let after: usize = planned.iter().map(chars).sum();
    rows::check_size(rows.iter().map(Row::chars).sum(), after)?;
    let last = match plan.items.last() {
        Some(Item::Existing(index)) => rows[*index].key(),
        Some(Item::New(_, text)) => key(text),
        None => String::new(),
    };
    Ok(CompactedRows { answer: json!({ "messages": planned }), chars: after, newest: rows::newest(&rows), last })
}

fn row(plan: &RowPlan, item: &Item, rows: &[Row], with_context: &[String]) -> Value {
    let index = match item {
        Item::New(role, text) => return json!({ "role": role, "text": text, "toolUses": [] }),
        Item::Existing(index) => *index,
    };
    let row = &rows[index];
    // The context of the session's beginning is attached to its first row.
    let has_context = index == 0 || with_context.contains(&row.key());
    let texts: Vec<Option<&str>> = row.results.iter().map(|result| shortened(plan, index, result)).collect();
    let is_changed = has_context || texts.iter().any(Option::is_some);
    let must_stay = !row.calls.is_empty() || plan.pictured.contains(&index) || row.has_picture();
    if is_changed && !must_stay { row.rebuilt(&texts) } else { json!({ "handle": row.handle }) }
}

/// Returns the list's text of a result if it is shorter.
fn shortened<'a>(plan: &'a RowPlan, index: usize, result: &ToolResult) -> Option<&'a str> {
    let text = plan.results.get(&(index, result.id.clone()))?;
    (text.chars().count() * 100 <= result.chars() * SHORT_PERCENT).then_some(text)
}

#[cfg(test)]
mod tests;
