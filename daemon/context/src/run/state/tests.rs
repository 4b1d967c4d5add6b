use super::*;
use crate::savings::savings_pct;

/// A window of 128,000 tokens, with a threshold of 64,000.
fn settings() -> Settings {
    Settings::of_window(128_000).unwrap()
}

fn usage(prompt: u64, output: u64) -> Usage {
    Usage { input: prompt, output, ..Usage::default() }
}

#[test]
fn usage_becomes_the_figures_of_the_last_call() {
    let mut state = EngineState::default();
    let cached =
        Usage { input: 1_000, output: 500, cache_read: 2_000, cache_write: 400, reasoning: 300, ..Usage::default() };
    state.record_usage(&cached, &settings());
    assert_eq!((state.last_prompt_tokens, state.last_completion_tokens, state.last_total_tokens), (3_400, 500, 3_900));
    assert_eq!(state.last_real_prompt_tokens, 3_400);
    state.record_usage(&usage(0, 7), &settings());
    assert_eq!((state.last_prompt_tokens, state.last_completion_tokens, state.last_total_tokens), (0, 7, 7));
    assert_eq!(state.last_real_prompt_tokens, 3_400);
}

#[test]
fn only_a_prompt_that_was_waited_for_tells_what_fits() {
    // The estimate before, the estimate of a compression if there was one, the next prompt, the estimate that
    // fits then.
    for (before, estimate, prompt, fit) in [
        (0, Some(70_000), 50_000, 70_000),
        (0, Some(70_000), 63_999, 70_000),
        (9_000, Some(70_000), 64_000, 0),
        (9_000, Some(0), 50_000, 9_000),
        (9_000, Some(70_000), 0, 9_000),
        (9_000, None, 50_000, 9_000),
        (9_000, None, 64_000, 0),
    ] {
        let mut state = EngineState { last_rough_tokens_when_real_prompt_fit: before, ..EngineState::default() };
        if let Some(estimate) = estimate {
            state.record_compression(estimate);
            assert!(state.awaiting_real_usage);
            assert_eq!(state.last_prompt_tokens, -1);
        }
        state.record_usage(&usage(prompt, 10), &settings());
        assert!(!state.awaiting_real_usage);
        assert_eq!(state.last_rough_tokens_when_real_prompt_fit, fit, "{estimate:?}, then {prompt}");
    }
}

#[test]
fn only_the_first_usage_after_a_compression_was_waited_for() {
    let mut state = EngineState::default();
    state.record_compression(70_000);
    state.record_usage(&usage(70_000, 0), &settings());
    state.record_usage(&usage(50_000, 0), &settings());
    assert_eq!(state.last_rough_tokens_when_real_prompt_fit, 0);
}

#[test]
fn a_rough_estimate_defers_to_a_real_one_that_fitted() {
    let mut state = EngineState::default();
    assert!(!state.defer_preflight(70_000, 64_000));
    state.record_compression(66_000);
    state.record_usage(&usage(50_000, 0), &settings());
    assert!(state.defer_preflight(70_096, 64_000));
    assert!(!state.defer_preflight(75_000, 64_000));
    assert!(!state.defer_preflight(63_999, 64_000));
}

#[test]
fn compression_is_due_from_the_threshold_on() {
    for (last, tokens, expect) in [
        (0, Some(64_000), true),
        (0, Some(63_999), false),
        (90_000, Some(10), false),
        (90_000, Some(0), false),
        (-1, Some(90_000), true),
        (64_000, None, true),
        (63_999, None, false),
        (0, None, false),
        (-1, None, false),
    ] {
        let state = EngineState { last_prompt_tokens: last, ..EngineState::default() };
        assert_eq!(state.should_compress(&settings(), tokens), expect, "{last}, {tokens:?}");
    }
}

#[test]
fn an_unknown_prompt_is_below_a_threshold_of_zero_too() {
    let tiny = Settings::of_window(1).unwrap();
    let mut state = EngineState::default();
    assert!(state.should_compress(&tiny, None));
    state.record_compression(5);
    assert!(!state.should_compress(&tiny, None));
}

#[test]
fn the_answer_of_a_model_does_not_count() {
    let mut state = EngineState::default();
    state.record_usage(&Usage { reasoning: 90_000, ..usage(60_000, 95_000) }, &settings());
    assert!(!state.should_compress(&settings(), None));
}

#[test]
fn two_weak_runs_stop_automatic_compression() {
    for (weak, expect) in [(0, true), (1, true), (2, false), (3, false)] {
        let mut state = EngineState { ineffective_count: weak, ..EngineState::default() };
        assert_eq!(state.should_compress(&settings(), Some(100_000)), expect, "{weak}");
        state.reset();
        assert!(state.should_compress(&settings(), Some(100_000)));
    }
}

#[test]
fn a_level_is_told_when_usage_rises_to_it() {
    let settings = Settings::of_window(1_000).unwrap();
    let mut state = EngineState::default();
    // One session, call by call: the prompt and the reported level.
    for (call, (prompt, described)) in [
        (100, None),
        (649, None),
        (650, Some(65)),
        (700, None),
        (880, Some(85)),
        (860, None),
        (950, Some(95)),
        (2_000, None),
        (0, None),
        (960, None),
        (660, None),
        (740, None),
        (750, Some(75)),
        (100, None),
        (700, Some(65)),
    ]
    .into_iter()
    .enumerate()
    {
        let warning = state.record_usage(&usage(prompt, 900), &settings);
        let expect = described.map(|level| {
            format!("The context window has reached {level} %: the last prompt took {prompt} of 1000 tokens.")
        });
        // In a window as small as this, some of the levels are near the threshold.
        let level = warning.and_then(|described| described.split(" The next").next().map(str::to_owned));
        assert_eq!(level.filter(|described| described.contains('%')), expect, "call {call}");
    }
}

#[test]
fn a_prompt_that_comes_near_the_threshold_is_told_once() {
    let mut state = EngineState::default();
    for (prompt, described) in
        [(54_399, false), (54_400, true), (60_000, false), (30_000, false), (63_999, true), (64_000, false)]
    {
        let warning = state.record_usage(&usage(prompt, 1), &settings());
        let expect = described.then(|| pressure::near_warning(prompt, 64_000));
        assert_eq!(warning, expect, "{prompt}");
    }
}

#[test]
fn a_level_falls_by_what_a_provider_reports_after_a_compression() {
    let settings = Settings::of_window(1_000).unwrap();
    let mut state = EngineState::default();
    assert!(state.record_usage(&usage(900, 0), &settings).is_some());
    state.record_compression(400);
    assert_eq!(state.record_usage(&usage(890, 0), &settings), None);
    assert_eq!(state.record_usage(&usage(300, 0), &settings), None);
    assert!(state.record_usage(&usage(900, 0), &settings).is_some());
    state.reset();
    assert!(state.record_usage(&usage(900, 0), &settings).is_some());
}

#[test]
fn a_smaller_window_raises_the_level() {
    let window = |tokens| Settings::of_window(tokens).unwrap();
    let mut state = EngineState::default();
    assert_eq!(state.record_usage(&usage(900, 0), &window(2_000)), None);
    let warning = state.record_usage(&usage(900, 0), &window(1_000)).unwrap();
    assert!(warning.contains("85 %"), "{warning}");
}

#[test]
fn the_percentage_shown_stays_between_nothing_and_all() {
    for (last, window, expect) in
        [(50, 200, 25.0), (300, 200, 100.0), (-1, 200, 0.0), (0, 200, 0.0), (50, 0, 0.0), (i64::MAX, 1, 100.0)]
    {
        let state = EngineState { last_prompt_tokens: last, ..EngineState::default() };
        assert!((state.usage_percent(window) - expect).abs() < 1e-9, "{last} of {window}");
    }
}

#[test]
fn a_run_leaves_what_calls_reported_meanwhile() {
    let run = EngineState {
        compression_count: 3,
        previous_summary: Some("body".into()),
        fallback: true,
        last_real_prompt_tokens: 5,
        ..EngineState::default()
    };
    let mut state = EngineState { last_real_prompt_tokens: 9, pressure_level: 65, ..EngineState::default() };
    state.take_run(run.clone());
    let expected = EngineState { last_real_prompt_tokens: 9, pressure_level: 65, ..run };
    assert_eq!(state, expected);
}

#[test]
fn a_kept_state_comes_back_and_other_versions_can_be_read() {
    let state = EngineState { last_prompt_tokens: -1, savings_pct: 12.5, ..EngineState::default() };
    let text = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<EngineState>(&text).unwrap(), state);
    let other: EngineState = serde_json::from_str(r#"{"compression_count": 2, "later": [1]}"#).unwrap();
    assert_eq!(other, EngineState { compression_count: 2, ..EngineState::default() });
}

#[test]
fn absent_figures_of_a_size_fall_through() {
    let mut state = EngineState::default();
    assert_eq!(state.size_before(Some(5), 9), 5);
    assert_eq!(state.size_before(Some(0), 9), 9);
    state.last_prompt_tokens = -1;
    assert_eq!(state.size_before(Some(-1), 9), 9);
    state.last_prompt_tokens = 7;
    assert_eq!(state.size_before(None, 9), 7);
}

#[test]
fn below_ten_percent_is_weak() {
    let mut state = EngineState::default();
    for (before, after, weak) in [(100, 91, 1), (100, 120, 2), (100, 90, 0), (0, 10, 1)] {
        state.note_savings(savings_pct(before, after));
        assert_eq!(state.ineffective_count, weak, "{before} to {after}");
    }
}
