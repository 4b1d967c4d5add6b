//! How the transcript of a session grows, and when it is worth beginning its compression before anybody asks.

use std::time::{Duration, Instant};

/// Bytes of new messages after which it is looked how large a transcript is.
const LOOK_BYTES: u64 = 16 << 10;

/// How many times as long as it took a run that was begun ahead is followed by none.
const REST: u32 = 10;

/// Runs that are begun ahead in one generation. Where nobody used any of them nobody compresses the session, and more of them
/// would be for nothing.
const MOST_RUNS: u32 = 8;

/// What is known of how a transcript grows. Only what was appended since the daemon started counts.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    generation: u64,
    /// Bytes of messages that came since it was looked last; some may have been there already.
    unseen: u64,
    /// Bytes that were appended so far.
    appended: u64,
    /// Appends under way.
    under_way: usize,
    /// What was appended when a run was begun ahead.
    begun: Option<u64>,
    /// How many were.
    runs: u32,
    /// One is under way.
    is_running: bool,
    /// Until when no other one is begun.
    rests_until: Option<Instant>,
    /// Somebody looks whether it still grows.
    is_watched: bool,
}

/// Whether a transcript grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Somebody appends, or did so since it had that many bytes, or a run is under way.
    Busy,
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
    pub(crate) fn append(&mut self, generation: u64, bytes: u64) -> bool {
        self.come_to(generation);
        self.unseen = self.unseen.saturating_add(bytes);
        self.appended = self.appended.saturating_add(bytes);
        self.unseen >= LOOK_BYTES && self.runs < MOST_RUNS && !std::mem::replace(&mut self.is_watched, true)
    }

    /// Bytes that were appended in this generation.
    pub(crate) const fn appended(&self) -> u64 {
        self.appended
    }

    /// Whether it grew since so much was appended.
    pub(crate) fn pace(&self, appended: u64, now: Instant) -> Pace {
        if self.appended != appended || self.under_way > 0 || self.is_running {
            return Pace::Busy;
        }
        Pace::Calm { rest: self.rest(now) }
    }

    /// Somebody looked, and looks no more.
    pub(crate) const fn looked(&mut self) {
        self.unseen = 0;
        self.is_watched = false;
    }

    /// Whether a run is to be begun ahead: none is under way or was in this generation, or the list grew since the last of
    /// few, and not at once after it. From now on one is under way, until [`Self::ended`].
    pub(crate) fn begins(&mut self, generation: u64, now: Instant) -> bool {
        self.come_to(generation);
        let grew = self.begun.is_none_or(|begun| self.appended > begun);
        let begins = grew && self.runs < MOST_RUNS && !self.is_running && self.rest(now).is_zero();
        if begins {
            self.begun = Some(self.appended);
            self.runs += 1;
            self.is_running = true;
        }
        begins
    }

    /// A run that was begun ahead is over, after so long: the next one waits, so that all of them take little of a
    /// processor.
    pub(crate) fn ended(&mut self, time: Duration, now: Instant) {
        self.is_running = false;
        self.rests_until = now.checked_add(time.saturating_mul(REST));
    }

    fn rest(&self, now: Instant) -> Duration {
        self.rests_until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }

    fn come_to(&mut self, generation: u64) {
        if self.generation != generation {
            let Self { under_way, is_running, rests_until, is_watched, .. } = *self;
            *self = Self { generation, under_way, is_running, rests_until, is_watched, ..Self::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(1);

    #[test]
    fn few_bytes_are_not_worth_a_look() {
        let mut growth = Growth::default();
        assert!(!growth.append(0, LOOK_BYTES - 1));
        assert!(growth.append(0, 1));
        assert!(!growth.append(0, LOOK_BYTES), "somebody looks already");
        growth.looked();
        assert!(!growth.append(0, 1));
        assert_eq!(growth.appended(), 2 * LOOK_BYTES + 1);
    }

    #[test]
    fn a_run_is_begun_anew_where_the_list_grew() {
        let now = Instant::now();
        let mut growth = Growth::default();
        growth.append(0, 1);
        assert!(growth.begins(0, now));
        growth.append(0, 1);
        assert!(!growth.begins(0, now), "one is under way");
        growth.ended(SHORT, now);
        assert!(!growth.begins(0, now), "it rests");
        let later = now + SHORT * REST;
        assert!(growth.begins(0, later));
        growth.ended(Duration::ZERO, later);
        assert!(!growth.begins(0, later), "nothing is new");
    }

    #[test]
    fn what_nobody_used_is_not_made_for_ever() {
        let now = Instant::now();
        let mut growth = Growth::default();
        for run in 0..2 * MOST_RUNS {
            assert_eq!(growth.append(0, LOOK_BYTES), run < MOST_RUNS, "{run}");
            growth.looked();
            assert_eq!(growth.begins(0, now), run < MOST_RUNS, "{run}");
            growth.ended(Duration::ZERO, now);
        }
        assert!(growth.append(1, LOOK_BYTES) && growth.begins(1, now), "the next generation");
    }

    #[test]
    fn it_is_busy_while_somebody_appends_or_a_run_is_under_way() {
        let now = Instant::now();
        let calm = Pace::Calm { rest: Duration::ZERO };
        let mut growth = Growth::default();
        growth.begin_append();
        assert_eq!(growth.pace(0, now), Pace::Busy);
        growth.append(0, 7);
        growth.end_append();
        assert_eq!((growth.pace(0, now), growth.pace(7, now)), (Pace::Busy, calm));
        assert!(growth.begins(0, now));
        assert_eq!(growth.pace(7, now), Pace::Busy);
        growth.ended(Duration::from_millis(200), now);
        assert_eq!(growth.pace(7, now), Pace::Calm { rest: Duration::from_secs(2) });
        assert_eq!(growth.pace(7, now + Duration::from_secs(3)), calm);
    }

    #[test]
    fn each_generation_begins_at_nothing() {
        let now = Instant::now();
        let mut growth = Growth::default();
        assert!(growth.append(0, LOOK_BYTES) && growth.begins(0, now));
        growth.ended(Duration::ZERO, now);
        assert!(growth.begins(1, now), "what a check asks for");
        growth.ended(Duration::ZERO, now);
        assert!(!growth.begins(1, now));
        assert_eq!(growth.appended(), 0);
    }
}
