//! The time for retention, from a wall clock that may have been set and a monotonic clock; pure.

/// How far the wall clock may be ahead of the time that has passed since the start, in seconds.
const SLACK: f64 = 60.0;

/// A day, in seconds. A start that long after the last collection makes the clock doubtful, and the doubt lasts as
/// long.
pub(crate) const DAY: f64 = 86_400.0;

/// The readings of the clocks, all in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    /// Unix time now.
    pub wall: f64,
    /// Unix time when the daemon started.
    pub started_wall: f64,
    /// Time since then, from a clock that can't be set.
    pub monotonic_since_start: f64,
    /// Unix time of the last collection of an earlier daemon.
    pub last_seen: Option<f64>,
}

impl Clock {
    /// Returns the time for computing ages: the wall clock's, but no later than the time since the start allows.
    #[must_use]
    pub fn now(&self) -> f64 {
        self.wall.min(self.started_wall + self.monotonic_since_start + SLACK)
    }

    /// Whether the wall clock may have jumped while no daemon ran. Then nothing expires by age.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.last_seen.is_some_and(|seen| self.started_wall - seen > DAY) && self.monotonic_since_start < DAY
    }

    /// Returns the clocks, given how many seconds earlier daemons ran with a doubtful clock. Once that and this
    /// daemon's own time are a day together, the wall clock is no longer in doubt. This also ends the doubt on a
    /// machine that runs for some hours a day.
    #[must_use]
    pub fn after_doubt(self, seconds: f64) -> Self {
        let is_over = seconds + self.monotonic_since_start >= DAY;
        if self.is_doubtful() && is_over { Self { last_seen: None, ..self } } else { self }
    }

    /// Returns the time that a collection notes. While the clock is in doubt, this is the last one plus the time that
    /// the daemon has run.
    #[must_use]
    pub fn seen(&self) -> f64 {
        match self.last_seen {
            Some(seen) if self.is_doubtful() => seen + self.monotonic_since_start,
            _ => self.now(),
        }
    }
}
