//! Interprets the text of an answer.

use serde_json::Value;

use super::{Failure, FailureKind};

/// The tags with which models mark their thoughts at the beginning of an answer.
const THOUGHTS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// Returns the summary in a text: trimmed, without the thoughts at its beginning.
///
/// # Errors
/// Nothing is left; `hint` adds what else is known.
pub(super) fn summary(text: &str, hint: &str) -> Result<String, Failure> {
    let text = without_thoughts(text.trim());
    if text.is_empty() {
        return Err(Failure::new(FailureKind::Other, format!("the summary is empty{hint}")));
    }
    Ok(text.to_owned())
}

fn without_thoughts(text: &str) -> &str {
    for (open, close) in THOUGHTS {
        if let Some(rest) = text.strip_prefix(open) {
            return rest.split_once(close).map_or("", |(_, after)| after.trim());
        }
    }
    text
}

/// Returns the error of an endpoint, with its code if the words don't contain it.
pub(super) fn complaint(body: &Value) -> Option<String> {
    let error =
        [body.get("error"), body.get("detail"), Some(body)].into_iter().flatten().find(|part| !part.is_null())?;
    let said = |part: &Value| part.get("message").and_then(Value::as_str).map(str::to_owned);
    let words = error.as_str().map(str::to_owned).or_else(|| said(error))?;
    match error.get("code").or_else(|| error.get("type")).and_then(Value::as_str) {
        Some(code) if !words.contains(code) => Some(format!("{words} ({code})")),
        _ => Some(words),
    }
}

/// Returns the text of a content: a string, or the joined text parts of a list.
pub(super) fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Null => Some(String::new()),
        Value::Array(parts) => Some(parts.iter().filter_map(part).collect()),
        _ => None,
    }
}

fn part(part: &Value) -> Option<&str> {
    let is_text = part.get("type").is_none_or(|kind| kind == "text" || kind == "output_text");
    part.get("text").filter(|_| is_text).unwrap_or(part).as_str()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use serde_json::json;

    use super::*;

    #[test]
    fn thoughts_are_no_summary() {
        for (text, expected) in [
            (" plain\n", Some("plain")),
            ("<think>\nhm\n</think>\n\n## Goal", Some("## Goal")),
            ("<thinking>hm</thinking>done", Some("done")),
            ("about <think> tags </think>", Some("about <think> tags </think>")),
            ("<think>never ends", None),
            (" \n", None),
        ] {
            assert_eq!(summary(text, "").ok().as_deref(), expected, "{text}");
        }
        assert_eq!(
            summary("", ": finish_reason length").unwrap_err().text,
            "the summary is empty: finish_reason length"
        );
    }

    #[test]
    fn complaints_come_in_many_shapes() {
        for (body, expected) in [
            (
                json!({"error": {"message": "no such model", "code": "model_not_found"}}),
                Some("no such model (model_not_found)"),
            ),
            (
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
                Some("Overloaded (overloaded_error)"),
            ),
            (json!({"error": "model 'x' not found"}), Some("model 'x' not found")),
            (json!({"detail": "Not Found"}), Some("Not Found")),
            (json!({"object": "error", "message": "too long", "code": 400}), Some("too long")),
            (json!({"error": null, "choices": []}), None),
            (json!({"choices": []}), None),
            (json!([]), None),
        ] {
            assert_eq!(complaint(&body).as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn a_content_is_a_string_or_parts() {
        for (content, expected) in [
            (json!("a"), Some("a")),
            (
                json!([{"type": "text", "text": "a"}, {"type": "thinking", "thinking": "b"}, {"type": "text", "text": "c"}]),
                Some("ac"),
            ),
            (json!(["a", {"text": "b"}]), Some("ab")),
            (json!(null), Some("")),
            (json!([]), Some("")),
            (json!(7), None),
        ] {
            assert_eq!(text_of(&content).as_deref(), expected, "{content}");
        }
    }
}
