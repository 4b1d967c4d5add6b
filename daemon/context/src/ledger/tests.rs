use proptest::prelude::*;

use super::*;

fn call(time: f64, input: u64, cache_read: u64, cache_write: u64) -> Call {
    Call { time, usage: Usage { input, cache_read, cache_write, output: 100, ..Usage::default() } }
}

fn change(time: f64, kind: Kind, added: u64, removed: u64) -> Change {
    Change { time, kind, added, removed }
}

/// Returns the sum of all lines of a kind.
fn sum(lines: &[Line], kind: Kind) -> f64 {
    lines.iter().filter(|line| line.kind == kind).map(|line| line.cost).sum()
}

#[track_caller]
fn assert_cost(calls: &[Call], changes: &[Change], kind: Kind, expected: f64) {
    let cost = sum(&lines(calls, changes), kind);
    assert!((cost - expected).abs() < 1e-6, "{cost} instead of {expected}");
}

#[test]
fn what_is_added_is_written_once_and_read_with_every_call_behind_it() {
    let cached = [call(1.0, 0, 0, 10_000), call(2.0, 0, 10_000, 500), call(3.0, 0, 10_500, 500)];
    let context = |time| [change(time, Kind::Context, 1_000, 0)];
    assert_cost(&cached, &context(0.0), Kind::Context, 1_250.0 + 100.0 + 100.0);
    assert_cost(&cached, &context(1.0), Kind::Context, 1_250.0 + 100.0 + 100.0);
    assert_cost(&cached, &context(2.5), Kind::Context, 1_250.0);
    assert_cost(&cached, &context(9.0), Kind::Context, 0.0);
    // Without a cache each call sends it as plain input.
    let plain = [call(1.0, 10_000, 0, 0), call(2.0, 10_500, 0, 0)];
    assert_cost(&plain, &context(0.0), Kind::Context, 2_000.0);
    // Half of the prompt was in the cache.
    let half = [call(1.0, 0, 0, 10_000), call(2.0, 6_000, 5_000, 0)];
    assert_cost(&half, &context(0.0), Kind::Context, 1_250.0 + 50.0 + 500.0);
    // Without usage the price is that of plain input.
    assert_cost(&[call(1.0, 0, 0, 0)], &context(0.0), Kind::Context, 1_000.0);
}

#[test]
fn an_output_saves_what_the_client_would_show() {
    let calls = [call(1.0, 0, 9_000, 1_000), call(2.0, 0, 10_000, 1_000)];
    assert_cost(&calls, &[change(0.5, Kind::Output, 500, 10_500)], Kind::Output, -12_500.0 - 1_000.0);
    assert_cost(&calls, &[change(0.5, Kind::Output, 700, 500)], Kind::Output, 250.0 + 20.0);
}

#[test]
fn a_compaction_ends_what_stood_in_the_window_and_spares_a_request() {
    let calls = [call(1.0, 0, 50_000, 40_000), call(2.0, 0, 10_000, 9_000), call(3.0, 0, 19_000, 100)];
    let changes = [
        change(0.5, Kind::Definitions, 400, 0),
        change(0.5, Kind::Context, 1_000, 0),
        change(1.5, Kind::Compaction, 8_000, 2_000),
    ];
    assert_cost(&calls, &changes, Kind::Context, 1_250.0);
    assert_cost(&calls, &changes, Kind::Definitions, 500.0 + 40.0 + 40.0);
    assert_cost(&calls, &changes, Kind::Compaction, 6_000.0 * (1.25 + 0.1));
    assert_cost(&calls, &changes, Kind::Summary, -(90_100.0 * 0.1 + 1_600.0 * 1.25 + 2_000.0 * 5.0));
    // A second compaction without a call in between saves no second request.
    let twice = [changes[2], change(1.6, Kind::Compaction, 8_000, 2_000)];
    assert_cost(&calls, &twice, Kind::Summary, -(90_100.0 * 0.1 + 1_600.0 * 1.25 + 2_000.0 * 5.0));
    assert_cost(&calls, &twice, Kind::Compaction, 6_000.0 * (1.25 + 0.1));
}

#[test]
fn a_handover_spares_a_request_that_reads_nothing_from_the_cache() {
    let calls = [call(1.0, 40_000, 50_000, 0), call(2.0, 9_000, 10_000, 0)];
    let changes = [change(1.5, Kind::Handover, 8_000, 2_000)];
    assert_cost(&calls, &changes, Kind::Handover, 6_000.0);
    assert_cost(&calls, &changes, Kind::Summary, -(90_100.0 + 1_600.0 + 2_000.0 * 5.0));
}

#[test]
fn a_clients_own_compaction_costs_what_herma_told_it() {
    let calls = [call(1.0, 0, 50_000, 40_000), call(2.0, 0, 10_000, 9_000)];
    let changes = [change(0.5, Kind::Context, 1_000, 0), change(1.5, Kind::Summary, 200, 0)];
    assert_cost(&calls, &changes, Kind::Summary, 250.0);
    assert_cost(&calls, &changes, Kind::Context, 1_250.0);
}

#[test]
fn each_change_is_in_one_line_with_the_call_behind_it() {
    let calls = [call(1.0, 10, 0, 0), call(2.0, 10, 0, 0)];
    let changes = [change(0.0, Kind::Context, 1, 0), change(1.5, Kind::Tool, 2, 0), change(5.0, Kind::Output, 3, 9)];
    let found: Vec<_> =
        lines(&calls, &changes).into_iter().filter_map(|line| Some((line.change?, line.call))).collect();
    assert_eq!(found, [(changes[0], Some(0)), (changes[1], Some(1)), (changes[2], None)]);
}

fn any_usage() -> impl Strategy<Value = Usage> {
    let tokens = || prop_oneof![0_u64..200_000, Just(crate::usage::MAX_TOKENS)];
    (tokens(), tokens(), tokens(), tokens()).prop_map(|(input, output, cache_read, cache_write)| Usage {
        input,
        output,
        cache_read,
        cache_write,
        ..Usage::default()
    })
}

fn any_changes() -> impl Strategy<Value = Vec<Change>> {
    let kind = proptest::sample::select(Kind::ALL.to_vec());
    let change = (0_u32..50, kind, 0_u64..50_000, 0_u64..50_000).prop_map(|(time, kind, added, removed)| Change {
        time: f64::from(time),
        kind,
        added,
        removed,
    });
    proptest::collection::vec(change, 0..20).prop_map(|mut changes| {
        changes.sort_by(|one, other| one.time.total_cmp(&other.time));
        changes
    })
}

proptest! {
    #[test]
    fn no_change_is_lost_and_no_cost_is_out_of_bounds(
        usages in proptest::collection::vec(any_usage(), 0..30),
        changes in any_changes(),
    ) {
        let calls: Vec<Call> =
            usages.iter().zip(0_u32..).map(|(usage, at)| Call { time: f64::from(2 * at), usage: *usage }).collect();
        let lines = lines(&calls, &changes);
        prop_assert_eq!(lines.iter().filter_map(|line| line.change).collect::<Vec<_>>(), changes.clone());
        prop_assert!(lines.iter().all(|line| line.cost.is_finite()));
        prop_assert!(lines.iter().all(|line| line.call.is_none_or(|call| call < calls.len())));
        // Added text costs at most a cache write in each later call, and at least a cache read.
        for (at, change) in changes.iter().enumerate().filter(|(_, change)| !change.kind.begins_window()) {
            let behind = calls.iter().filter(|call| call.time >= change.time).count();
            let alone = super::lines(&calls, &changes[at..=at]);
            let cost: f64 = alone.iter().map(|line| line.cost).sum();
            let (tokens, calls) = (change.tokens().abs(), f64::from(u32::try_from(behind).unwrap()));
            prop_assert!(cost.abs() <= tokens * calls * WRITE + 1e-6);
            prop_assert!(cost.abs() >= tokens * calls * READ - 1e-6);
        }
    }
}
