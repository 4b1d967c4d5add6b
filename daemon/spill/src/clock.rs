//! What time it is for retention: a wall clock that may have been set, and one that can't; pure.

/// How far the wall may be ahead of what the time since the start allows, in seconds.
const SLACK: f64 = 60.0;

/// A day, in seconds: a start so long after the last collection is a doubtful time, and
/// the doubt lasts as long.
pub(crate) const DAY: f64 = 86_400.0;

/// What the clocks say, all in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    /// Unix time now.
    pub wall: f64,
    /// Unix time when the daemon started.
    pub started_wall: f64,
    /// Time since then that no change of the wall's clock touches.
    pub monotonic_since_start: f64,
    /// Unix time of the last collection of an earlier daemon.
    pub last_seen: Option<f64>,
}

impl Clock {
    /// The time that ages are counted to: the wall's, but no later than the time since
    /// the start allows.
    #[must_use]
    pub fn now(&self) -> f64 {
        self.wall.min(self.started_wall + self.monotonic_since_start + SLACK)
    }

    /// The clock may have jumped while no daemon ran: nothing expires by age.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.last_seen.is_some_and(|seen| self.started_wall - seen > DAY) && self.monotonic_since_start < DAY
    }

    /// The same clocks, where daemons before this one ran for so many seconds while the
    /// clock was in doubt, one after the other: once that is a day together with what this
    /// one has run, the wall's clock is believed. So a machine that runs for some hours a
    /// day leaves the doubt too.
    #[must_use]
    pub fn after_doubt(self, seconds: f64) -> Self {
        let is_over = seconds + self.monotonic_since_start >= DAY;
        if self.is_doubtful() && is_over { Self { last_seen: None, ..self } } else { self }
    }

    /// What a collection writes down as its time: while the clock is in doubt, only as
    /// much later than the last one as the daemon has run.
    #[must_use]
    pub fn seen(&self) -> f64 {
        match self.last_seen {
            Some(seen) if self.is_doubtful() => seen + self.monotonic_since_start,
            _ => self.now(),
        }
    }
}
