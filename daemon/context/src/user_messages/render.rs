//! Renders the user's messages as text, and parses them.

use rayon::prelude::*;

use super::UserMessages;
use super::core::{Core, cores, is_empty_talk};
use crate::parallel::FEW_TEXTS;

/// The beginning of a message.
const ITEM: &str = "- ";
/// The beginning of the line about omitted messages.
const REST: &str = "(and ";
/// The words after the number in that line.
const REST_WORDS: &str = " more user messages";
/// The beginning of a line that announces how many lines a message has. It is used if one of them looks like
/// the beginning of another message.
const LINES: &str = "- (";
/// The words after the number in that line.
const LINES_WORDS: &str = " lines follow)";
/// Percent of the room for whole newest messages, whatever remains for the others.
const WHOLE_SHARE: usize = 35;
/// The step to which older messages may be shortened so that more of the newest stay whole.
const WHOLE_STEP: usize = 4;
/// Chars of the shortest excerpt of a message if room is short.
const SHORTEST: usize = 24;
/// The steps of shortening older messages, from long to short: the least weight of a sentence, and the chars
/// of a message.
const STEPS: [(u32, usize); 9] =
    [(0, 900), (1, 600), (1, 400), (3, 400), (3, 280), (5, 280), (6, 240), (7, 200), (8, 170)];

/// The least weight and the chars of messages that fill the remaining room.
const FILL: (u32, usize) = (1, 170);

/// The user's messages within a budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Messages, newest first, and a line about those without room.
    pub text: String,
    /// Messages that are quoted, whole or in part.
    pub shown: usize,
    /// Messages that are only in the archive.
    pub hidden: usize,
}

/// Renders as many messages as fit: all if possible, else the newest ones whole, next to the requests of the
/// others. `handle` names the archived messages.
pub fn render(said: &UserMessages, chars: usize, handle: &str) -> Rendered {
    let texts: Vec<&str> = said.texts.iter().map(String::as_str).collect();
    let hidden_before = if said.hidden == 0 { 0 } else { rest(said.hidden, handle).chars().count() };
    if said.texts.iter().map(|text| cost(text)).sum::<usize>() + hidden_before <= chars {
        return joined(&texts, said.hidden, handle);
    }
    let rest_room = rest(usize::MAX, handle).chars().count() + 1;
    let Some(room) = chars.checked_sub(rest_room) else {
        return Rendered { hidden: said.texts.len() + said.hidden, ..Rendered::default() };
    };
    let cores = said.cores.get_or_init(|| cores(&said.texts));
    let whole = whole(&said.texts, cores, room);
    let newest = texts.get(..whole).unwrap_or(&[]);
    let taken: usize = newest.iter().map(|text| cost(text)).sum();
    let shortened = fitted(said.texts.get(whole..).unwrap_or(&[]), cores.get(whole..).unwrap_or(&[]), room - taken);
    let shown = shortened.iter().map(String::as_str).filter(|text| !text.is_empty());
    let items: Vec<&str> = newest.iter().copied().chain(shown).collect();
    let hidden = said.hidden + said.texts.len() - items.len();
    joined(&items, hidden, handle)
}

/// Renders the heaviest messages that fit into a short handoff, the newest first: rules and facts before small
/// talk, and the heaviest as long as room is left.
pub fn render_short(said: &UserMessages, chars: usize, handle: &str) -> Rendered {
    let whole = render(said, chars, handle);
    let cores = said.cores.get_or_init(|| cores(&said.texts));
    let all = cores.iter().filter(|core| !is_empty_talk(core)).count();
    let rest_room = rest(usize::MAX, handle).chars().count() + 1;
    let Some(mut room) = chars.checked_sub(rest_room).filter(|_| whole.shown < all) else { return whole };
    let mut order: Vec<usize> = (0..cores.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(cores.get(at).map_or(0, Core::weight)));
    let mut shown = vec![String::new(); cores.len()];
    for step in [FILL, (1, 280), (1, 400), (1, 600), (1, 900), (1, usize::MAX)] {
        for &at in &order {
            let (Some(core), Some(text), Some(known)) = (cores.get(at), said.texts.get(at), shown.get_mut(at)) else {
                continue;
            };
            // What has no room short has none long.
            if is_empty_talk(core) || (step != FILL && known.is_empty()) {
                continue;
            }
            let longer = at_step(core, text, step);
            if let Some(left) = (room + short_cost(known)).checked_sub(short_cost(&longer)) {
                room = left;
                *known = longer;
            }
        }
    }
    let items: Vec<&str> = shown.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    joined(&items, said.hidden + said.texts.len() - items.len(), handle)
}

/// Returns the chars of a message as an item, its line feed included.
fn cost(text: &str) -> usize {
    let announced = if is_ambiguous(text) { announcement(text).chars().count() + 1 } else { ITEM.len() };
    text.chars().count() + announced + 1
}

/// Returns how many of the newest messages stay whole: as many as leave the others their shortened form, or
/// as many as fit into the newest ones' own share. More room never returns fewer.
fn whole(texts: &[String], cores: &[Core], room: usize) -> usize {
    let own = room / 100 * WHOLE_SHARE;
    let short: Vec<usize> = match STEPS.get(WHOLE_STEP) {
        Some(step) => all(cores, texts, |core, text| short_cost(&at_step(core, text, *step))),
        None => Vec::new(),
    };
    let mut others: usize = short.iter().sum();
    let (mut used, mut count) = (0, 0);
    for (at, (text, short)) in texts.iter().zip(short).enumerate() {
        used += cost(text);
        others -= short;
        if used > room {
            break;
        }
        if used <= own || used + others <= room {
            count = at + 1;
        }
    }
    count
}

fn short_cost(text: &str) -> usize {
    if text.is_empty() { 0 } else { cost(text) }
}

/// Applies `of` to every message, on all processors.
fn all<T: Send>(cores: &[Core], texts: &[String], of: impl Fn(&Core, &str) -> T + Sync) -> Vec<T> {
    cores.par_iter().zip(texts).with_min_len(FEW_TEXTS).map(|(core, text)| of(core, text)).collect()
}

/// Returns a message as shortened by a step; empty if the step drops it.
fn at_step(core: &Core, text: &str, (least, chars): (u32, usize)) -> String {
    if text.chars().count() <= chars && core.weight() >= least && !is_empty_talk(core) {
        text.to_owned()
    } else {
        core.shortened(text, least.max(1), chars)
    }
}

/// Returns the older messages, each as long as the room for all of them allows; dropped ones are empty.
fn fitted(texts: &[String], cores: &[Core], room: usize) -> Vec<String> {
    let mut short: Vec<String> = Vec::new();
    for step in STEPS {
        short = all(cores, texts, |core, text| at_step(core, text, step));
        if let Some(left) = room.checked_sub(short.iter().map(|text| short_cost(text)).sum()) {
            fill(&mut short, texts, cores, left);
            return short;
        }
    }
    // Strictly the newest first: an older message never takes the place of a newer one.
    let mut left = room;
    for ((text, whole), core) in short.iter_mut().zip(texts).zip(cores) {
        let wanted = short_cost(text);
        if wanted > left {
            let chars = left.saturating_sub(ITEM.len() + 1);
            *text = if chars < SHORTEST { String::new() } else { core.shortened(whole, 1, chars) };
            if short_cost(text) > left {
                text.clear();
            }
        }
        left = left.saturating_sub(wanted);
    }
    short
}

/// Shows dropped messages in the remaining room, the newest first.
fn fill(short: &mut [String], texts: &[String], cores: &[Core], room: usize) {
    let mut left = room;
    for ((text, whole), core) in short.iter_mut().zip(texts).zip(cores).filter(|((text, _), _)| text.is_empty()) {
        let shown = at_step(core, whole, FILL);
        let Some(rest) = left.checked_sub(short_cost(&shown)) else { continue };
        (*text, left) = (shown, rest);
    }
}

fn joined(items: &[&str], hidden: usize, handle: &str) -> Rendered {
    let mut lines: Vec<String> = items.iter().map(|text| item(text)).collect();
    if hidden > 0 {
        lines.push(rest(hidden, handle));
    }
    Rendered { text: lines.join("\n"), shown: items.len(), hidden }
}

/// Returns a message as an item, word for word.
fn item(text: &str) -> String {
    if is_ambiguous(text) { format!("{}\n{text}", announcement(text)) } else { format!("{ITEM}{text}") }
}

/// Whether a message could be parsed as something else.
fn is_ambiguous(text: &str) -> bool {
    text.split('\n').skip(1).any(|line| line.starts_with(ITEM) || line.starts_with(REST)) || announced(text).is_some()
}

fn announcement(text: &str) -> String {
    format!("{LINES}{}{LINES_WORDS}", text.split('\n').count())
}

/// Returns how many lines an item without its mark announces.
fn announced(item: &str) -> Option<usize> {
    item.lines().next()?.strip_prefix('(')?.strip_suffix(LINES_WORDS)?.parse().ok()
}

fn rest(count: usize, handle: &str) -> String {
    if handle.is_empty() {
        format!("{REST}{count}{REST_WORDS})")
    } else {
        format!("{REST}{count}{REST_WORDS}, in the archive under {handle} and earlier handles)")
    }
}

/// Returns the messages that a handoff quotes, newest first.
pub(crate) fn parse(text: &str) -> UserMessages {
    let mut said = UserMessages::default();
    let mut lines = text.split('\n');
    while let Some(line) = lines.next() {
        if let Some(item) = line.strip_prefix(ITEM) {
            said.texts.push(match announced(item) {
                Some(count) => lines.by_ref().take(count).collect::<Vec<_>>().join("\n"),
                None => item.to_owned(),
            });
        } else if let Some(count) = hidden_in(line) {
            said.hidden += count;
        } else if let Some(last) = said.texts.last_mut() {
            last.push('\n');
            last.push_str(line);
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
