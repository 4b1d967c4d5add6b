//! Assembles the shorter list, and measures it.

use super::Count;
use super::config::Config;
use super::plan::{Plan, Skip};
use super::summary::summary_text;
use super::turn::{From, Turn};

/// The result for a trajectory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// Its turns.
    pub turns: Vec<Turn>,
    /// Its numbers.
    pub row: Row,
    /// Why it stays unchanged after all.
    pub skip: Option<Skip>,
}

/// The numbers of a trajectory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Tokens before.
    pub original_tokens: u64,
    /// Tokens after.
    pub compressed_tokens: u64,
    /// Turns before.
    pub original_turns: usize,
    /// Turns after.
    pub compressed_turns: usize,
    /// The turns that a summary replaced, the end exclusive.
    pub region: Option<(usize, usize)>,
    /// Whether it is over the target afterwards.
    pub still_over_limit: bool,
    /// Whether it was at or under the target already.
    pub skipped_under_target: bool,
    /// Calls of models.
    pub calls: Calls,
}

/// Calls of models for one trajectory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// All calls.
    pub made: u64,
    /// The failed calls.
    pub failed: u64,
}

/// Returns the numbers of a trajectory that stays unchanged.
pub fn unchanged(tokens: &[u64], config: &Config, calls: Calls) -> Row {
    let total: u64 = tokens.iter().sum();
    let is_over = total > config.compression.target_max_tokens;
    Row {
        original_tokens: total,
        compressed_tokens: total,
        original_turns: tokens.len(),
        compressed_turns: tokens.len(),
        region: None,
        still_over_limit: is_over,
        skipped_under_target: !is_over,
        calls,
    }
}

/// Applies a plan: one user turn with the summary replaces the planned turns, and the first system turn gets
/// the notice. A list that would have more tokens than before stays unchanged. `tokens` has the tokens of
/// each turn; `count` counts new turns.
pub fn apply(
    turns: &[Turn],
    tokens: &[u64],
    plan: &Plan,
    summary: &str,
    calls: Calls,
    config: &Config,
    count: Count,
) -> Compressed {
    let before = unchanged(tokens, config, calls);
    if plan.skip.is_some() {
        return Compressed { turns: turns.to_vec(), row: before, skip: plan.skip };
    }
    let summary = Turn::human(&summary_text(summary));
    let mut total = count.tokens(summary.value());
    let mut list = Vec::with_capacity(turns.len() - (plan.until - plan.start) + 1);
    let notice = notice(turns, plan, config);
    for (at, (turn, tokens)) in turns.iter().zip(tokens).enumerate() {
        if at == plan.start {
            list.push(summary.clone());
        }
        if (plan.start..plan.until).contains(&at) {
            continue;
        }
        total += tokens;
        match notice {
            Some((system, text)) if system == at => {
                total += count.tokens(text);
                list.push(turn.with_value(format!("{}{text}", turn.value())));
            }
            _ => list.push(turn.clone()),
        }
    }
    if total > before.original_tokens {
        return Compressed { turns: turns.to_vec(), row: before, skip: Some(Skip::NoGain) };
    }
    let row = Row {
        compressed_tokens: total,
        compressed_turns: list.len(),
        region: Some((plan.start, plan.until)),
        still_over_limit: total > config.compression.target_max_tokens,
        skipped_under_target: false,
        ..before
    };
    Compressed { turns: list, row, skip: None }
}

/// Returns the position of the first system turn and the notice for it. Returns `None` if that turn is
/// replaced or already has the notice.
fn notice<'a>(turns: &[Turn], plan: &Plan, config: &'a Config) -> Option<(usize, &'a str)> {
    let text = config.output.summary_notice_text.as_str();
    if !config.output.add_summary_notice || text.is_empty() {
        return None;
    }
    let at = turns.iter().position(|turn| turn.from() == From::System)?;
    let is_kept = !(plan.start..plan.until).contains(&at);
    (is_kept && !turns.get(at)?.value().ends_with(text)).then_some((at, text))
}
