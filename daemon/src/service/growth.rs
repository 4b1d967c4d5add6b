//! The growth of a session's transcript, and the decision when to begin its compression in advance.

use std::time::{Duration, Instant};

/// The size of new messages after which the transcript's size is checked, in bytes.
const LOOK_BYTES: u64 = 16 << 10;

/// The pause after a run in advance, as a multiple of its duration.
const REST: u32 = 10;

/// The largest number of runs in advance per generation. If none of them was used, the session is not compressed here,
/// and more runs would be wasted.
const MOST_RUNS: u32 = 8;

/// The known growth of a transcript. Only appends since the start of the daemon count.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    generation: u64,
    /// The size of messages since the last check, in bytes. Some may have been there before.
    unseen: u64,
    /// The size of all appends so far, in bytes.
    appended: u64,
    /// The number of appends in progress.
    under_way: usize,
    /// The value of `appended` when the last run began.
    begun: Option<u64>,
    /// The number of runs.
    runs: u32,
    /// Whether a run is in progress.
    is_running: bool,
    /// The time before which no other run begins.
    rests_until: Option<Instant>,
    /// Whether a task watches for the end of the growth.
    is_watched: bool,
}

/// Whether a transcript grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// An append is in progress or happened since the given size, or a run is in progress.
    Busy,
    /// No append happened. The next run may begin after this time.
    Calm { rest: Duration },
}

impl Growth {
    /// Notes the begin of an append.
    pub(crate) fn begin_append(&mut self) {
        self.under_way += 1;
    }

    /// Notes the end of an append, successful or not.
    pub(crate) fn end_append(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
    }

    /// Notes appended messages. Returns true if they need a check and no task watches yet; from then on one does.
    pub(crate) fn append(&mut self, generation: u64, bytes: u64) -> bool {
        self.come_to(generation);
        self.unseen = self.unseen.saturating_add(bytes);
        self.appended = self.appended.saturating_add(bytes);
        self.unseen >= LOOK_BYTES && self.runs < MOST_RUNS && !std::mem::replace(&mut self.is_watched, true)
    }

    /// Returns the size of the appends in this generation, in bytes.
    pub(crate) const fn appended(&self) -> u64 {
        self.appended
    }

    /// Returns whether the transcript grew since it had this size.
    pub(crate) fn pace(&self, appended: u64, now: Instant) -> Pace {
        if self.appended != appended || self.under_way > 0 || self.is_running {
            return Pace::Busy;
        }
        Pace::Calm { rest: self.rest(now) }
    }

    /// Notes that the watching task has checked the size and ended.
    pub(crate) const fn looked(&mut self) {
        self.unseen = 0;
        self.is_watched = false;
    }

    /// Whether to begin a run. There must be none in progress, the list must have grown since the last run, and neither
    /// the limit of runs nor the pause may apply. If true, a run is in progress until [`Self::ended`].
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

    /// Notes the end of a run and its duration. The next one waits, so that all of them use little processor time.
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
