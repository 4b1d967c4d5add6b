//! A summary without a model: speakers, texts and calls, turn by turn, as far as there is room.

use std::sync::LazyLock;

use super::turn::{From, Turn};
use super::{Count, PREFIX};
use crate::pattern::Pattern;
use crate::redaction::Redaction;
use crate::text::{collapse, cut_with, head};

/// Chars of a value that are used for its line.
const LOOKED_AT: usize = 4_000;

/// The most chars of a tool's name.
const NAME_CHARS: usize = 60;

/// Chars of a line, and the turns that get one, from the fullest form to the barest.
const FORMS: [(usize, Detail); 6] = [
    (400, Detail::All),
    (240, Detail::All),
    (160, Detail::All),
    (100, Detail::All),
    (160, Detail::WithoutTools),
    (80, Detail::WithoutTools),
];

/// Chars of a line if only some of the turns get one.
const SPARSE: usize = 80;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    All,
    WithoutTools,
}

impl Detail {
    fn tells(self, from: From) -> bool {
        self == Self::All || from != From::Tool
    }
}

static CALL: LazyLock<Pattern> = LazyLock::new(|| crate::pattern(r"<tool_call>([\s\S]*?)(?:</tool_call>|$)"));

static TAG: LazyLock<Pattern> = LazyLock::new(|| crate::pattern(r"</?(?:tool_call|tool_response|think)>"));

/// Returns the record of turns whose first was at `start`, of about `target` tokens at most. Secrets are
/// masked. The same turns give the same record.
pub fn record(turns: &[Turn], start: usize, target: u64, count: Count) -> String {
    let opening = opening(turns, start);
    let lines: Vec<(From, usize, String)> =
        turns.iter().enumerate().map(|(at, turn)| (turn.from(), start + at, line(turn))).collect();
    let rendered = |opening: &str, chars, told: Vec<&(From, usize, String)>| {
        told.into_iter().fold(opening.to_owned(), |text, (from, at, line)| {
            text + &format!("\n- {} ({at}): {}", named(*from), cut_with(line, chars, "…"))
        })
    };
    for (chars, told) in FORMS {
        let text = rendered(&opening, chars, lines.iter().filter(|(from, ..)| told.tells(*from)).collect());
        if count.tokens(&text) <= target {
            return text;
        }
    }
    let said: Vec<_> = lines.iter().filter(|(from, ..)| Detail::WithoutTools.tells(*from)).collect();
    let mut step = 2;
    while step < said.len() {
        let opening = format!("{opening}\nOne in {step} of what was not a tool's:");
        let text = rendered(&opening, SPARSE, said.iter().step_by(step).copied().collect());
        if count.tokens(&text) <= target {
            return text;
        }
        step *= 2;
    }
    shortened(&opening, target, count)
}

/// Returns the number of turns of each kind, and the called tools.
fn opening(turns: &[Turn], start: usize) -> String {
    let of = |from: From| turns.iter().filter(|turn| turn.from() == from).count();
    let kinds = [From::System, From::Human, From::Gpt, From::Tool, From::Other];
    let kinds = kinds.iter().filter(|from| of(**from) > 0).map(|from| format!("{} {}", of(*from), named(*from)));
    let mut text = format!(
        "{PREFIX} Turns {start} to {} ({}) were taken out; this record of them was made without a model.",
        start + turns.len().saturating_sub(1),
        kinds.collect::<Vec<_>>().join(", "),
    );
    let tools = tools(turns);
    if !tools.is_empty() {
        let tools: Vec<String> = tools.iter().map(|(name, count)| format!("{name} ×{count}")).collect();
        text.push_str(&format!("\nTools called: {}.", tools.join(", ")));
    }
    text
}

const fn named(from: From) -> &'static str {
    match from {
        From::System => "system",
        From::Human => "human",
        From::Gpt => "gpt",
        From::Tool => "tool",
        From::Other => "other",
    }
}

/// Returns the called tools, in the order of their first call.
fn tools(turns: &[Turn]) -> Vec<(String, usize)> {
    let mut tools: Vec<(String, usize)> = Vec::new();
    for turn in turns.iter().filter(|turn| turn.from() == From::Gpt) {
        for call in CALL.captures_iter(turn.value()) {
            let Some(name) = call.get(1).and_then(|json| called(json.as_str())) else { continue };
            match tools.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => tools.push((name, 1)),
            }
        }
    }
    tools
}

fn called(json: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Called {
        name: String,
    }
    let called: Called = serde_json::from_str(json.trim()).ok()?;
    Some(cut_with(&collapse(&called.name), NAME_CHARS, "…"))
}

/// Returns the text of a turn on one line.
fn line(turn: &Turn) -> String {
    let masked = Redaction::On.apply(head(turn.value(), LOOKED_AT)).into_owned();
    collapse(&TAG.replace_all(&masked, " "))
}

/// Returns the beginning of a text that fits into so many tokens.
fn shortened(text: &str, target: u64, count: Count) -> String {
    let (mut fits, mut long) = (0, text.chars().count() + 1);
    while fits + 1 < long {
        let middle = usize::midpoint(fits, long);
        if count.tokens(head(text, middle)) <= target {
            fits = middle;
        } else {
            long = middle;
        }
    }
    head(text, fits.max(PREFIX.len())).to_owned()
}
