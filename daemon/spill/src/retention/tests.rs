#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::clock::DAY;

const NOW: f64 = 1_790_000_000.0;

fn clock() -> Clock {
    Clock { wall: NOW, started_wall: NOW - 1_000.0, monotonic_since_start: 1_000.0, last_seen: Some(NOW - 2_000.0) }
}

fn state(session: &str) -> SessionState {
    match session.chars().next() {
        Some('o') => SessionState::Open,
        Some('c') => SessionState::Closed { ended_at: NOW - 500.0 },
        _ => SessionState::Unknown,
    }
}

fn output(number: u32, session: &'static str, bytes: u64, age: f64) -> Facts<'static> {
    let mut content = [0; 32];
    content[..4].copy_from_slice(&number.to_le_bytes());
    Facts { handle: Handle::of(&number.to_string()), session, bytes, content, created_at: NOW - age }
}

#[test]
fn outputs_expire_by_the_age_of_their_closed_or_unknown_session() {
    let never = u64::MAX;
    for (session, age, ttl, goes) in [
        ("open", 1e9, 1.0, false),
        ("closed", 1e9, 500.0, true),
        ("closed", 1e9, 501.0, false),
        ("closed", 100.0, 101.0, false),
        ("closed", 100.0, 99.0, true),
        ("unknown", 600.0, 600.0, true),
        ("unknown", 600.0, 601.0, false),
        ("unknown", -600.0, 1.0, false),
        ("unknown", 1.0, 0.0, true),
        ("unknown", 1e9, f64::INFINITY, false),
        ("unknown", 1e9, f64::NAN, false),
        ("unknown", f64::NAN, 1.0, false),
    ] {
        let limits = Retention { ttl_seconds: ttl, quota_bytes: never };
        let outputs = [output(1, session, 1, age)];
        assert_eq!(plan(&outputs, state, limits, clock()).len(), usize::from(goes), "{session} {age} {ttl}");
    }
}

#[test]
fn a_clock_that_jumps_expires_nothing_by_age() {
    let limits = Retention { ttl_seconds: 100_000.0, quota_bytes: u64::MAX };
    let outputs = [output(1, "unknown", 1, 10.0)];
    let jumped = Clock { wall: NOW + 1e7, ..clock() };
    let started_late = Clock { wall: NOW + 1e7, started_wall: NOW + 1e7 - 1_000.0, ..clock() };
    let up_for_long = Clock { started_wall: NOW + 1e7 - DAY, monotonic_since_start: DAY, ..started_late };
    for (clock, goes) in [(clock(), 0), (jumped, 0), (started_late, 0), (up_for_long, 1)] {
        assert_eq!(plan(&outputs, state, limits, clock).len(), goes, "{clock:?}");
    }
    assert!((started_late.seen() - (NOW - 1_000.0)).abs() < 1e-3);
    assert!((clock().seen() - NOW).abs() < 1e-3);
}

/// While the clock was in doubt, the noted time only advanced while a daemon ran, so a machine that is off at night
/// stayed in doubt for ever.
#[test]
fn the_doubt_ends_when_daemons_have_run_for_a_day_in_it() {
    let started_late = Clock { wall: NOW + 1e6, started_wall: NOW + 1e6 - 1_000.0, ..clock() };
    for (before, is_doubtful) in [(0.0, true), (DAY - 1_001.0, true), (DAY - 1_000.0, false)] {
        let clock = started_late.after_doubt(before);
        assert_eq!(clock.is_doubtful(), is_doubtful, "{before}");
        assert!(is_doubtful || (clock.seen() - clock.wall).abs() < 1e-3);
    }
    assert_eq!(clock().after_doubt(DAY), clock());
}

#[test]
fn over_the_quota_closed_sessions_go_first_and_the_newest_stays() {
    let outputs = [
        output(1, "open", 10, 900.0),
        output(2, "unknown", 10, 800.0),
        output(3, "closed", 10, 20.0),
        output(4, "closed", 10, 10.0),
        output(5, "open", 10, 90.0),
    ];
    for (quota, expected) in [(50, &[][..]), (49, &[3]), (30, &[3, 2]), (19, &[3, 2, 1, 5]), (0, &[3, 2, 1, 5])] {
        let limits = Retention { ttl_seconds: f64::INFINITY, quota_bytes: quota };
        let gone: Vec<_> = plan(&outputs, state, limits, clock()).into_iter().map(|(handle, _)| handle).collect();
        let expected: Vec<_> = expected.iter().map(|number: &u32| Handle::of(&number.to_string())).collect();
        assert_eq!(gone, expected, "{quota}");
    }
}

fn some_outputs() -> impl Strategy<Value = Vec<Facts<'static>>> {
    let session = prop::sample::select(vec!["open", "closed", "unknown"]);
    prop::collection::vec((session, 0..6_u32, -50.0..2_000.0_f64), 0..30).prop_map(|all| {
        let made = all.into_iter().zip(0..).map(|((session, content, age), number)| {
            let bytes = u64::from(content * 10);
            Facts { content: output(content, session, 0, 0.0).content, ..output(number, session, bytes, age) }
        });
        made.collect()
    })
}

fn gone(plan: &[(Handle, Reason)]) -> HashSet<Handle> {
    plan.iter().map(|(handle, _)| *handle).collect()
}

proptest! {
    #[test]
    fn the_rest_fits_and_open_sessions_come_last(
        outputs in some_outputs(), quota in 0..300_u64, more in 0..100_u64, ttl in 0.0..2_000.0_f64,
    ) {
        let limits = Retention { ttl_seconds: ttl, quota_bytes: quota };
        let expired = gone(&plan(&outputs, state, limits, clock()));
        let left: Vec<_> = outputs.iter().filter(|output| !expired.contains(&output.handle)).cloned().collect();
        let contents: HashSet<_> = left.iter().map(|output| (output.content, output.bytes)).collect();
        let total: u64 = contents.iter().map(|(_, bytes)| bytes).sum();
        prop_assert!(total <= quota || left.len() == 1, "{total} > {quota}");
        let of_open = |output: &&Facts<'_>| output.session == "open";
        if outputs.iter().filter(of_open).any(|output| expired.contains(&output.handle)) {
            prop_assert!(left.iter().all(|output| output.session == "open" || left.iter().all(|other| other.created_at <= output.created_at)));
        }
        prop_assert!(plan(&left, state, limits, clock()).is_empty());
        let larger = Retention { quota_bytes: quota + more, ..limits };
        prop_assert!(gone(&plan(&outputs, state, larger, clock())).is_subset(&expired));
    }

    #[test]
    fn a_clock_that_goes_back_expires_nothing_new(outputs in some_outputs(), back in 0.0..1e7_f64, ttl in 0.0..2_000.0_f64) {
        let limits = Retention { ttl_seconds: ttl, quota_bytes: u64::MAX };
        let before = gone(&plan(&outputs, state, limits, clock()));
        let later = Clock { wall: NOW - back, ..clock() };
        let after = gone(&plan(&outputs, state, limits, later));
        prop_assert!(ttl == 0.0 || after.is_subset(&before));
    }
}
