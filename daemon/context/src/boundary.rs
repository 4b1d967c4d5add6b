//! Finds where the head ends and the tail begins.

use crate::handoff;
use crate::message::{Content, Message, Part, Role};
use crate::tokens::message_tokens;
use crate::{Settings, pairs};

/// The fewest messages of a tail, if the list has as many.
const MIN_TAIL: usize = 3;
/// The most messages that `protect_last_n` can force into the tail, whatever their size.
const MAX_FORCED_TAIL: usize = 8;
/// Messages between head and tail that a forced tail leaves out.
const SPARED: usize = 2;

/// The tail of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TailCut {
    /// First message of the tail; never past the end of the list.
    pub cut: usize,
    /// How many messages the tail has at least, whatever their size.
    pub min_tail: usize,
}

/// A window of fewer tokens is tiny: next to the frame of a handoff it has no room for the first messages, of which a
/// handoff keeps what matters.
const TINY_WINDOW: u64 = 1_000;

/// Returns the size of the head in messages, whatever the length of the list: the configured one, or in a tiny window
/// the system message alone.
pub fn head_size(messages: &[Message], settings: &Settings) -> usize {
    let system = messages.first().is_some_and(|first| first.is(Role::System));
    let others = if settings.context_length < TINY_WINDOW { 0 } else { settings.protect_first_n };
    others.saturating_add(usize::from(system))
}

/// Returns the end of the head: `head_size`, moved forward past tool messages.
pub fn head_end(messages: &[Message], head_size: usize) -> usize {
    let from = head_size.min(messages.len());
    let tools = messages.iter().skip(from).take_while(|m| m.is(Role::Tool));
    from + tools.count()
}

/// Whether there are messages between head and tail, before any pruning.
pub fn has_content(messages: &[Message], settings: &Settings) -> bool {
    let head_end = head_end(messages, head_size(messages, settings));
    let budget = settings.budgets().tail_token_budget;
    head_end < messages.len() && head_end < tail_cut(messages, head_end, budget, settings.protect_last_n).cut
}

/// Returns the tail cut of a list whose head ends at `head_end`.
pub fn tail_cut(messages: &[Message], head_end: usize, budget: u64, protect_last_n: usize) -> TailCut {
    let n = messages.len();
    let available = n.saturating_sub(head_end + 1);
    let floor = protect_last_n.clamp(MIN_TAIL, MAX_FORCED_TAIL);
    let cap = available.saturating_sub(SPARED).max(MIN_TAIL);
    let min_tail = match available {
        0 | 1 => 0,
        _ => floor.min(cap).min(available),
    };
    let by_weight = walk(messages, head_end, budget, min_tail);
    let mut cut = by_weight.min(n - min_tail);
    if cut <= head_end {
        cut = (n - min_tail).max(head_end + 1);
    }
    cut = align_backward(messages, cut);
    if let Some(user) = last_user(messages, head_end).filter(|&user| user < cut) {
        cut = user.max(head_end + 1);
    }
    if let Some(reply) = last_reply(messages, head_end).filter(|&reply| reply < cut) {
        cut = align_backward(messages, reply).max(head_end + 1);
    }
    let open = pairs::in_flight(messages).filter(|&open| open <= cut);
    let cut = match open {
        Some(open) => open.max(head_end),
        None => behind_results(messages, cut.max(head_end + 1)).unwrap_or(head_end),
    };
    TailCut { cut: cut.min(n), min_tail }
}

/// Moves the cut forward past results, because their call is before it. Returns `None` if only results
/// follow.
fn behind_results(messages: &[Message], cut: usize) -> Option<usize> {
    match messages.get(cut..).unwrap_or_default() {
        [] => Some(cut),
        rest => Some(cut + rest.iter().position(|message| !message.is(Role::Tool))?),
    }
}

/// Returns the first message of the tail as far as token counts decide.
fn walk(messages: &[Message], head_end: usize, budget: u64, min_tail: usize) -> usize {
    let n = messages.len();
    let soft = budget.saturating_add(budget / 2);
    let (mut cut, mut sum) = (n, 0_u64);
    for (i, message) in messages.iter().enumerate().skip(head_end).rev() {
        let tokens = message_tokens(message);
        if sum + tokens > soft && n - i >= min_tail {
            return cut;
        }
        sum += tokens;
        cut = i;
    }
    if cut > head_end || sum == 0 || sum > soft {
        return cut;
    }
    let (mut cut, mut sum) = (n, 0_u64);
    for (i, message) in messages.iter().enumerate().skip(head_end).rev() {
        let tokens = message_tokens(message);
        cut = i;
        if sum + tokens > budget && n - i >= min_tail {
            break;
        }
        sum += tokens;
    }
    cut
}

/// Moves the cut back to the calling assistant message if it would separate a call from its results.
pub fn align_backward(messages: &[Message], cut: usize) -> usize {
    if cut == 0 || cut >= messages.len() {
        return cut;
    }
    let before = messages.iter().take(cut).rposition(|message| !message.is(Role::Tool));
    match before.and_then(|at| Some((at, messages.get(at)?))) {
        Some((at, message)) if message.is(Role::Assistant) && !message.tool_calls().is_empty() => at,
        _ => cut,
    }
}

/// Returns the last message in which the user speaks. A handoff that merely has the user's role does not
/// count.
pub fn last_user(messages: &[Message], from: usize) -> Option<usize> {
    rfind(messages, from, |message| message.is(Role::User) && !handoff::is_only_handoff(message))
}

/// Returns the last assistant message with visible content, else the last assistant message of any kind.
fn last_reply(messages: &[Message], from: usize) -> Option<usize> {
    rfind(messages, from, |m| m.is(Role::Assistant) && is_visible(m))
        .or_else(|| rfind(messages, from, |m| m.is(Role::Assistant)))
}

fn rfind(messages: &[Message], from: usize, wanted: impl Fn(&Message) -> bool) -> Option<usize> {
    let found = messages.iter().skip(from).rposition(wanted)?;
    Some(from + found)
}

fn is_visible(message: &Message) -> bool {
    match message.content() {
        Content::Text(_) => !message.text().trim().is_empty(),
        Content::List(parts) => parts.iter().any(|part| is_visible_part(part, message.raw())),
        _ => false,
    }
}

fn is_visible_part(part: &Part, raw: &str) -> bool {
    part.text(raw).is_some_and(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests;
