//! Checks whether a chat API accepts a list of messages.

use serde_json::Value;

/// Returns the problems of a list, or nothing if it is valid. `handoff` is the prefix of a handoff.
pub(crate) fn problems(messages: &[Value], handoff: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            match open.iter().position(|call| *call == id) {
                Some(call) => drop(open.remove(call)),
                None => problems.push(format!("message {at}: a result of no call")),
            }
            continue;
        }
        if !open.is_empty() {
            problems.push(format!("message {at}: calls before it have no result"));
            open.clear();
        }
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        open.extend(calls.iter().filter_map(|call| call["id"].as_str()));
        let before = at.checked_sub(1).map(|before| messages[before]["role"].as_str().unwrap_or_default());
        if before == Some(role) {
            problems.push(format!("message {at}: the role {role} twice in a row"));
        }
    }
    let is_handoff = |message: &Value| message["content"].as_str().is_some_and(|text| text.starts_with(handoff));
    let handoffs: Vec<usize> = (0..messages.len()).filter(|at| is_handoff(&messages[*at])).collect();
    let last_user = messages.iter().rposition(|message| message["role"] == "user");
    match (handoffs.as_slice(), last_user) {
        ([handoff], Some(user)) if user >= *handoff => {}
        ([_], _) => problems.push("no user message after the handoff".into()),
        (several, _) => problems.push(format!("{} handoffs instead of one", several.len())),
    }
    problems
}
