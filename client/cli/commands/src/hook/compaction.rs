//! A shorter list in the place of a conversation as Claude Code's plugins have it: rows, each with a handle by which
//! it is kept as it is. Pure.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

/// A row as the client has it.
#[derive(Debug, Default)]
struct Row {
    is_assistant: bool,
    handle: String,
    text: String,
    calls: Vec<String>,
    results: Vec<String>,
}

/// Rows behind the newest message that the list knows: what was said between the last event and this one.
const MEANWHILE: usize = 20;

/// What stands in the new list.
#[derive(Debug, PartialEq, Eq)]
enum Item {
    /// The row at that place, as it is.
    Kept(usize),
    /// A new one.
    New(&'static str, String),
}

/// The rows that stand for a list, newest last. Rows behind those that the list knows stay: they were said
/// meanwhile. `None` where the list has none of the rows, so that they can't be brought together.
pub(super) fn rows(list: &[Value], rows: &Value) -> Option<Value> {
    let rows: Vec<Row> = rows.as_array()?.iter().map(Row::read).collect::<Option<_>>()?;
    let mut items = arrange(list, &rows)?;
    complete(&mut items, &rows);
    if items.len() >= rows.len() {
        return None;
    }
    Some(items.into_iter().map(|item| written(item, &rows)).collect())
}

fn arrange(list: &[Value], rows: &[Row]) -> Option<Vec<Item>> {
    let mut items = Vec::new();
    // The row that the message before belongs to; all that follow it are in the items.
    let mut at = rows.len();
    for message in list.iter().rev() {
        let message = Message::read(message);
        if rows.get(at).is_some_and(|row| message.is_part_of(row)) {
            continue;
        }
        match (0..at).rev().find(|place| message.is_in(&rows[*place])) {
            Some(place) => {
                // The newest row is behind what was read of the transcript; empty ones belong to those around them.
                let is_newest = at == rows.len();
                if is_newest && at - place > MEANWHILE {
                    return None;
                }
                let between = (place + 1..at).filter(|row| is_newest || rows[*row].is_empty());
                items.extend(between.rev().map(Item::Kept));
                items.push(Item::Kept(place));
                at = place;
            }
            // What a tool said is no word of the user; its row may be that of a message behind it.
            None if message.text.is_empty() || message.result.is_some() => {}
            None => items.push(Item::New(message.role, message.text)),
        }
    }
    items.reverse();
    (at < rows.len()).then_some(items)
}

/// Adds the answers to calls that stay, and the calls of answers, until none is missing.
fn complete(items: &mut Vec<Item>, rows: &[Row]) {
    loop {
        let kept: HashSet<usize> = items.iter().filter_map(Item::place).collect();
        let shares = |row: &Row, other: &Row| {
            row.calls.iter().any(|id| other.results.contains(id))
                || row.results.iter().any(|id| other.calls.contains(id))
        };
        let is_missing =
            |place: &usize| !kept.contains(place) && kept.iter().any(|kept| shares(&rows[*place], &rows[*kept]));
        let Some(place) = (0..rows.len()).find(is_missing) else { return };
        let before = items.iter().rposition(|item| item.place().is_some_and(|kept| kept < place));
        let behind = items.iter().position(|item| item.place().is_some_and(|kept| kept > place));
        items.insert(before.map_or(behind.unwrap_or(items.len()), |at| at + 1), Item::Kept(place));
    }
}

fn written(item: Item, rows: &[Row]) -> Value {
    match item {
        Item::Kept(place) => json!({ "handle": rows[place].handle }),
        Item::New(role, text) => json!({ "role": role, "text": text, "toolUses": [] }),
    }
}

impl Item {
    const fn place(&self) -> Option<usize> {
        match self {
            Self::Kept(place) => Some(*place),
            Self::New(..) => None,
        }
    }
}

impl Row {
    fn read(row: &Value) -> Option<Self> {
        let ids = |name: &str| {
            let all = row.get(name).and_then(Value::as_array).into_iter().flatten();
            all.filter_map(|one| one.get("tool_use_id").and_then(Value::as_str)).map(str::to_owned).collect()
        };
        let text = row.get("text").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
        let handle = row.get("handle")?.as_str()?.to_owned();
        let is_assistant = row.get("role").and_then(Value::as_str) == Some("assistant");
        Some(Self { is_assistant, handle, text, calls: ids("toolUses"), results: ids("toolResults") })
    }

    const fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty() && self.results.is_empty()
    }
}

/// What of a message tells which row it is.
struct Message {
    role: &'static str,
    text: String,
    calls: Vec<String>,
    result: Option<String>,
}

impl Message {
    fn read(message: &Value) -> Self {
        let empty = Map::new();
        let fields = message.as_object().unwrap_or(&empty);
        let string = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let calls = fields.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        Self {
            role: if fields.get("role").and_then(Value::as_str) == Some("assistant") { "assistant" } else { "user" },
            text: string(fields.get("content")).unwrap_or_default().trim().to_owned(),
            calls: calls.filter_map(|call| string(call.get("id"))).collect(),
            result: string(fields.get("tool_call_id")),
        }
    }

    fn is_in(&self, row: &Row) -> bool {
        match &self.result {
            Some(id) => row.results.contains(id),
            None if !self.calls.is_empty() => self.calls.iter().any(|id| row.calls.contains(id)),
            None => {
                let is_same_role = row.is_assistant == (self.role == "assistant");
                !self.text.is_empty() && is_same_role && row.calls.is_empty() && row.text == self.text
            }
        }
    }

    /// Whether it stands in a row with the message behind it: the answers of one round do.
    fn is_part_of(&self, row: &Row) -> bool {
        self.result.as_ref().is_some_and(|id| row.results.contains(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(handle: &str, text: &str) -> Value {
        json!({ "role": "user", "text": text, "toolUses": [], "handle": handle })
    }

    fn round(handles: [&str; 2], ids: &[&str]) -> [Value; 2] {
        let ids: Vec<Value> = ids.iter().map(|id| json!({ "tool_use_id": id, "text": "…" })).collect();
        [
            json!({ "role": "assistant", "text": "", "toolUses": ids, "handle": handles[0] }),
            json!({ "role": "user", "text": "", "toolUses": [], "toolResults": ids, "handle": handles[1] }),
        ]
    }

    fn said(role: &str, text: &str) -> Value {
        json!({ "role": role, "content": text })
    }

    fn call(ids: &[&str]) -> Value {
        let calls: Vec<Value> = ids.iter().map(|id| json!({ "id": id, "function": { "name": "Bash" } })).collect();
        json!({ "role": "assistant", "content": null, "tool_calls": calls })
    }

    fn result(id: &str) -> Value {
        json!({ "role": "tool", "tool_call_id": id, "content": "…" })
    }

    fn arranged(list: &[Value], all: &[Value]) -> Option<Vec<String>> {
        let name = |row: &Value| row.get("handle").or_else(|| row.get("text")).unwrap().as_str().unwrap().to_owned();
        rows(list, &json!(all)).map(|rows| rows.as_array().unwrap().iter().map(name).collect())
    }

    #[test]
    fn what_stays_is_named_by_its_handle_and_what_is_new_stands_in_its_place() {
        let [a, b] = round(["2", "3"], &["x", "y"]);
        let [c, d] = round(["5", "6"], &["z"]);
        let all = [user("1", "begin"), a, b, user("4", "yes"), c, d, user("7", "yes"), user("8", "waiting")];
        let list = [said("user", "begin"), said("user", "handoff"), call(&["z"]), result("z"), said("user", "yes")];
        assert_eq!(arranged(&list, &all).unwrap(), ["1", "handoff", "5", "6", "7", "8"]);
        // Two answers of one round are one row.
        let list = [said("user", "handoff"), call(&["x", "y"]), result("x"), result("y"), said("user", "waiting")];
        assert_eq!(arranged(&list, &all).unwrap(), ["handoff", "2", "3", "8"]);
        // An answer that became short stays whole, with its call.
        let list = [said("user", "handoff"), result("z"), said("user", "yes")];
        assert_eq!(arranged(&list, &all).unwrap(), ["handoff", "5", "6", "7", "8"]);
    }

    #[test]
    fn thoughts_stay_with_what_they_led_to() {
        let [a, b] = round(["3", "4"], &["x"]);
        let all = [user("8", "old"), user("9", "older"), user("1", "go on"), user("2", ""), a, b];
        let list = [said("user", "handoff"), said("user", "go on"), call(&["x"]), result("x")];
        assert_eq!(arranged(&list, &all).unwrap(), ["handoff", "1", "2", "3", "4"]);
    }

    #[test]
    fn calls_that_the_client_keeps_in_one_row_stay_whole() {
        let [a, b] = round(["2", "3"], &["x", "y"]);
        let all = [user("0", "begin"), user("1", "go"), a, b, user("4", "end")];
        let list = [said("user", "handoff"), call(&["x"]), result("x"), call(&["y"]), result("y"), said("user", "end")];
        assert_eq!(arranged(&list, &all).unwrap(), ["handoff", "2", "3", "4"]);
    }

    #[test]
    fn what_can_t_be_brought_together_is_left_to_the_client() {
        for (list, all) in [
            (vec![said("user", "handoff")], vec![user("1", "another")]),
            (vec![], vec![user("1", "a")]),
            (vec![said("user", "a")], vec![json!({ "role": "user", "text": "a" })]),
        ] {
            assert_eq!(arranged(&list, &all), None);
        }
        assert_eq!(rows(&[said("user", "a")], &json!(7)), None);
    }
}
