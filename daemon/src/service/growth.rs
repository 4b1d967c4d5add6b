//! How the transcript of a session grows, and when it is worth beginning its compression before anybody asks.

use std::time::{Duration, Instant};

/// Bytes of a transcript from which its compression takes long enough to be begun ahead.
const LEAST_BYTES: u64 = 128 << 10;

/// How many times as long as it took a run that was begun ahead is followed by none.
const REST: u32 = 10;

/// Runs that are begun ahead in one generation. Where nobody used any of them nobody compresses the session, and more of them
/// would be for nothing.
const MOST_RUNS: u32 = 8;

/// What is known of a transcript's size. Only what was appended since the daemon started counts.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    generation: u64,
    bytes: u64,
    /// Appends under way.
    under_way: usize,
    /// The size at which a run was begun ahead.
    begun: Option<u64>,
    /// How many were.
    runs: u32,
    /// Until when no other one is begun.
    rests_until: Option<Instant>,
    /// Somebody looks whether it still grows.
    is_watched: bool,
}

/// Whether a transcript grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Somebody appends, or did so since it had that many bytes.
    Grows,
    /// Nobody did. The next run may be begun ahead after that time.
    Calm { rest: Duration },
}

impl Growth {
    /// Somebody begins to append.
    pub(crate) fn begin_append(&mut self) {
        self.under_way += 1;
    }

    /// Whoever began to append is done, or gave up.
    pub(crate) fn end_append(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
    }

    /// Notes messages; true where they are so many that somebody is to look, and nobody does so far: from now
    /// on somebody does.
    pub(crate) fn appended(&mut self, generation: u64, bytes: u64) -> bool {
        self.come_to(generation);
        self.bytes = self.bytes.saturating_add(bytes);
        self.bytes >= LEAST_BYTES && self.runs < MOST_RUNS && !std::mem::replace(&mut self.is_watched, true)
    }

    /// Whether what it knows is of this generation.
    pub(crate) const fn is_of(&self, generation: u64) -> bool {
        self.generation == generation
    }

    /// Bytes of JSON text in this generation.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether it grew since it had so many bytes.
    pub(crate) fn pace(&self, bytes: u64, now: Instant) -> Pace {
        if self.bytes != bytes || self.under_way > 0 {
            return Pace::Grows;
        }
        Pace::Calm { rest: self.rests_until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now)) }
    }

    /// Nobody looks any more.
    pub(crate) const fn unwatch(&mut self) {
        self.is_watched = false;
    }

    /// Whether a run is to be begun ahead: none was in this generation, or the list grew since the last of few. From now
    /// on one was.
    pub(crate) fn begins(&mut self, generation: u64) -> bool {
        self.come_to(generation);
        let begins = self.runs < MOST_RUNS && self.begun.is_none_or(|begun| self.bytes > begun);
        if begins {
            self.begun = Some(self.bytes);
            self.runs += 1;
        }
        begins
    }

    /// A run that was begun ahead took so long: the next one waits, so that all of them take little of a processor.
    pub(crate) fn took(&mut self, time: Duration, now: Instant) {
        self.rests_until = now.checked_add(time.saturating_mul(REST));
    }

    fn come_to(&mut self, generation: u64) {
        if self.generation != generation {
            let Self { under_way, rests_until, is_watched, .. } = *self;
            *self = Self { generation, under_way, rests_until, is_watched, ..Self::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_bytes_are_not_worth_it() {
        let mut growth = Growth::default();
        assert!(!growth.appended(0, LEAST_BYTES - 1));
        assert!(growth.appended(0, 1));
        assert!(!growth.appended(0, LEAST_BYTES), "somebody looks already");
        assert_eq!(growth.bytes(), 2 * LEAST_BYTES);
    }

    #[test]
    fn a_run_is_begun_anew_where_the_list_grew() {
        let mut growth = Growth::default();
        assert!(growth.appended(0, LEAST_BYTES));
        growth.unwatch();
        assert!(growth.begins(0));
        assert!(!growth.begins(0));
        assert!(growth.appended(0, 1));
        assert!(growth.begins(0));
        assert!(!growth.begins(0));
    }

    #[test]
    fn what_nobody_used_is_not_made_for_ever() {
        let mut growth = Growth::default();
        for run in 0..2 * MOST_RUNS {
            assert_eq!(growth.appended(0, LEAST_BYTES), run < MOST_RUNS, "{run}");
            growth.unwatch();
            assert_eq!(growth.begins(0), run < MOST_RUNS, "{run}");
        }
        assert!(growth.appended(1, LEAST_BYTES) && growth.begins(1), "the next generation");
    }

    #[test]
    fn it_grows_while_somebody_appends() {
        let now = Instant::now();
        let mut growth = Growth::default();
        growth.begin_append();
        assert_eq!(growth.pace(0, now), Pace::Grows);
        growth.appended(0, 7);
        growth.end_append();
        assert_eq!(growth.pace(0, now), Pace::Grows);
        assert_eq!(growth.pace(7, now), Pace::Calm { rest: Duration::ZERO });
    }

    #[test]
    fn a_long_run_is_followed_by_a_long_rest() {
        let now = Instant::now();
        let mut growth = Growth::default();
        growth.took(Duration::from_millis(200), now);
        assert_eq!(growth.pace(0, now), Pace::Calm { rest: Duration::from_secs(2) });
        let later = now + Duration::from_secs(3);
        assert_eq!(growth.pace(0, later), Pace::Calm { rest: Duration::ZERO });
    }

    #[test]
    fn each_generation_begins_at_nothing() {
        let mut growth = Growth::default();
        assert!(growth.appended(0, LEAST_BYTES) && growth.begins(0));
        assert!(growth.begins(1), "what a check asks for");
        assert!(!growth.begins(1));
        assert_eq!(growth.bytes(), 0);
        growth.unwatch();
        assert!(!growth.appended(1, LEAST_BYTES - 1));
    }
}
