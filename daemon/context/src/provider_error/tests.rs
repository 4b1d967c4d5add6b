use std::time::{Duration, Instant};

use super::*;

/// Error texts of providers; the file itself explains its format.
const WORDINGS: &str = include_str!("tests/wordings.txt");

/// The expected classification of a text.
struct Said {
    text: &'static str,
    status: Option<u16>,
    kind: Kind,
    window: Option<u64>,
    room: Option<u64>,
}

impl Said {
    fn of(line: &'static str) -> Self {
        let mut columns = line.splitn(5, '|').map(str::trim);
        let mut column = || columns.next().unwrap_or_else(|| panic!("too few columns: {line}"));
        let status = number(column()).map(|status| u16::try_from(status).unwrap());
        let kind = match column() {
            "input" => Kind::InputTooLong,
            "cap" => Kind::OutputCap,
            "other" => Kind::Other,
            kind => panic!("no kind {kind:?}: {line}"),
        };
        Self { status, kind, window: number(column()), room: number(column()), text: column() }
    }

    fn all() -> impl Iterator<Item = Self> {
        WORDINGS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(Self::of)
    }
}

fn number(column: &str) -> Option<u64> {
    (column != "-").then(|| column.parse().unwrap())
}

#[test]
fn what_providers_say_is_understood() {
    let mut wrong = Vec::new();
    for Said { text, status, kind, window, room } in Said::all() {
        for current in [None, Some(20_000), window, window.map(|window| window + 1)] {
            let expect = Classified {
                kind,
                context_limit: window,
                lower_limit: window.filter(|window| current.is_some_and(|current| *window < current)),
                available_output: room,
                next_tier: current.and_then(next_probe_tier),
            };
            let forms = [text.to_owned(), text.to_ascii_uppercase(), format!("{text}\n")];
            let found = forms.iter().map(|form| classify(form, status, current));
            if let Some(found) = found.clone().find(|found| *found != expect) {
                wrong.push(format!("{text}\n  {found:?}\n  {expect:?}"));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_window_is_the_same_with_the_error_around_it() {
    for Said { text, status, kind, window, room } in Said::all().filter(|said| said.kind == Kind::InputTooLong) {
        let quoted = serde_json::json!({ "error": { "message": text, "type": "invalid_request_error" } }).to_string();
        for text in [format!("Error code: 400 - {text}"), quoted] {
            let found = classify(&text, status, None);
            assert_eq!((found.kind, found.context_limit, found.available_output), (kind, window, room), "{text}");
        }
    }
}

#[test]
fn a_window_is_named_in_one_of_the_shapes() {
    for (text, expect) in [
        ("maximum context length is 32768 tokens, you sent 40000", Some(32_768)),
        ("error 400: max context window: 65536", Some(65_536)),
        ("maximum context size 32768 exceeded", Some(32_768)),
        ("context window of 4096 tokens exceeded", Some(4_096)),
        ("250000 tokens > 200000 maximum", Some(200_000)),
        ("over the 128000 token context", Some(128_000)),
        ("over the 128_000 token limit", Some(128_000)),
        ("limit is 200,000", Some(200_000)),
        ("limit 8192,4096", Some(8_192)),
        ("limit 1,000,00", None),
        ("it exceeds limit (5000)", None),
        ("limit 1023", None),
        ("limit 1024", Some(1_024)),
        ("limit 10000000", Some(10_000_000)),
        ("limit 10000001", None),
        ("limit 99999999999999999999999 but context length 8192", Some(8_192)),
        ("limit 18,446,744,073,709,551,616", None),
        ("limit 500000 bytes", None),
        ("something went wrong", None),
        ("", None),
    ] {
        assert_eq!(parse_context_limit(text), expect, "{text}");
        let lower = expect.filter(|limit| *limit < 100_000);
        assert_eq!(context_length_from_error(text, 100_000), lower, "{text}");
    }
    assert_eq!(context_length_from_error("limit is 8192", 8_192), None);
}

#[test]
fn room_for_the_answer_is_told_only_where_the_answer_is_too_long() {
    let input = "maximum context length is 1000 tokens (900 of text input, 50 of tool input, 100 in the output)";
    let chars = "maximum context length is 1000 tokens; you requested 900 output tokens and your prompt contains 301 characters";
    for (text, expect) in [
        ("max_tokens too large, available_tokens: 10000", Some(10_000)),
        ("max_tokens too large, available_tokens : 10", Some(10)),
        ("max_tokens too large, \"available_tokens\": 7", Some(7)),
        ("max_tokens too large, Available Tokens: 12,345", Some(12_345)),
        ("max_tokens too large, available_tokens: 0", None),
        ("max_tokens too large; available tokens are 5 - 2 = 3 ", Some(3)),
        ("available_tokens: 10000", None),
        (input, Some(50)),
        (chars, Some(1_000 - 101)),
        ("maximum context length is 1000 tokens, requested 900 output tokens", None),
        ("prompt is too long: 250000 tokens > 200000 maximum", None),
        ("rate limit reached, requested 5000 tokens", None),
    ] {
        assert_eq!(parse_available_output(text), expect, "{text}");
    }
}

#[test]
fn tiers_are_tried_from_above() {
    for (window, expect) in [
        (u64::MAX, Some(256_000)),
        (256_001, Some(256_000)),
        (256_000, Some(128_000)),
        (20_000, Some(16_000)),
        (8_001, Some(8_000)),
        (8_000, None),
        (0, None),
    ] {
        assert_eq!(next_probe_tier(window), expect, "{window}");
    }
    assert_eq!(classify("limit", None, None).next_tier, None);
}

#[test]
fn hostile_texts_take_linear_time() {
    let bytes = if cfg!(debug_assertions) { 1 << 20 } else { 10 << 20 };
    for piece in ["9", "1,", "max ", "maximum context length is ", "9 + 9 > ", "> ", "exceeds the ", " ", "= 1", "é"] {
        let text = piece.repeat(bytes / piece.len());
        let started = Instant::now();
        classify(&text, None, Some(128_000));
        parse_available_output(&format!("max_tokens available_tokens {text}"));
        assert!(started.elapsed() < Duration::from_secs(20), "{piece:?} took {:?}", started.elapsed());
    }
}
