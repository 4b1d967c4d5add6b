//! Converts the engine's compressed list to a compaction of pi, or of an agent with pi's entries: a summary, and the entry
//! from which the agent keeps its conversation. No I/O.

use herma_transcripts::Transcript;
use herma_transcripts::pi::Reader;
use serde_json::{Value, json};

use crate::agent::CompactedRows;
use crate::rows::{self, Item, Message, Row, RowPlan};

/// Returns the compaction for a list. `entries` are those of the current branch, oldest first. `kept` returns a text as
/// herma keeps it, which is how the list has it.
///
/// # Errors
/// The reason why it would be no compaction, for the log.
pub(crate) fn compaction(
    list: &[Value],
    entries: &Value,
    kept: &mut dyn FnMut(&str) -> String,
) -> Result<CompactedRows, String> {
    let list: Vec<Message> = list.iter().map(Message::read).collect();
    let entries: Vec<Value> = entries.as_array().into_iter().flatten().flat_map(row).collect();
    let rows = rows::read(&entries.into(), &list, kept)?;
    let plan = RowPlan::of(&list, &rows);
    // pi keeps an unbroken end. Other texts without a row than the handoff are from branches that the user has left.
    let first = plan.items.iter().find_map(Item::index).ok_or("nothing of the conversation would stay")?;
    let Some(Item::New(_, summary)) = plan.items.first() else { return Err("the list has no handoff".into()) };
    let after = summary.chars().count() + rows[first..].iter().map(Row::chars).sum::<usize>();
    rows::check_size(rows.iter().map(Row::chars).sum(), after)?;
    let answer = json!({ "summary": summary, "firstKeptEntryId": rows[first].handle });
    Ok(CompactedRows { answer, chars: after, newest: rows::newest(&rows), last: String::new() })
}

/// Returns the row of an entry, if it is a message: what a transcript has of it.
fn row(entry: &Value) -> Option<Value> {
    let id = entry.get("id")?.as_str()?;
    let mut reader = Reader::new(id);
    reader.line(&entry.to_string());
    let said = reader.sessions().first_mut()?.take().1.pop()?;
    let said: Value = serde_json::from_str(&said.message).ok()?;
    let text = said.get("content").and_then(Value::as_str).unwrap_or_default();
    let arguments = |call: &Value| call.pointer("/function/arguments").cloned();
    let calls = said.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let calls: Vec<Value> =
        calls.map(|call| json!({ "tool_use_id": call.get("id"), "input": arguments(call) })).collect();
    Some(match said.get("tool_call_id") {
        Some(call) => {
            json!({ "handle": id, "role": "user", "toolResults": [{ "tool_use_id": call, "text": text }] })
        }
        None => json!({ "handle": id, "role": said.get("role"), "text": text, "toolUses": calls }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: usize, message: Value) -> Value {
        json!({ "type": "message", "id": id.to_string(), "parentId": null, "timestamp": "2026-01-01T00:00:00.000Z",
                "message": message })
    }

    fn user(id: usize, text: &str) -> Value {
        entry(id, json!({ "role": "user", "content": [{ "type": "text", "text": text }] }))
    }

    fn call(id: usize, call: &str) -> Value {
        let call = json!({ "type": "toolCall", "id": call, "name": "bash", "arguments": { "command": "ls" } });
        entry(id, json!({ "role": "assistant", "content": [{ "type": "thinking", "thinking": "t" }, call] }))
    }

    fn result(id: usize, call: &str, text: &str) -> Value {
        entry(
            id,
            json!({ "role": "toolResult", "toolCallId": call, "toolName": "bash",
                          "content": [{ "type": "text", "text": text }] }),
        )
    }

    /// Returns the summary and the first entry that stays.
    fn compacted(list: &[Value], entries: &[Value]) -> Result<(String, String), String> {
        let compacted = compaction(list, &json!(entries), &mut |text| text.replace("secret", "[masked]"))?;
        let field = |name: &str| compacted.answer[name].as_str().unwrap().to_owned();
        Ok((field("summary"), field("firstKeptEntryId")))
    }

    #[test]
    fn the_summary_is_the_handoff_and_the_list_says_what_stays() {
        let long = "word ".repeat(2_000);
        let entries = [
            user(1, &long),
            json!({ "type": "custom_message", "id": "2", "customType": "herma", "content": "memory" }),
            call(3, "a"),
            result(4, "a", &long),
            user(5, "the secret and so on"),
            call(6, "b"),
            result(7, "b", "ok"),
            user(8, "unread"),
        ];
        let said = |role: &str, text: &str| json!({ "role": role, "content": text });
        let handoff = said("user", "the handoff");
        let called = |id: &str| json!({ "role": "assistant", "tool_calls": [{ "id": id }] });
        let answered = |id: &str, text: &str| json!({ "role": "tool", "tool_call_id": id, "content": text });
        let list = [handoff.clone(), said("user", "the [masked] and so on"), called("b"), answered("b", "ok")];
        let expected = Ok(("the handoff".to_owned(), "5".to_owned()));
        assert_eq!(compacted(&list, &entries), expected);
        // A result never begins what stays, and what was said in a branch that was left stays out.
        let left = said("user", "of another branch");
        let list = [handoff.clone(), left.clone(), answered("b", "ok"), left];
        assert_eq!(compacted(&list, &entries), Ok(("the handoff".to_owned(), "6".to_owned())));
        // A list of which pi has nothing gives the newest entries.
        assert_eq!(compacted(std::slice::from_ref(&handoff), &entries), Ok(("the handoff".to_owned(), "8".to_owned())));
        for (list, entries, words) in [
            (&list[2..3], &entries[..], "no handoff"),
            (&list[..], &entries[..0], "no rows"),
            (&[handoff.clone(), said("user", &long)], &entries[..], "no compaction"),
        ] {
            let words_of = |error: String| error.contains(words) || error.contains("not rows");
            assert!(compacted(list, entries).is_err_and(words_of), "{words}: {:?}", compacted(list, entries));
        }
    }
}
