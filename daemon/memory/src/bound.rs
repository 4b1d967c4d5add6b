//! Host-bound entries of shared stores: paths, devices and installed programs of one host.
//!
//! Such an entry begins with [`MARK`]. So any writer of the file can make one, also by hand, and the model that reads
//! it recognizes it.

use std::borrow::Cow;

use serde_json::Value;

use crate::entries::{DELIMITER, Entry, is_delimiter, join};
use crate::render::RULE;

/// The prefix of an entry that never leaves its host.
pub const MARK: &str = "[host-bound]";

/// Whether an entry never leaves its host.
#[must_use]
pub fn is_bound(entry: &str) -> bool {
    entry.starts_with(MARK)
}

/// Marks a text as an entry that never leaves its host.
#[must_use]
pub fn bound(text: &str) -> String {
    if is_bound(text.trim_start()) { text.to_owned() } else { format!("{MARK} {}", text.trim_start()) }
}

/// Splits entries into those that all hosts share and those of this host. Each part keeps its order.
#[must_use]
pub fn part(entries: Vec<Entry>) -> (Vec<Entry>, Vec<Entry>) {
    entries.into_iter().partition(|entry| !is_bound(entry))
}

/// Whether a change affects both shared and host-bound entries.
#[must_use]
pub fn affects_both_kinds(before: &[Entry], after: &[Entry]) -> bool {
    let ((shared, bound), (shared_after, bound_after)) = (part(before.to_vec()), part(after.to_vec()));
    shared != shared_after && bound != bound_after
}

/// Returns a block for the system prompt without host-bound entries, or `None` if it has no other entries. The numbers
/// in its heading still count all entries.
#[must_use]
pub fn block_for_others(block: &str) -> Option<String> {
    if !block.contains(MARK) {
        return Some(block.to_owned());
    }
    // The heading is three lines long.
    let body = block.match_indices('\n').nth(2).map_or(0, |(at, _)| at + 1);
    let (heading, body) = block.split_at(body);
    let entries: Vec<&str> = body.split(DELIMITER).filter(|entry| !is_bound(entry)).collect();
    (!entries.is_empty()).then(|| format!("{heading}{}", join(&entries)))
}

/// Removes the host-bound entries from all texts of a system prompt message in JSON, so that other hosts may have it.
/// Returns `None` if the message has no such entries or is not JSON.
#[must_use]
pub fn without_host_bound(message: &str) -> Option<String> {
    if !message.contains(MARK) {
        return None;
    }
    let mut value: Value = serde_json::from_str(message).ok()?;
    clear(&mut value).then(|| value.to_string())
}

/// Removes host-bound entries from all texts of a value. Returns false if there were none.
fn clear(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match text_for_others(text) {
            Cow::Borrowed(_) => false,
            Cow::Owned(shorter) => {
                *text = shorter;
                true
            }
        },
        Value::Array(items) => items.iter_mut().fold(false, |any, item| clear(item) | any),
        Value::Object(fields) => fields.values_mut().fold(false, |any, field| clear(field) | any),
        _ => false,
    }
}

/// Removes the host-bound entries from a text that contains stores in any framing. Such an entry ends at the next entry
/// or heading. If neither follows, its end is unknown, and the rest of the text is removed.
fn text_for_others(text: &str) -> Cow<'_, str> {
    let mut inside = false;
    let mut shorter = String::new();
    for line in text.split_inclusive('\n') {
        let begins = line.trim_start_matches(|c: char| c.is_whitespace() || "-*•".contains(c)).starts_with(MARK);
        inside = begins || inside && !is_border(line);
        if !inside {
            shorter.push_str(line);
        }
    }
    if shorter.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(shorter) }
}

/// Whether a line separates entries or begins a heading.
fn is_border(line: &str) -> bool {
    is_delimiter(line) || line.starts_with(RULE)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::render;
    use crate::target::Target;

    #[test]
    fn an_entry_says_itself_that_it_is_bound() {
        for (text, marked) in [
            ("gcc is in /opt", "[host-bound] gcc is in /opt"),
            ("  x", "[host-bound] x"),
            ("[host-bound] x", "[host-bound] x"),
            ("[host-bound]\nx", "[host-bound]\nx"),
            ("see [host-bound]", "[host-bound] see [host-bound]"),
            ("", "[host-bound] "),
        ] {
            assert_eq!(bound(text), marked, "{text:?}");
            assert!(is_bound(marked));
            assert_eq!(is_bound(text), text == marked, "{text:?}");
        }
    }

    #[test]
    fn a_block_for_others_is_that_of_the_shared_entries_but_for_its_numbers() {
        let lines = |block: Option<String>| -> Option<Vec<String>> {
            block.map(|block| block.lines().skip(2).map(str::to_owned).collect())
        };
        let of = |entries: &[&str]| render::block(Target::Memory, entries, 2_200);
        for (entries, shared) in [
            (&["a", "b"][..], &["a", "b"][..]),
            (&["a", "[host-bound] x\ny", "b"], &["a", "b"]),
            (&["[host-bound] x", "b [host-bound]"], &["b [host-bound]"]),
            (&["a", "[host-bound] x"], &["a"]),
            (&["[host-bound] x"], &[]),
        ] {
            let block = of(entries).unwrap_or_default();
            assert_eq!(lines(block_for_others(&block)), lines(of(shared)), "{entries:?}");
        }
    }

    #[test]
    fn a_system_prompt_for_others_has_no_entry_of_this_host_in_any_frame() {
        let block = |entries: &[&str]| render::block(Target::User, entries, 2_200).unwrap();
        let both = format!("You are.\n\n{}\n\n{}", block(&["a", "[host-bound] QQ\n\nQQ"]), block(&["b"]));
        let parts = json!({ "role": "system", "content": [{ "type": "text", "text": both }] }).to_string();
        for (message, leaves) in [
            (parts.as_str(), Some(&["You are.", "\\na\\n§", "\\nb\"}"][..])),
            (r#"{"content":"- [host-bound] QQ\n§\n- b"}"#, Some(&[r#"{"content":"§\n- b"}"#])),
            (r#"{"content":"a\n§\n[host-bound] QQ\nand on"}"#, Some(&[r#"{"content":"a\n§\n"}"#])),
            (r#"{"content":"An entry that begins with [host-bound] is for one host."}"#, None),
            (r#"{"content":"a\n§\nb"}"#, None),
            ("[host-bound] no JSON", None),
        ] {
            let cleared = without_host_bound(message);
            assert_eq!(cleared.is_some(), leaves.is_some(), "{message}");
            let cleared = cleared.unwrap_or_default();
            assert!(!cleared.contains("QQ"), "{cleared}");
            assert!(leaves.unwrap_or_default().iter().all(|part| cleared.contains(part)), "{cleared}");
        }
    }
}
