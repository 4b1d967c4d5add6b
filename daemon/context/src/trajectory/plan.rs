//! Selects the turns that a summary replaces.

use super::config::{Config, ProtectedTurns};
use super::turn::{From, Turn};

/// The plan for a trajectory. Positions refer to its turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Turns that stay, in order.
    pub protected: Vec<usize>,
    /// The beginning of the region between the protected turns, after the responses to earlier calls.
    pub start: usize,
    /// The end of the region, exclusive.
    pub end: usize,
    /// The end of the replaced turns, exclusive; `start` if none are replaced.
    pub until: usize,
    /// Why the trajectory stays unchanged.
    pub skip: Option<Skip>,
}

/// Why a trajectory stays unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// It has no more tokens than the target.
    UnderTarget,
    /// There is no turn between the protected ones.
    NothingBetween,
    /// The turns between them can't be cut without separating a call from its responses.
    ToolTurns,
    /// The summary would be longer than the turns it replaces.
    NoGain,
}

impl Skip {
    /// Returns the name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnderTarget => "under_target",
            Self::NothingBetween => "nothing_between",
            Self::ToolTurns => "tool_turns",
            Self::NoGain => "no_gain",
        }
    }
}

impl Plan {
    /// Returns the turns that are replaced.
    pub fn replaced<'a>(&self, turns: &'a [Turn]) -> &'a [Turn] {
        turns.get(self.start..self.until).unwrap_or_default()
    }
}

/// Plans a trajectory. `tokens` has the tokens of each turn.
pub fn plan(turns: &[Turn], tokens: &[u64], config: &Config) -> Plan {
    let roles: Vec<From> = turns.iter().map(Turn::from).collect();
    let protected = protected(&roles, &config.protected_turns);
    let (start, end) = between(&protected, roles.len());
    let start = if start < end { snap(&roles, start, 0, end) } else { start };
    let unchanged = |protected, skip| Plan { protected, start, end, until: start, skip: Some(skip) };

    let total: u64 = tokens.iter().sum();
    let compression = &config.compression;
    let needed = (total + compression.summary_target_tokens).saturating_sub(compression.target_max_tokens);
    if total <= compression.target_max_tokens && (config.processing.skip_under_target || needed == 0) {
        return unchanged(protected, Skip::UnderTarget);
    }
    if start >= end {
        return unchanged(protected, Skip::NothingBetween);
    }
    let until = snap(&roles, enough(tokens, start, end, needed), start, end);
    if until <= start || !is_clean(&roles, until) {
        return unchanged(protected, Skip::ToolTurns);
    }
    Plan { protected, start, end, until, skip: None }
}

/// Returns the positions of the first turn of each protected role, and of the last turns.
fn protected(roles: &[From], wanted: &ProtectedTurns) -> Vec<usize> {
    let firsts = [
        (From::System, wanted.first_system),
        (From::Human, wanted.first_human),
        (From::Gpt, wanted.first_gpt),
        (From::Tool, wanted.first_tool),
    ];
    let firsts = firsts.iter().filter(|(_, is_wanted)| *is_wanted);
    let mut protected: Vec<usize> = firsts.filter_map(|(from, _)| roles.iter().position(|role| role == from)).collect();
    protected.extend(roles.len().saturating_sub(wanted.last_n_turns)..roles.len());
    protected.sort_unstable();
    protected.dedup();
    protected
}

/// Returns the region between the protected turns of the first half and those of the second. A middle turn
/// belongs to the second half.
fn between(protected: &[usize], count: usize) -> (usize, usize) {
    let half = count / 2;
    let start = protected.iter().rev().find(|at| **at < half).map_or(0, |at| at + 1);
    let end = protected.iter().copied().find(|at| *at >= half).unwrap_or(count);
    (start, end)
}

/// Returns the position after the turns from `start` that have so many tokens together, or `end`.
fn enough(tokens: &[u64], start: usize, end: usize, needed: u64) -> usize {
    let mut sum = 0_u64;
    for (at, tokens) in tokens.iter().enumerate().take(end).skip(start) {
        sum = sum.saturating_add(*tokens);
        if sum >= needed {
            return at + 1;
        }
    }
    end
}

/// Returns the nearest position within `min` and `max` at which a list can be cut: at its end or before a
/// turn that is not a response. Searches forward, then backward; returns `index` itself if there is none.
pub fn snap(roles: &[From], index: usize, min: usize, max: usize) -> usize {
    let forward = (index..=max).find(|at| is_clean(roles, *at));
    forward.or_else(|| (min..=index).rev().find(|at| is_clean(roles, *at))).unwrap_or(index)
}

fn is_clean(roles: &[From], at: usize) -> bool {
    roles.get(at) != Some(&From::Tool)
}
