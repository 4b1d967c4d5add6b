//! Compares every row with its expression alone, matched against the chars of the whole text: slow but simple.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use regex::Regex;

use super::expression;
use super::pattern::Reach;
use super::table::PATTERNS;
use crate::{FindingId, Scope, scan, view};

static PLAIN: LazyLock<Vec<(FindingId, Regex)>> =
    LazyLock::new(|| PATTERNS.iter().map(|pattern| (pattern.id, plain(pattern.expression))).collect());

static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\w").unwrap());

fn plain(expression: &str) -> Regex {
    Regex::new(&plain_source(expression)).unwrap()
}

fn plain_source(expression: &str) -> String {
    let written_out = expression
        .replace(" … ", r" (?:\w+ )*?")
        .replace(' ', r"\s+")
        .replace(r"\h", r"[\s&&[^\n]]")
        .replace(r"\<", r"(?:^|\W)")
        .replace(r"\>", r"(?:\W|$)");
    format!("(?i){written_out}")
}

/// Returns the first match of a row's expression, in chars and without the edges of words.
fn place(expression: &str, plain: &Regex, text: &str) -> Option<(usize, usize)> {
    let found = plain.captures(text)?;
    let group = found.iter().skip(1).flatten().next();
    let mut hit = group.or(found.get(0))?.as_str();
    let mut start = group.or(found.get(0))?.start();
    let is_word = |c: char| WORD.is_match(c.encode_utf8(&mut [0; 4]));
    if group.is_none() && expression.starts_with(r"\<") {
        let word = hit.trim_start_matches(|c| !is_word(c));
        start += hit.len() - word.len();
        hit = word;
    }
    if group.is_none() && expression.ends_with(r"\>") {
        hit = hit.trim_end_matches(|c| !is_word(c));
    }
    let start = text[..start].chars().count();
    Some((start, start + hit.trim_end().chars().count()))
}

/// Text between words, mostly a space.
const GAPS: [&str; 31] = [
    "\n",
    "\t",
    "  ",
    "-",
    ".",
    ",",
    "'",
    "\"",
    "`",
    "<",
    ">",
    "<!--",
    "-->",
    "$",
    "${",
    "/",
    "://",
    " https://",
    "~/.ssh",
    ".cursorrules",
    "=",
    ": \"",
    "0123456789abcdefghijk",
    "_",
    "é",
    "中",
    "’",
    "ſ",
    "\u{2028}",
    "\u{301}",
    "",
];

/// Words of the steps of one row, some broken by a newline, words of its expression and others,
/// with a space or other text between them.
fn texts() -> impl Strategy<Value = String> {
    let words = (0..PATTERNS.len()).prop_flat_map(|row| {
        let pattern = &PATTERNS[row];
        let of_steps = pattern.steps.iter().flat_map(|words| words.split('|')).map(|word| word.trim().to_owned());
        let of_steps: Vec<String> = of_steps.collect();
        let torn = of_steps.iter().map(|word| word.replace(' ', "\n")).collect::<Vec<_>>();
        let of_expression = pattern.expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let of_expression = of_expression.filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        let word = prop_oneof![
            6 => prop::sample::select(of_steps),
            1 => prop::sample::select(torn),
            3 => prop::sample::select(of_expression),
            2 => Just("a".to_owned()),
        ];
        prop::collection::vec(word, 1..14)
    });
    let gaps = prop::collection::vec(prop_oneof![8 => Just(" "), 1 => prop::sample::select(&GAPS[..])], 14);
    (words, gaps).prop_map(|(words, gaps)| words.iter().zip(&gaps).map(|(word, gap)| format!("{word}{gap}")).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn a_scan_finds_what_the_expressions_find(text in texts()) {
        let found = scan(&text, Scope::Strict);
        let raw: Vec<FindingId> = found.iter().filter(|found| !found.folded).map(|found| found.id).collect();
        let expect: Vec<FindingId> = PLAIN.iter().filter(|(_, plain)| plain.is_match(&text)).map(|(id, _)| *id).collect();
        prop_assert_eq!(raw, expect);
    }

    #[test]
    fn a_hit_is_where_its_expression_first_matches(text in texts()) {
        for found in scan(&text, Scope::Strict).iter().filter(|found| !found.folded) {
            let row = PATTERNS.iter().zip(&*PLAIN).find(|(pattern, _)| pattern.id == found.id);
            if let Some((pattern, (_, plain))) = row {
                let expect = place(pattern.expression, plain, &text);
                prop_assert_eq!(Some((found.start, found.end)), expect, "{}", found.id);
            }
        }
    }
}

#[test]
fn what_an_expression_describes_is_found() {
    for pattern in PATTERNS {
        let edgeless = pattern.expression.replace(r"\<", "").replace(r"\>", "").replace(r"\z|", "");
        let described = plain_source(&edgeless).replace(r"\s", r"[ \t\r\n]").replace(r"\w", "[a-z0-9_]");
        let described = described.replace("[^>]", "[ -=?-~]").replace(".*?", "[ -~]*?");
        let described = prop::string::string_regex(&described).unwrap();
        let mut runner = TestRunner::deterministic();
        for _ in 0..40 {
            let text = format!(". {} .", described.new_tree(&mut runner).unwrap().current());
            let found = scan(&text, Scope::Strict);
            assert!(found.iter().any(|found| found.id == pattern.id), "{}: {text:?} gives {found:?}", pattern.id);
        }
    }
}

#[test]
fn expressions_and_views_agree_on_the_kinds_of_bytes() {
    for (notation, is_of_kind) in [(r"\w", view::is_word as fn(u8) -> bool), (r"\s", view::is_space)] {
        let kind = expression::compile(notation, true);
        for byte in 0..=u8::MAX {
            assert_eq!(kind.is_match(&[byte]), is_of_kind(byte), "{notation} and {byte:#x}");
        }
    }
}

#[test]
fn every_row_keeps_the_rules_of_the_table() {
    for (row, pattern) in PATTERNS.iter().enumerate() {
        assert!(expression::of_row(row).find(b"").is_none(), "{} finds nothing in nothing", pattern.id);
        assert!(!pattern.steps.is_empty(), "{} has a step", pattern.id);
        assert!(pattern.reach != Reach::Word || pattern.steps.len() == 1, "{} has one step", pattern.id);
        assert!(!pattern.steps[0].split('|').any(|word| word.starts_with(' ')), "{} begins with a word", pattern.id);
        let words = pattern.steps.concat();
        assert_eq!(words, words.to_lowercase(), "the words of {} are small", pattern.id);
    }
}
