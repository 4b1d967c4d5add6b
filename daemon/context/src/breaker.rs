//! Decides whether a session may compress again: a half-open breaker and a rate limit.
//!
//! The breaker opens when compressing gains nothing. The rate limit holds back a session that gains something
//! all the time. Both limit automatic runs only, not those that a person starts. A run that found nothing
//! opens the breaker at once, because the same list has nothing the next time either.

use serde::{Deserialize, Serialize};

use crate::savings::WEAK_PCT;
use crate::settings::share;

/// Weak runs in a row that open the breaker.
const WEAK_RUNS: u32 = 2;
/// Growth since the breaker opened that lets one run through, as a share of the window.
const REOPEN_GROWTH: f64 = 0.10;
/// Seconds after which one run is let through anyway.
const REOPEN_S: f64 = 600.0;
/// Seconds over which runs are counted.
const RATE_S: f64 = 3_600.0;
/// Runs that are remembered; a larger rate limit has no effect.
const RUNS_KEPT: usize = 1_000;
/// Share of the window above which a run does not wait for new text, because the window would overflow.
const OVERFLOWING: f64 = 0.95;

/// A session's record of its runs, kept across restarts. Times are Unix seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Breaker {
    /// Weak runs in a row.
    pub weak_runs: u32,
    /// When the breaker opened or, after a weak run in the half-open state, opened again.
    pub opened_at: Option<f64>,
    /// Tokens of the context at that time.
    pub opened_tokens: u64,
    /// When runs went through, oldest first: those of the last hour, at most 1,000.
    pub runs: Vec<f64>,
    /// Tokens of the context right after the last run.
    pub tokens_after_last_run: Option<u64>,
}

/// The configured limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Tokens of the window; 0 if it is not known, then only the time rules apply.
    pub window: u64,
    /// The most runs in any hour; 0 for no limit.
    pub max_per_hour: u32,
    /// New text that must come between two runs, as a share of the window.
    pub min_new_text: f64,
}

impl Limits {
    /// Returns the default limits of a window: 6 runs an hour, 2 % of new text.
    pub fn of_window(window: u64) -> Self {
        Self { window, max_per_hour: 6, min_new_text: 0.02 }
    }

    fn is_overflowing(&self, tokens: u64) -> bool {
        self.window > 0 && tokens >= share(self.window, OVERFLOWING)
    }
}

/// The state of the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Runs go through.
    Closed,
    /// No run goes through.
    Open,
    /// One run goes through; its result closes or opens the breaker.
    HalfOpen,
}

impl State {
    /// Returns the name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
        }
    }
}

/// Whether a run may start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It may start; in the half-open state too.
    Allowed,
    /// The last runs gained nothing.
    BreakerOpen {
        /// Seconds until one run is let through, unless the context grows before that.
        wait_s: f64,
    },
    /// There were too many runs, or too little new text since the last one.
    RateLimited {
        /// Seconds until the hour has room for a run; 0 if only new text is missing.
        wait_s: f64,
        /// Tokens of new text that are missing; 0 if only time is.
        missing_tokens: u64,
    },
}

impl Breaker {
    /// Whether a run may start with so many tokens in the context. A window that is about to overflow need
    /// not wait for new text.
    pub fn verdict(&self, limits: &Limits, tokens: u64, now: f64) -> Verdict {
        if self.state(limits, tokens, now) == State::Open {
            return Verdict::BreakerOpen { wait_s: self.wait_s(now) };
        }
        let wait_s = self.rate_wait_s(limits, now);
        let missing_tokens = if limits.is_overflowing(tokens) { 0 } else { self.missing_tokens(limits, tokens) };
        if wait_s > 0.0 || missing_tokens > 0 {
            Verdict::RateLimited { wait_s, missing_tokens }
        } else {
            Verdict::Allowed
        }
    }

    /// Returns the state of the breaker with so many tokens in the context.
    pub fn state(&self, limits: &Limits, tokens: u64, now: f64) -> State {
        if self.opened_at.is_none() {
            return State::Closed;
        }
        // A window that is about to overflow can't wait for so much.
        let growth = if limits.is_overflowing(tokens) {
            share(limits.window, limits.min_new_text.min(REOPEN_GROWTH)).max(1)
        } else {
            share(limits.window, REOPEN_GROWTH)
        };
        let has_grown = limits.window > 0 && tokens >= self.opened_tokens.saturating_add(growth);
        if has_grown || self.wait_s(now) <= 0.0 { State::HalfOpen } else { State::Open }
    }

    /// Returns the seconds until an open breaker lets a run through by time alone; 0 if it is not open. A
    /// clock that was set back ends the wait.
    pub fn wait_s(&self, now: f64) -> f64 {
        self.opened_at.map_or(0.0, |opened| left(opened, REOPEN_S, now))
    }

    /// Records a run that went through: its savings in percent of the size before, and the tokens of the
    /// context after it.
    pub fn note_run(&mut self, saved_pct: f64, tokens_after: u64, now: f64) {
        self.tokens_after_last_run = Some(tokens_after);
        self.runs.retain(|&run| left(run, RATE_S, now) > 0.0);
        let surplus = (self.runs.len() + 1).saturating_sub(RUNS_KEPT);
        self.runs.drain(..surplus);
        self.runs.push(now);
        if saved_pct >= WEAK_PCT { self.close() } else { self.note_weak(tokens_after, now) }
    }

    /// Records a run that found nothing to replace. It opens the breaker, but does not count toward the rate
    /// limit.
    pub fn note_nothing(&mut self, tokens: u64, now: f64) {
        self.weak_runs = self.weak_runs.saturating_add(1).max(WEAK_RUNS);
        self.open(tokens, now);
    }

    fn note_weak(&mut self, tokens: u64, now: f64) {
        self.weak_runs = self.weak_runs.saturating_add(1);
        if self.weak_runs >= WEAK_RUNS {
            self.open(tokens, now);
        }
    }

    fn open(&mut self, tokens: u64, now: f64) {
        self.opened_at = Some(now);
        self.opened_tokens = tokens;
    }

    fn close(&mut self) {
        self.weak_runs = 0;
        self.opened_at = None;
        self.opened_tokens = 0;
    }

    /// Returns the seconds until the past hour holds fewer runs than the limit.
    fn rate_wait_s(&self, limits: &Limits, now: f64) -> f64 {
        let most = usize::try_from(limits.max_per_hour).unwrap_or(usize::MAX).min(RUNS_KEPT);
        let mut waits: Vec<f64> = self.runs.iter().map(|&run| left(run, RATE_S, now)).filter(|&s| s > 0.0).collect();
        if most == 0 || waits.len() < most {
            return 0.0;
        }
        waits.sort_by(f64::total_cmp);
        waits.get(waits.len() - most).copied().unwrap_or(0.0)
    }

    fn missing_tokens(&self, limits: &Limits, tokens: u64) -> u64 {
        let Some(after) = self.tokens_after_last_run else {
            return 0;
        };
        share(limits.window, limits.min_new_text).saturating_sub(tokens.saturating_sub(after))
    }
}

/// Returns the seconds left of a span that began at `since`. Returns 0 if `since` is in the future, as after
/// a clock was set back.
fn left(since: f64, span_s: f64, now: f64) -> f64 {
    let passed = now - since;
    if (0.0..span_s).contains(&passed) { span_s - passed } else { 0.0 }
}

#[cfg(test)]
mod tests;
