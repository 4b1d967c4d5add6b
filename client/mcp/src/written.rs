//! Finds out whether a memory write was done although its daemon was killed. Idempotency keys are lost with a daemon,
//! but the journal is not.

use herma_client::protocol::memory::{
    ListParams, LogParams, LogRow, PendingParams, PendingWrite, StoreView, Target, ToolParams, WriteResult,
};
use herma_client::protocol::{Reply, Request};
use herma_client::{Client, ClientError};
use serde_json::Value;

/// How many rows of the journal are searched. Rows that others wrote in the meantime are among them.
const ROWS: u64 = 200;

/// The message for a write that the daemon did but could not confirm.
const DONE: &str = "Done; the daemon was restarted right after it.";

/// The write that a model requested.
#[derive(Debug, PartialEq, Eq)]
struct RequestedWrite {
    target: Target,
    /// The action's name in the journal.
    action: String,
    operations: Vec<Step>,
}

/// One operation of a write.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    content: Option<String>,
    old_text: Option<String>,
}

/// Searches for a write that was done since `since` (Unix seconds). Returns `None` if it was not done, or if the
/// request can be repeated.
///
/// # Errors
/// The daemon's error, or a broken connection.
pub(super) fn look(client: &mut Client, request: &Request, since: f64) -> Result<Option<Reply>, ClientError> {
    let Request::MemoryTool(ToolParams { arguments, session, .. }) = request else { return Ok(None) };
    let Some(asked) = read(arguments.get()) else { return Ok(None) };
    let session = session.as_deref();
    let pending = client.memory_pending(PendingParams {})?.pending;
    if let Some(staged) = pending.iter().rev().find(|staged| is_staged(staged, &asked, session, since)) {
        let count = u64::try_from(pending.len()).ok();
        let staged = WriteResult {
            success: true,
            staged: Some(true),
            pending_id: Some(staged.id.clone()),
            pending_count: count,
            message: Some("The write waits for the user's approval.".into()),
            ..WriteResult::default()
        };
        return Ok(Some(Reply::MemoryTool(staged)));
    }
    let log = client.memory_log(LogParams {
        target: Some(asked.target),
        limit: Some(ROWS),
        raw: Some(true),
        ..LogParams::default()
    })?;
    let Some(row) = log.rows.iter().find(|row| is_done(row, &asked, session, since)) else { return Ok(None) };
    let stores = client.memory_list(ListParams { target: Some(asked.target), raw: None })?;
    let store = match asked.target {
        Target::Memory => stores.memory,
        Target::User => stores.user,
    };
    Ok(Some(Reply::MemoryTool(describe(&asked, row, store))))
}

fn describe(asked: &RequestedWrite, row: &LogRow, store: Option<StoreView>) -> WriteResult {
    let (entries, usage) = store.map(|store| (store.entries, store.usage)).unzip();
    WriteResult {
        success: true,
        target: Some(asked.target),
        entry_count: entries.as_ref().and_then(|entries| u64::try_from(entries.len()).ok()),
        entries,
        usage,
        message: Some(DONE.into()),
        revision: Some(row.revision),
        ..WriteResult::default()
    }
}

fn is_staged(staged: &PendingWrite, asked: &RequestedWrite, session: Option<&str>, since: f64) -> bool {
    let ours = staged.session.as_deref() == session && staged.created_at >= since;
    let payload: Value = serde_json::from_str(staged.payload.get()).unwrap_or_default();
    let (wanted, found) = (&asked.operations, steps(&payload));
    ours && staged.target == asked.target && staged.action == asked.action && *wanted == found
}

/// Returns whether a row of the journal is this write: it has the same session, is newer than the call, and made the
/// requested change. The change is compared because a session can have two writers.
fn is_done(row: &LogRow, asked: &RequestedWrite, session: Option<&str>, since: f64) -> bool {
    let ours = row.session.as_deref() == session && row.time >= since && row.action == asked.action;
    ours && asked.operations.iter().all(|step| match (&step.content, &step.old_text) {
        (Some(content), _) => row.after.contains(content) && !row.before.contains(content),
        (None, Some(old)) => row.before.iter().any(|entry| entry.contains(old) && !row.after.contains(entry)),
        (None, None) => false,
    })
}

fn read(arguments: &str) -> Option<RequestedWrite> {
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    let target = match arguments.get("target").and_then(Value::as_str) {
        Some("user") => Target::User,
        _ => Target::Memory,
    };
    let batch = arguments.get("operations").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    let action = if batch { "batch" } else { arguments.get("action")?.as_str()? };
    Some(RequestedWrite { target, action: action.to_owned(), operations: steps(&arguments) })
}

/// Returns the operations of arguments or of a payload: those in its list, or else the value itself.
fn steps(value: &Value) -> Vec<Step> {
    let text = |value: &Value, name: &str| {
        let text = value.get(name).and_then(Value::as_str)?.replace("\r\n", "\n");
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let step = |value: &Value| {
        // The other fields of a removal are ignored.
        let removes = value.get("action").and_then(Value::as_str) == Some("remove");
        Step { content: text(value, "content").filter(|_| !removes), old_text: text(value, "old_text") }
    };
    match value.get("operations").and_then(Value::as_array) {
        Some(list) if !list.is_empty() => list.iter().map(step).collect(),
        _ => vec![step(value)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(action: &str, before: &[&str], after: &[&str]) -> LogRow {
        let owned = |entries: &[&str]| entries.iter().map(|entry| (*entry).to_owned()).collect();
        LogRow {
            target: Target::User,
            revision: 7,
            time: 100.0,
            action: action.into(),
            session: Some("s".into()),
            agent: None,
            host: None,
            before: owned(before),
            after: owned(after),
        }
    }

    #[test]
    fn a_row_is_the_write_that_made_it() {
        let add = r#"{"action":"add","target":"user","content":" tea\r\n"}"#;
        let replace = r#"{"action":"replace","target":"user","content":"tea","old_text":"coffee"}"#;
        let remove = r#"{"action":"remove","target":"user","old_text":"coff","content":""}"#;
        let batch = r#"{"target":"user","operations":[{"action":"remove","old_text":"coffee"},{"action":"add","content":"tea"}]}"#;
        for (arguments, row, expected) in [
            (add, row("add", &[], &["tea"]), true),
            (add, row("add", &[], &["milk"]), false),
            (add, row("batch", &[], &["tea"]), false),
            (replace, row("replace", &["coffee"], &["tea"]), true),
            (replace, row("replace", &["coffee", "tea"], &["milk", "tea"]), false),
            (remove, row("remove", &["coffee", "tea"], &["tea"]), true),
            (remove, row("remove", &["coffee", "tea"], &["coffee"]), false),
            (batch, row("batch", &["coffee"], &["tea"]), true),
            (batch, row("batch", &["coffee"], &["coffee", "tea"]), false),
        ] {
            let asked = read(arguments).unwrap();
            assert_eq!(is_done(&row, &asked, Some("s"), 99.5), expected, "{arguments} {row:?}");
            assert!(!is_done(&row, &asked, Some("other"), 99.5), "{arguments}");
            assert!(!is_done(&row, &asked, Some("s"), 100.5), "{arguments}");
        }
    }
}
