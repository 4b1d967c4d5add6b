//! The pause after a failed call.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A pause, of one session and one summarizer. The default is no pause.
///
/// Times are seconds of any clock that the caller uses consistently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cooldown {
    /// When the pause began. If the time is earlier, the clock was set back, and the pause is over.
    pub since: f64,
    /// When it ends.
    pub until: f64,
}

impl Cooldown {
    /// Starts a pause now.
    #[expect(clippy::cast_precision_loss, reason = "a pause is minutes long")]
    pub fn start(cooldown_s: u64, now: f64) -> Self {
        Self { since: now, until: now + cooldown_s as f64 }
    }

    /// Returns the seconds that are left; 0 once it is over, and never more than the whole pause.
    pub fn remaining(&self, now: f64) -> f64 {
        if now >= self.since && now < self.until { self.until - now } else { 0.0 }
    }
}

/// The pauses of one session, by summarizer: a failed summarizer does not delay the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cooldowns(BTreeMap<String, Cooldown>);

impl Cooldowns {
    /// Returns the seconds before this summarizer may be called; 0 if it may be called now.
    pub fn remaining(&self, summarizer: &str, now: f64) -> f64 {
        self.0.get(summarizer).map_or(0.0, |cooldown| cooldown.remaining(now))
    }

    /// Starts a pause of this summarizer now; it replaces an earlier one.
    pub fn start(&mut self, summarizer: &str, cooldown_s: u64, now: f64) {
        self.0.retain(|_, cooldown| cooldown.remaining(now) > 0.0);
        self.0.insert(summarizer.to_owned(), Cooldown::start(cooldown_s, now));
    }

    /// Ends the pause of this summarizer: after a success, a fallback to another model, or by force.
    pub fn clear(&mut self, summarizer: &str) {
        self.0.remove(summarizer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_whatever_the_clock_does() {
        let pause = Cooldown::start(60, 1_000.0);
        for (now, left) in [
            (1_000.0, 60.0),
            (1_059.0, 1.0),
            (1_060.0, 0.0),
            (9e9, 0.0),
            (999.0, 0.0),
            (-5.0, 0.0),
            (f64::NAN, 0.0),
            (f64::INFINITY, 0.0),
        ] {
            assert!((pause.remaining(now) - left).abs() < f64::EPSILON, "at {now}");
        }
        assert!(Cooldown::default().remaining(0.0) < f64::EPSILON);
    }

    #[test]
    fn a_pause_is_one_summarizers_own() {
        let mut pauses = Cooldowns::default();
        pauses.start("openai", 60, 10.0);
        pauses.start("command", 30, 20.0);
        let left = |pauses: &Cooldowns| ["openai", "command", "anthropic"].map(|name| pauses.remaining(name, 25.0));
        assert_eq!(left(&pauses), [45.0, 25.0, 0.0]);
        pauses.clear("openai");
        assert_eq!(left(&pauses), [0.0, 25.0, 0.0]);
        pauses.start("openai", 30, 100.0);
        assert_eq!(pauses.0.len(), 1, "pauses that are over are not kept");
    }
}
