use super::*;

const LIMITS: Limits = Limits { window: 100_000, max_per_hour: 6, min_new_text: 0.02 };

/// Returns a breaker that opened at 1,000 s with 60,000 tokens.
fn open() -> Breaker {
    let mut breaker = Breaker::default();
    breaker.note_run(5.0, 60_000, 500.0);
    breaker.note_run(9.9, 60_000, 1_000.0);
    breaker
}

#[test]
fn it_opens_after_two_weak_runs_in_a_row() {
    for (runs, state) in [
        (&[5.0][..], "closed"),
        (&[5.0, 10.0], "closed"),
        (&[5.0, 40.0, 5.0], "closed"),
        (&[5.0, 9.9], "open"),
        (&[-20.0, f64::NAN], "open"),
        (&[5.0, 5.0, 5.0], "open"),
        (&[5.0, 5.0, 50.0], "closed"),
    ] {
        let mut breaker = Breaker::default();
        runs.iter().for_each(|&pct| breaker.note_run(pct, 60_000, 1_000.0));
        assert_eq!(breaker.state(&LIMITS, 60_000, 1_000.0).name(), state, "{runs:?}");
    }
}

#[test]
fn a_run_that_found_nothing_opens_it_at_once() {
    let mut breaker = Breaker::default();
    breaker.note_nothing(60_000, 1_000.0);
    assert_eq!(breaker.state(&LIMITS, 60_000, 1_000.0), State::Open);
    assert_eq!(breaker.verdict(&LIMITS, 60_000, 1_000.0), Verdict::BreakerOpen { wait_s: 600.0 });
    assert_eq!((breaker.runs.len(), breaker.tokens_after_last_run), (0, None));
    breaker.note_run(3.0, 60_000, 1_700.0);
    assert_eq!(breaker.state(&LIMITS, 60_000, 1_700.0), State::Open, "a weak run opens it again");
}

#[test]
fn a_window_that_overflows_waits_for_less() {
    let mut breaker = Breaker::default();
    breaker.note_nothing(94_000, 1_000.0);
    for (tokens, state) in
        [(94_000, State::Open), (95_999, State::Open), (96_000, State::HalfOpen), (104_000, State::HalfOpen)]
    {
        assert_eq!(breaker.state(&LIMITS, tokens, 1_000.0), state, "{tokens}");
    }
    breaker.note_nothing(60_000, 1_000.0);
    assert_eq!(breaker.state(&LIMITS, 62_000, 1_000.0), State::Open, "there is room yet");
}

#[test]
fn growth_or_time_lets_one_run_through() {
    for (tokens, now, state, wait_s) in [
        (60_000, 1_000.0, State::Open, 600.0),
        (69_999, 1_599.0, State::Open, 1.0),
        (70_000, 1_000.0, State::HalfOpen, 600.0),
        (60_000, 1_600.0, State::HalfOpen, 0.0),
        (0, 9e9, State::HalfOpen, 0.0),
        (60_000, 10.0, State::HalfOpen, 0.0),
        (60_000, f64::NAN, State::HalfOpen, 0.0),
    ] {
        let breaker = open();
        assert_eq!(breaker.state(&LIMITS, tokens, now), state, "{tokens} at {now}");
        assert!((breaker.wait_s(now) - wait_s).abs() < 1e-9, "{tokens} at {now}");
        let verdict = breaker.verdict(&LIMITS, tokens, now);
        assert_eq!(verdict == Verdict::BreakerOpen { wait_s }, state == State::Open, "{verdict:?}");
    }
    let unknown = Limits::of_window(0);
    assert_eq!(open().state(&unknown, 500_000, 1_000.0), State::Open, "without a window only time counts");
}

#[test]
fn the_run_that_was_let_through_decides() {
    let mut breaker = open();
    breaker.note_run(3.0, 69_000, 1_700.0);
    assert_eq!(breaker.verdict(&LIMITS, 75_000, 1_800.0), Verdict::BreakerOpen { wait_s: 500.0 });
    breaker.note_run(30.0, 40_000, 2_400.0);
    assert_eq!((breaker.opened_at, breaker.weak_runs), (None, 0));
    assert_eq!(breaker.verdict(&LIMITS, 75_000, 2_400.0), Verdict::Allowed);
}

#[test]
fn an_hour_has_room_for_so_many_runs() {
    let mut breaker = Breaker::default();
    for run in 0..6 {
        assert_eq!(breaker.verdict(&LIMITS, 75_000, f64::from(run) * 100.0), Verdict::Allowed, "{run}");
        breaker.note_run(50.0, 40_000, f64::from(run) * 100.0);
    }
    for (max_per_hour, now, wait_s) in [
        (6, 600.0, 3_000.0),
        (6, 3_599.0, 1.0),
        (6, 3_600.0, 0.0),
        (5, 600.0, 3_100.0),
        (1, 600.0, 3_500.0),
        (7, 600.0, 0.0),
        (0, 600.0, 0.0),
        (6, -1.0, 0.0),
        (6, 1e12, 0.0),
    ] {
        let limits = Limits { max_per_hour, ..LIMITS };
        let verdict = breaker.verdict(&limits, 99_000, now);
        let expect = if wait_s > 0.0 { Verdict::RateLimited { wait_s, missing_tokens: 0 } } else { Verdict::Allowed };
        assert_eq!(verdict, expect, "{max_per_hour} an hour at {now}");
    }
}

#[test]
fn two_runs_have_new_text_between_them_unless_the_window_overflows() {
    let mut breaker = Breaker::default();
    breaker.note_run(50.0, 94_000, 0.0);
    for (window, tokens, missing_tokens) in [
        (100_000, 94_000, 2_000),
        (100_000, 94_999, 1_001),
        (100_000, 95_000, 0),
        (100_000, 90_000, 2_000),
        (200_000, 97_999, 1),
        (200_000, 98_000, 0),
        (0, 94_000, 0),
    ] {
        let verdict = breaker.verdict(&Limits { window, ..LIMITS }, tokens, 1.0);
        let expect =
            if missing_tokens > 0 { Verdict::RateLimited { wait_s: 0.0, missing_tokens } } else { Verdict::Allowed };
        assert_eq!(verdict, expect, "{tokens} of {window}");
    }
}

#[test]
fn it_remembers_no_more_than_it_needs_and_survives_a_restart() {
    let mut breaker = Breaker::default();
    for second in 0..3_000 {
        breaker.note_run(50.0, 1, f64::from(second));
    }
    assert_eq!((breaker.runs.len(), breaker.runs[0]), (RUNS_KEPT, 2_000.0));
    breaker.note_run(50.0, 1, 50.0);
    assert_eq!(breaker.runs, [50.0], "runs of a future that the clock left again are forgotten");
    let text = serde_json::to_string(&open()).unwrap();
    assert_eq!(serde_json::from_str::<Breaker>(&text).unwrap(), open());
    assert_eq!(serde_json::from_str::<Breaker>(r#"{"weak_runs": 1, "later": true}"#).unwrap().weak_runs, 1);
}

proptest::proptest! {
    /// After any records at any times, a session that waits for the returned time may run.
    #[test]
    fn waiting_helps(
        notes in proptest::collection::vec((-50.0..90.0_f64, 0..200_000_u64, -1e4..1e4_f64), 0..40),
        now in -1e4..1e4_f64,
    ) {
        let mut breaker = Breaker::default();
        for (pct, tokens, at) in notes {
            breaker.note_run(pct, tokens, at);
        }
        let mut now = now;
        for _ in 0..3 {
            match breaker.verdict(&LIMITS, 99_000, now) {
                Verdict::Allowed => {}
                Verdict::BreakerOpen { wait_s } => {
                    proptest::prop_assert!(wait_s > 0.0 && wait_s <= REOPEN_S);
                    now += wait_s + 1e-6;
                }
                Verdict::RateLimited { wait_s, .. } => {
                    proptest::prop_assert!(wait_s > 0.0 && wait_s <= RATE_S);
                    now += wait_s + 1e-6;
                }
            }
        }
        proptest::prop_assert_eq!(breaker.verdict(&LIMITS, 99_000, now), Verdict::Allowed);
    }
}
