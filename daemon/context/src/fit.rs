//! Cuts turns down to the size that a summarizer can read at once.
//!
//! Long blocks are shortened first, all to the same length, the user's words to a larger one. If even short
//! blocks are too many, some are left out, evenly over the whole span, tool results before words of the user.
//! A mark shows each gap. The first and the last block always stay. Sizes come from the estimate that the
//! crate uses everywhere, with a margin.

mod sample;
mod shorten;

use sample::sample;
use shorten::shortened;

use crate::tokens::own_estimate_text;

/// Percent of a summarizer's room that is used; the rest covers errors of the estimate.
const USED_PERCENT: u64 = 90;
/// Tokens to which a block may be shortened before blocks are left out.
const SHORT_BLOCK: u64 = 60;
/// How much longer than other blocks those of the user may stay.
const USER_FACTOR: u64 = 4;
/// Percent of the room that the user's blocks may take when blocks have to be left out.
const USER_PERCENT: u64 = 60;
/// Tokens of the joint between two blocks.
const JOINT: u64 = 1;
/// The joint between two blocks.
const JOINT_TEXT: &str = "\n\n";
/// The beginning of a user's block.
const USER_LABEL: &str = "[USER]:";

/// Turns that fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The remaining blocks, in order, joined by blank lines, with marks in the gaps.
    pub text: String,
    /// The number of blocks that were left out.
    pub omitted: usize,
}

/// Whether a text fits next to the other parts of a call; all sizes are in tokens of the summarizer.
pub fn fits(text: &str, window_tokens: u64, answer_tokens: u64, overhead_tokens: u64) -> bool {
    own_estimate_text(text) <= room(window_tokens, answer_tokens, overhead_tokens)
}

/// Cuts serialised turns down to a summarizer's window, less the answer and the overhead (the prompt's own
/// words, an earlier summary). If there is no room at all, the text is empty.
pub fn fit(blocks: &[String], window_tokens: u64, answer_tokens: u64, overhead_tokens: u64) -> Fitted {
    let room = room(window_tokens, answer_tokens, overhead_tokens);
    let whole = blocks.join(JOINT_TEXT);
    if own_estimate_text(&whole) <= room {
        return Fitted { text: whole, omitted: 0 };
    }
    let blocks: Vec<Block<'_>> = blocks.iter().map(|text| Block::of(text)).collect();
    let chosen = chosen(&blocks, room);
    let kept = chosen.iter().filter(|is_kept| **is_kept).count();
    let marks = mark_tokens(blocks.len()) * gaps(&chosen);
    let cap = cap(&blocks, &chosen, room.saturating_sub(marks));
    let text = shortened(&rendered(&blocks, &chosen, cap), room).into_owned();
    let omitted = blocks.len() - if text.is_empty() { 0 } else { kept };
    Fitted { text, omitted }
}

fn room(window_tokens: u64, answer_tokens: u64, overhead_tokens: u64) -> u64 {
    let left = window_tokens.saturating_sub(answer_tokens).saturating_sub(overhead_tokens);
    left / 100 * USED_PERCENT + left % 100 * USED_PERCENT / 100
}

/// A block and its size.
struct Block<'a> {
    text: &'a str,
    /// Tokens, the joint to the next block included.
    tokens: u64,
    is_user: bool,
}

impl<'a> Block<'a> {
    fn of(text: &'a str) -> Self {
        let is_user = text.starts_with(USER_LABEL);
        Self { text, tokens: own_estimate_text(text).saturating_add(JOINT), is_user }
    }

    /// Returns the most tokens of the block under a cap.
    fn limit(&self, cap: u64) -> u64 {
        if self.is_user { cap.saturating_mul(USER_FACTOR) } else { cap }
    }

    /// Returns the tokens of the block under a cap.
    fn capped(&self, cap: u64) -> u64 {
        self.tokens.min(self.limit(cap))
    }
}

/// Selects the blocks that stay: all if they can be shortened enough, else the first, the last and a sample.
fn chosen(blocks: &[Block<'_>], room: u64) -> Vec<bool> {
    let short: Vec<u64> = blocks.iter().map(|block| block.capped(SHORT_BLOCK)).collect();
    let total = |costs: &[u64]| costs.iter().fold(0_u64, |sum, cost| sum.saturating_add(*cost));
    if total(&short) <= room {
        return vec![true; blocks.len()];
    }
    let mark = mark_tokens(blocks.len());
    let costs: Vec<u64> = short.iter().map(|tokens| tokens + mark).collect();
    let last = blocks.len().saturating_sub(1);
    let mut chosen: Vec<bool> = (0..blocks.len()).map(|at| at == 0 || at == last).collect();
    let taken =
        |chosen: &[bool]| chosen.iter().zip(&costs).filter(|(is_kept, _)| **is_kept).map(|(_, cost)| cost).sum();
    let is_user = |at: usize| blocks.get(at).is_some_and(|block| block.is_user);
    let free = |chosen: &[bool]| room.saturating_sub(taken(chosen));
    let for_users = free(&chosen).saturating_mul(USER_PERCENT) / 100;
    sample(&mut chosen, &costs, for_users, is_user);
    let rest = free(&chosen);
    sample(&mut chosen, &costs, rest, |at| !is_user(at));
    let rest = free(&chosen);
    sample(&mut chosen, &costs, rest, is_user);
    chosen
}

/// Returns the largest cap under which the chosen blocks need no more than `room`.
fn cap(blocks: &[Block<'_>], chosen: &[bool], room: u64) -> u64 {
    let kept: Vec<&Block<'_>> = blocks.iter().zip(chosen).filter(|(_, is_kept)| **is_kept).map(|(b, _)| b).collect();
    let takes = |cap: u64| kept.iter().fold(0_u64, |sum, block| sum.saturating_add(block.capped(cap)));
    let (mut fits, mut beyond) = (0, kept.iter().map(|block| block.tokens).max().unwrap_or(0) + 1);
    while beyond - fits > 1 {
        let middle = fits + (beyond - fits) / 2;
        if takes(middle) <= room { fits = middle } else { beyond = middle }
    }
    fits
}

fn rendered(blocks: &[Block<'_>], chosen: &[bool], cap: u64) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut skipped = 0;
    for (block, is_kept) in blocks.iter().zip(chosen) {
        if !is_kept {
            skipped += 1;
            continue;
        }
        if skipped > 0 {
            parts.push(mark(skipped));
            skipped = 0;
        }
        let limit = block.limit(cap).saturating_sub(JOINT);
        parts.push(shortened(block.text, limit).into_owned());
    }
    parts.join(JOINT_TEXT)
}

fn mark(skipped: usize) -> String {
    let turns = if skipped == 1 { "turn" } else { "turns" };
    format!("[… {skipped} {turns} left out here …]")
}

/// Returns the tokens of the longest mark that so many blocks can need.
fn mark_tokens(blocks: usize) -> u64 {
    own_estimate_text(&mark(blocks.max(2))) + JOINT
}

/// Returns how many marks the choice needs.
fn gaps(chosen: &[bool]) -> u64 {
    chosen.windows(2).filter(|pair| matches!(pair, [true, false])).count() as u64
}

#[cfg(test)]
mod tests;
