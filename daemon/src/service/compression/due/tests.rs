#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::*;
use crate::data::config::Config;

const NOW: f64 = 1_000_000.0;
const CHAIN: [Kind; 1] = [Kind::OpenAi];

fn config() -> ContextConfig {
    Config::default().context
}

fn settings() -> Settings {
    Settings::of_window(200_000).unwrap()
}

fn decided(kept: &mut EngineRecord, prompt: Prompt) -> (bool, Reason, f64) {
    let due = due(&config(), &settings(), &CHAIN, kept, prompt, NOW);
    (due.compress, due.reason, due.wait_s)
}

fn estimated(tokens: u64) -> Prompt {
    Prompt::Estimated { tokens, rough: tokens, has_content: true, messages: 9 }
}

#[test]
fn the_threshold_decides_where_nothing_holds_back() {
    for (prompt, compress, reason) in [
        (Prompt::Unknown, false, Reason::BelowThreshold),
        (Prompt::Counted(99_999), false, Reason::BelowThreshold),
        (Prompt::Counted(100_000), true, Reason::OverThreshold),
        (estimated(100_000), true, Reason::OverThreshold),
        (
            Prompt::Estimated { tokens: 100_000, rough: 1, has_content: false, messages: 9 },
            false,
            Reason::NothingToCompress,
        ),
    ] {
        assert_eq!(decided(&mut EngineRecord::default(), prompt), (compress, reason, 0.0), "{prompt:?}");
    }
}

#[test]
fn a_long_list_is_due_only_where_that_is_configured() {
    let of = |messages| Prompt::Estimated { tokens: 10, rough: 10, has_content: true, messages };
    let gateway = ContextConfig { hygiene_messages: 400, threshold: 1.0, ..config() };
    let nearly_full = Prompt::Estimated { tokens: 170_000, rough: 1, has_content: true, messages: 4 };
    for (config, prompt, compress) in [
        (config(), of(10_000), false),
        (gateway, of(399), false),
        (gateway, of(400), true),
        (gateway, nearly_full, true),
        (gateway, Prompt::Counted(10), false),
    ] {
        let whole = Settings { threshold: config.threshold, ..settings() };
        let due = due(&config, &whole, &CHAIN, &mut EngineRecord::default(), prompt, NOW);
        assert_eq!(due.compress, compress, "{prompt:?}");
    }
}

#[test]
fn each_reason_to_wait_is_told_with_its_time() {
    let mut weak = EngineRecord::default();
    weak.breaker.note_nothing(100_000, NOW);
    weak.breaker.note_nothing(100_000, NOW);
    let mut frequent = EngineRecord::default();
    for run in 0..6 {
        frequent.breaker.note_run(50.0, 10_000, NOW - 600.0 + f64::from(run));
    }
    let mut failed = EngineRecord::default();
    failed.cooldowns.start("openai", 60, NOW);
    for (mut kept, reason, wait_s) in
        [(weak, Reason::BreakerOpen, 600.0), (frequent, Reason::RateLimited, 3000.0), (failed, Reason::Cooldown, 60.0)]
    {
        assert_eq!(decided(&mut kept, Prompt::Counted(110_000)), (false, reason, wait_s));
        assert_eq!(decided(&mut kept, Prompt::Counted(10)), (false, Reason::BelowThreshold, 0.0));
        let overflows = decided(&mut kept, Prompt::Counted(195_000));
        assert!(overflows.0 || reason == Reason::BreakerOpen, "{overflows:?}");
        let off = ContextConfig { enabled: false, ..config() };
        let due = due(&off, &settings(), &CHAIN, &mut kept, Prompt::Counted(10), NOW);
        assert_eq!((due.compress, due.reason), (false, Reason::Disabled));
    }
}

#[test]
fn a_cooldown_holds_back_only_while_nobody_can_write_and_the_window_holds() {
    let mut kept = EngineRecord::default();
    kept.cooldowns.start("openai", 60, NOW);
    assert_eq!(decided(&mut kept, Prompt::Counted(191_000)).1, Reason::OverThreshold);
    let chain = [Kind::OpenAi, Kind::Extractive];
    let due = due(&config(), &settings(), &chain, &mut kept, Prompt::Counted(110_000), NOW);
    assert!(due.compress);
}

#[test]
fn an_estimate_waits_for_the_provider_s_own_count() {
    let mut kept = EngineRecord::default();
    kept.engine.last_real_prompt_tokens = 90_000;
    kept.engine.last_rough_tokens_when_real_prompt_fit = 101_000;
    let due = due(&config(), &settings(), &CHAIN, &mut kept, estimated(103_000), NOW);
    assert_eq!((due.compress, due.defer, due.reason), (false, true, Reason::OverThreshold));
    assert_eq!(kept.engine.last_rough_tokens_when_real_prompt_fit, 103_000);
}

#[test]
fn a_list_that_overflows_and_can_become_smaller_is_not_held_back_by_the_breaker() {
    let of = |tokens, has_content| Prompt::Estimated { tokens, rough: tokens, has_content, messages: 9 };
    for (prompt, reason) in [
        (of(120_000, true), Reason::BreakerOpen),
        (of(120_000, false), Reason::NothingToCompress),
        (of(190_000, true), Reason::OverThreshold),
        (of(190_000, false), Reason::NothingToCompress),
        (Prompt::Counted(190_000), Reason::BreakerOpen),
        (Prompt::Counted(194_000), Reason::OverThreshold),
    ] {
        let mut kept = EngineRecord::default();
        kept.breaker.note_nothing(190_000, NOW);
        assert_eq!(decided(&mut kept, prompt).1, reason, "{prompt:?}");
    }
}
