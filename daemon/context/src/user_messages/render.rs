//! The user's words as text, and back.

use super::Said;
use super::core::{Core, is_empty_talk};

/// What begins a message.
const ITEM: &str = "- ";
/// What begins a line within a message that would look like the beginning of one.
const INNER: &str = " - ";
/// How the line about the rest begins.
const REST: &str = "(and ";
/// How it goes on behind the number.
const REST_WORDS: &str = " more user messages";
/// Percent of the room that whole messages may take before the older ones are shortened.
const WHOLE_SHARE: usize = 35;
/// Chars of a message that is shown whole while others are shortened.
const WHOLE_CHARS: usize = 1_200;
/// How much of the older messages is shown, from much to little: the least weight that a sentence
/// must have, and the chars of a message.
const STEPS: [(u32, usize); 9] =
    [(0, 900), (1, 600), (1, 400), (3, 400), (3, 280), (5, 280), (6, 240), (7, 200), (8, 170)];

/// The user's words within a budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Messages, newest first, and a line about those that had no room.
    pub text: String,
    /// Messages that are quoted, whole or in part.
    pub shown: usize,
    /// Messages that only the archive has.
    pub hidden: usize,
}

/// Quotes as much as there is room for: all of it if it fits; else the newest messages whole and
/// of the others what asks for something. `handle` names the archived messages.
pub fn render(said: &Said, chars: usize, handle: &str) -> Rendered {
    let rest_room = rest(usize::MAX, handle).chars().count() + 1;
    let cost = |text: &str| text.chars().count() + ITEM.len() + 1;
    let all: usize = said.texts.iter().map(|text| cost(text)).sum();
    if all + rest_room <= chars {
        let items: Vec<&str> = said.texts.iter().map(String::as_str).collect();
        return joined(&items, said.hidden, handle);
    }
    let Some(room) = chars.checked_sub(rest_room) else {
        return Rendered { hidden: said.texts.len() + said.hidden, ..Rendered::default() };
    };
    let whole_room = room / 100 * WHOLE_SHARE;
    let mut used = 0;
    let whole = said.texts.iter().take_while(|text| {
        let cost = cost(text);
        used += cost;
        cost <= WHOLE_CHARS && used <= whole_room
    });
    let whole = whole.count();
    let (newest, older) = said.texts.split_at(whole);
    let taken: usize = newest.iter().map(|text| cost(text)).sum();
    let cores = said.cores.get_or_init(|| said.texts.iter().map(|text| Core::of(text)).collect());
    let shortened = fitted(older, cores.get(whole..).unwrap_or(&[]), room - taken);
    let items: Vec<&str> = newest
        .iter()
        .map(String::as_str)
        .chain(shortened.iter().map(String::as_str).filter(|text| !text.is_empty()))
        .collect();
    let hidden = said.hidden + said.texts.len() - items.len();
    joined(&items, hidden, handle)
}

/// The older messages, each as long as the room for all of them allows; an empty text has none.
fn fitted(texts: &[String], cores: &[Core], room: usize) -> Vec<String> {
    let mut short: Vec<String> = Vec::new();
    for (least, chars) in STEPS {
        short = cores
            .iter()
            .zip(texts)
            .map(|(core, text)| match text.chars().count() <= chars && core.weight() >= least && !is_empty_talk(core) {
                true if least <= 1 => text.clone(),
                _ => core.shortened(text, least.max(1), chars),
            })
            .collect();
        let sum: usize =
            short.iter().filter(|text| !text.is_empty()).map(|text| text.chars().count() + ITEM.len() + 1).sum();
        if sum <= room {
            return short;
        }
    }
    // What weighs most goes in first, of equals the newest.
    let mut order: Vec<usize> = (0..short.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(cores.get(*at).map_or(0, Core::weight)));
    let mut left = room;
    for at in order {
        if let Some(text) = short.get_mut(at) {
            let cost = text.chars().count() + ITEM.len() + 1;
            match cost <= left {
                true => left -= cost,
                false => text.clear(),
            }
        }
    }
    short
}

fn joined(items: &[&str], hidden: usize, handle: &str) -> Rendered {
    let mut lines: Vec<String> = items.iter().map(|text| format!("{ITEM}{}", shielded(text))).collect();
    if hidden > 0 {
        lines.push(rest(hidden, handle));
    }
    Rendered { text: lines.join("\n"), shown: items.len(), hidden }
}

/// A message in which no line looks like the beginning of another one.
fn shielded(text: &str) -> String {
    text.replace("\n- ", &format!("\n{INNER}")).replace("\n(and ", "\n (and ")
}

fn rest(count: usize, handle: &str) -> String {
    match handle.is_empty() {
        true => format!("{REST}{count}{REST_WORDS})"),
        false => format!("{REST}{count}{REST_WORDS}, in the archive under {handle} and earlier handles)"),
    }
}

/// The messages that a handoff quotes, newest first.
pub(crate) fn parse(text: &str) -> Said {
    let mut said = Said::default();
    for line in text.lines() {
        if let Some(item) = line.strip_prefix(ITEM) {
            said.texts.push(item.to_owned());
        } else if let Some(count) = hidden_in(line) {
            said.hidden += count;
        } else if let Some(last) = said.texts.last_mut() {
            last.push('\n');
            last.push_str(line.strip_prefix(' ').filter(|line| line.starts_with(ITEM)).unwrap_or(line));
        }
    }
    for text in &mut said.texts {
        text.truncate(text.trim_end().len());
    }
    said
}

fn hidden_in(line: &str) -> Option<usize> {
    let (count, _) = line.strip_prefix(REST)?.split_once(REST_WORDS)?;
    count.parse().ok()
}
