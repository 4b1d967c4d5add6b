//! Outputs that go: by time, with their session, one by one.

use super::*;

#[test]
fn a_machine_that_runs_some_hours_a_day_leaves_the_doubt_about_its_clock() {
    let home = Home::new();
    let (hour, limits) = (3_600.0, Retention { ttl_seconds: 100.0, quota_bytes: u64::MAX });
    let (outputs, _) = home.open();
    keep(&outputs, "s", "1", "text");
    drop(outputs);
    let day = |start: f64, hours: f64| {
        let (outputs, _) = home.open();
        let last_seen = outputs.last_seen();
        let wall = start + hours * hour;
        let clock = Clock { wall, started_wall: start, monotonic_since_start: hours * hour, last_seen };
        outputs.collect(|_| SessionState::Unknown, limits, clock, false).unwrap().expired.len()
    };
    assert_eq!(day(NOW - 60.0, 0.01), 0);
    // Three days off, then eight hours a day.
    let monday = NOW + 72.0 * hour;
    let days: Vec<usize> = (0..3).map(|number| day(monday + f64::from(number) * 24.0 * hour, 8.0)).collect();
    assert_eq!(days, [0, 0, 1]);
}
