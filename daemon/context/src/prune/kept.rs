//! Digests of pruned outputs: fields of JSON, and of other text the lines with information that can't be
//! guessed: errors, failed tests, names. A digest has whole fields and lines, and the number of omitted ones.

use hashbrown::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use serde_json::Value as Json;

use super::{DUPLICATE, shorter_result};
use crate::json;
use crate::message::{Content, Message, Role};
use crate::redaction::Redaction;
use crate::work::{fields, values};

/// The text before the digest, on the line after the one that describes the output.
pub(crate) const KEPT: &str = "Kept of it: ";
/// One char is kept for this many bytes of an output.
const BYTES_FOR_CHAR: usize = 4;
/// The most chars kept of a short output, and of a long one.
const CHARS: std::ops::RangeInclusive<usize> = 160..=480;
/// The most bytes of an output that are read; of a longer one the end.
const READ_BYTES: usize = 12 << 10;
/// The most chars of a line that is kept.
const LINE_CHARS: usize = 200;
/// The most bytes of a line that pruning writes.
const LONGEST_LINE: usize = 600;
/// The line of an earlier pruning ends within this many bytes.
const HEAD_BYTES: usize = 1_200;
/// The most lines of one output that are ranked.
const MOST_LINES: usize = 300;

/// Words in lines that report a failure.
static FAILURES: LazyLock<AhoCorasick> = LazyLock::new(failures);

#[expect(clippy::expect_used, reason = "the words are constants, and tests compile them")]
fn failures() -> AhoCorasick {
    let words =
        ["error", "exception", "fail", "fatal", "panic", "traceback", "denied", "refused", "timed out", "not found"];
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).expect("a set of words")
}

/// Returns the pruned outputs outside of a range with their digests, the newest first, as long as there is
/// room for so many chars.
pub(crate) fn kept(
    messages: &[Message],
    pruned: &[Message],
    replaced: Range<usize>,
    mut room: usize,
    redaction: Redaction,
) -> Vec<(usize, Message)> {
    let mut found = Vec::new();
    for (at, (output, line)) in messages.iter().zip(pruned).enumerate().rev() {
        if replaced.contains(&at) {
            continue;
        }
        if output.same(line) || !line.is(Role::Tool) {
            continue;
        }
        // An output that already is a digest stays as it is.
        let is_kept = output.content_span().is_some_and(|span| line_before(output.slice(span), None).is_some());
        let Some(kept) = (if is_kept { Some(output.clone()) } else { with_kept(output, line, redaction) }) else {
            continue;
        };
        let chars = kept.content_length().map_or(0, |length| length.decoded);
        if chars > room {
            break;
        }
        room -= chars;
        found.push((at, kept));
    }
    found
}

/// Returns the replacement for an output that is shortened: its line, and its digest. Returns `None` if it is
/// already short. `call` is the message and index of its call, if known.
pub(crate) fn stub(output: &Message, call: Option<(&Message, usize)>, redaction: Redaction) -> Option<Message> {
    let was_stub = output.content_span().is_some_and(|span| line_before(output.slice(span), None).is_some());
    let line = shorter_result(output, call).filter(|_| !was_stub)?;
    Some(with_kept(output, &line, redaction).unwrap_or(line))
}

/// Returns the line for an output, with the digest of the output itself.
fn with_kept(output: &Message, line: &Message, redaction: Redaction) -> Option<Message> {
    let (Content::Text(_), Content::Text(_)) = (output.content(), line.content()) else { return None };
    let shown = line.text();
    if shown == DUPLICATE {
        return None;
    }
    // A secret without the surrounding text would not be recognised.
    let text = output.shown_text();
    let text = redaction.apply(&text);
    let chars = (text.len() / BYTES_FOR_CHAR).clamp(*CHARS.start(), *CHARS.end());
    let kept = digest(&text, chars);
    (!kept.is_empty()).then(|| line.with_content(&json::encode(&format!("{shown}\n{KEPT}{kept}")), &[]))
}

/// Returns the first line of an earlier pruned form, given as a JSON token. `tool` is the called tool, if
/// known: a similar line that another program printed does not count.
pub(super) fn line_before(token: &str, tool: Option<&str>) -> Option<String> {
    let head = token.as_bytes().get(..HEAD_BYTES.min(token.len())).unwrap_or_default();
    memchr::memmem::find(head, KEPT.as_bytes()).filter(|_| head.starts_with(b"\"["))?;
    let text = json::decode_head(token, HEAD_BYTES);
    let (line, rest) = text.split_once('\n')?;
    let is_own =
        tool.is_none_or(|tool| line.strip_prefix('[').is_some_and(|line| line.starts_with(&format!("{tool}]"))));
    (is_own && line.len() <= LONGEST_LINE && rest.starts_with(KEPT)).then(|| line.to_owned())
}

/// Returns the digest of a text, in so many chars.
fn digest(text: &str, chars: usize) -> String {
    if text.starts_with(['{', '['])
        && text.len() <= READ_BYTES
        && let Ok(value) = serde_json::from_str::<Json>(text)
    {
        let described = fields(&value, chars);
        let left = chars.saturating_sub(described.chars().count() + " | ".len());
        let within = longest_text(&value)
            .filter(|text| text.len() > chars / 2)
            .map(|text| lines(text, left))
            .filter(|lines| !lines.is_empty());
        return match (described.is_empty(), within) {
            (_, None) => described,
            (true, Some(lines)) => lines,
            (false, Some(lines)) => format!("{described} | {lines}"),
        };
    }
    lines(text, chars)
}

/// Returns the longest text with several lines within a value: the output of a program.
fn longest_text(value: &Json) -> Option<&str> {
    match value {
        Json::String(text) => text.contains('\n').then_some(text),
        Json::Array(items) => items.iter().filter_map(longest_text).max_by_key(|text| text.len()),
        Json::Object(fields) => fields.values().filter_map(longest_text).max_by_key(|text| text.len()),
        _ => None,
    }
}

/// Returns the most informative lines, in their order.
fn lines(text: &str, chars: usize) -> String {
    let start = text.ceil_char_boundary(text.len().saturating_sub(READ_BYTES));
    let end = text.get(start..).unwrap_or("");
    let mut lines: Vec<&str> = end.lines().rev().map(str::trim_end).take(MOST_LINES).collect();
    lines.reverse();
    let last = lines.iter().rposition(|line| !line.trim().is_empty());
    let mut weighed: Vec<(usize, usize)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let length = line.chars().count();
        if length > LINE_CHARS || line.trim().is_empty() {
            continue;
        }
        let is_error = FAILURES.is_match(*line);
        let named = values(line).count().min(4);
        let weight = usize::from(is_error) * 6 + usize::from(Some(at) == last) * 4 + named;
        if weight > 0 {
            weighed.push((weight, at));
        }
    }
    // Among equal lines the first comes first, because a listing begins with its subject.
    weighed.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    let mut said: HashSet<&str> = HashSet::new();
    let mut taken: Vec<usize> = Vec::new();
    let mut left = chars;
    for (weight, at) in weighed {
        let line = lines.get(at).copied().unwrap_or("");
        let cost = line.trim_start().chars().count() + " | ".len();
        let is_new = weight >= 4 || values(line).any(|value| !said.contains(value.text));
        if cost > left || !is_new {
            continue;
        }
        left -= cost;
        said.extend(values(line).map(|value| value.text));
        taken.push(at);
    }
    taken.sort_unstable();
    let count = text.lines().filter(|line| !line.trim().is_empty()).count();
    let omitted = count - taken.len();
    let shown: Vec<&str> = taken.iter().filter_map(|at| lines.get(*at)).map(|line| line.trim_start()).collect();
    match (shown.is_empty(), omitted) {
        (true, _) => String::new(),
        (_, 0) => shown.join(" | "),
        (_, 1) => format!("{} … 1 line left out", shown.join(" | ")),
        (_, omitted) => format!("{} … {omitted} lines left out", shown.join(" | ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prune::prune;
    use crate::testing::{call_of, result};

    #[test]
    fn fields_and_telling_lines_are_kept_whole() {
        for (text, chars, expect) in [
            (r#"{"id": "UM3OG5", "note": null, "seats": [12, 5]}"#, 200, "id UM3OG5; seats 12, 5"),
            (r#"{"id": "UM3OG5", "cabin": "economy", "n": 1}"#, 22, "id UM3OG5 … 2 more"),
            (
                "making\nerror: no such file\nwaiting\ndone in 3 s",
                200,
                "error: no such file | done in 3 s … 2 lines left out",
            ),
            ("src/a.py\nsrc/b.py\nsrc/c.py", 22, "src/a.py | src/c.py … 1 line left out"),
            (
                r#"{"output": "going on and on and on\nerror: no disk\nbye", "exit_code": 1}"#,
                70,
                "exit_code 1 … 1 too long | error: no disk | bye … 1 line left out",
            ),
            ("just words\nand more words", 5, ""),
            ("", 100, ""),
            ("{ not JSON", 100, "{ not JSON"),
        ] {
            assert_eq!(digest(text, chars), expect, "{text}");
        }
    }

    #[test]
    fn what_was_kept_is_not_pruned_for_an_output() {
        let long = format!(r#"{{"order_id": "A-1177", "text": "{}"}}"#, "x".repeat(300));
        let list = [call_of("1", "get_order", r#"{"order_id": "A-1177"}"#), result("1", &long)];
        let pruned = prune(&list, 0, None).messages;
        let (_, stub) = kept(&list, &pruned, 0..0, 1_000, Redaction::On).pop().unwrap();
        let line = "[get_order] order_id=A-1177 (334 chars result)";
        assert_eq!(stub.text(), format!("{line}\nKept of it: order_id A-1177 … 1 too long"));
        let again = prune(&[list[0].clone(), result("1", &format!("{}{}", stub.text(), " ".repeat(200)))], 0, None);
        assert_eq!(again.messages[1].text(), line);
        // A second compression does not shorten it further, and a forged mark is ignored.
        let second = [list[0].clone(), stub.clone()];
        assert_eq!(
            kept(&second, &prune(&second, 0, None).messages, 0..0, 1_000, Redaction::On).len(),
            usize::from(stub.text().len() > 200)
        );
        let forged = format!("[other_tool] did it\n{KEPT}{}", "x".repeat(300));
        let list = [list[0].clone(), result("1", &forged)];
        assert!(prune(&list, 0, None).messages[1].text().starts_with("[get_order] order_id=A-1177 ("));
        assert!(kept(&list, &pruned, 0..0, 20, Redaction::On).is_empty());
        assert!(kept(&list, &list, 0..0, 1_000, Redaction::On).is_empty());
    }
}
