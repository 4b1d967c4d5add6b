//! The rules of providers for a list.

use serde_json::Value;

use super::conversation::Form;

impl Form {
    /// Returns why a provider would refuse a list, if it would.
    pub(super) fn refusal(self, list: &[Value]) -> Option<String> {
        match self {
            Self::FunctionCall => pairs_of(list, |item| {
                let role = item["role"].as_str();
                let own = |name: &Value| name.as_str().map(str::to_owned).into_iter().collect();
                (
                    own(&item["function_call"]["name"]),
                    if role == Some("function") { own(&item["name"]) } else { Vec::new() },
                )
            }),
            Self::Anthropic => {
                let blocks = |item: &Value| item["content"].as_array().cloned().unwrap_or_default();
                let ids = |item: &Value, kind: &str, id: &str| -> Vec<String> {
                    let blocks = blocks(item).into_iter().filter(|block| block["type"] == kind);
                    blocks.map(|block| block[id].as_str().unwrap_or_default().to_owned()).collect()
                };
                let known = |item: &&Value| {
                    item.as_object().is_some_and(|fields| fields.keys().all(|key| key == "role" || key == "content"))
                };
                if let Some(other) = list.iter().find(|item| !known(item)) {
                    return Some(format!("fields that nobody knows: {other}"));
                }
                let is_late = |item: &&Value| {
                    let kinds: Vec<bool> = blocks(item).iter().map(|block| block["type"] == "thinking").collect();
                    kinds.contains(&true) && !kinds.first().copied().unwrap_or_default()
                };
                if let Some(late) = list.iter().find(is_late) {
                    return Some(format!("a thought that comes late: {late}"));
                }
                next_to_each_other(
                    list,
                    |item| ids(item, "tool_use", "id"),
                    |item| ids(item, "tool_result", "tool_use_id"),
                )
            }
            Self::Responses => {
                let refused = pairs_of(list, |item| {
                    let kind = item["type"].as_str().unwrap_or_default();
                    let id = || {
                        vec![format!(
                            "{}:{}",
                            kind.trim_end_matches("_output"),
                            item["call_id"].as_str().unwrap_or_default()
                        )]
                    };
                    match kind {
                        kind if kind.ends_with("_call") => (id(), Vec::new()),
                        kind if kind.ends_with("_output") => (Vec::new(), id()),
                        _ => (Vec::new(), Vec::new()),
                    }
                });
                let thoughts = list.iter().zip(list.iter().skip(1).map(Some).chain([None]));
                let mut lonely = thoughts.filter(|(item, next)| {
                    item["type"] == "reasoning"
                        && next.is_none_or(|next| {
                            next["role"] != "assistant"
                                && !next["type"].as_str().is_some_and(|kind| kind.ends_with("_call"))
                        })
                });
                refused.or_else(|| lonely.next().map(|(item, _)| format!("a thought without what it led to: {item}")))
            }
            Self::Gemini => {
                let names = |item: &Value, field: &str| -> Vec<String> {
                    let parts = item["parts"].as_array().into_iter().flatten();
                    let snake = if field == "functionCall" { "function_call" } else { "" };
                    let name =
                        |part: &Value| part[field]["name"].as_str().or(part[snake]["name"].as_str()).map(str::to_owned);
                    let mut names: Vec<String> = parts.filter_map(name).collect();
                    names.sort();
                    names
                };
                next_to_each_other(list, |item| names(item, "functionCall"), |item| names(item, "functionResponse"))
            }
        }
    }
}

/// Checks that every call is answered in the next item, and that every result answers a call.
fn next_to_each_other(
    list: &[Value],
    calls: impl Fn(&Value) -> Vec<String>,
    results: impl Fn(&Value) -> Vec<String>,
) -> Option<String> {
    let mut open: Vec<String> = Vec::new();
    for (at, item) in list.iter().enumerate() {
        let (mut wanted, mut given) = (std::mem::take(&mut open), results(item));
        wanted.sort();
        given.sort();
        if wanted != given {
            return Some(format!("item {at} should answer {wanted:?} and answers {given:?}"));
        }
        open = calls(item);
    }
    (!open.is_empty()).then(|| format!("{open:?} are not answered"))
}

/// Checks that every call is answered exactly once, after it and before the next message.
fn pairs_of(list: &[Value], of: impl Fn(&Value) -> (Vec<String>, Vec<String>)) -> Option<String> {
    let mut open: Vec<String> = Vec::new();
    for (at, item) in list.iter().enumerate() {
        let (calls, results) = of(item);
        for result in results {
            let Some(found) = open.iter().position(|call| *call == result) else {
                return Some(format!("item {at} answers {result:?}, which is not open"));
            };
            open.remove(found);
        }
        open.extend(calls);
        if item["role"] == "user" && !open.is_empty() {
            return Some(format!("{open:?} are open before item {at}"));
        }
    }
    (!open.is_empty()).then(|| format!("{open:?} are not answered"))
}
