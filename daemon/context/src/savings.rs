//! How much a run saved, and whether that was worth it.

use crate::EngineState;

/// Savings in percent below which a run counts as weak (C28).
pub(crate) const WEAK_PCT: f64 = 10.0;

/// Saved tokens as a percentage of those before; 0 if nothing was known of those.
#[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
pub fn savings_pct(before: u64, after: u64) -> f64 {
    match before {
        0 => 0.0,
        _ => (before as f64 - after as f64) / before as f64 * 100.0,
    }
}

/// The size before a run: the caller's figure, else the last prompt, else the estimate. Figures
/// of 0 and less are no figures.
pub fn size_before(current: Option<i64>, state: &EngineState, estimate: u64) -> u64 {
    current
        .filter(|&tokens| tokens > 0)
        .or(Some(state.last_prompt_tokens).filter(|&tokens| tokens > 0))
        .and_then(|tokens| u64::try_from(tokens).ok())
        .unwrap_or(estimate)
}

/// Counts a run that went through.
pub fn record(state: &mut EngineState, pct: f64) {
    state.savings_pct = pct;
    state.ineffective_count = match pct < WEAK_PCT {
        true => state.ineffective_count.saturating_add(1),
        false => 0,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_figures_fall_through() {
        let mut state = EngineState::default();
        assert_eq!(size_before(Some(5), &state, 9), 5);
        assert_eq!(size_before(Some(0), &state, 9), 9);
        state.last_prompt_tokens = -1;
        assert_eq!(size_before(Some(-1), &state, 9), 9);
        state.last_prompt_tokens = 7;
        assert_eq!(size_before(None, &state, 9), 7);
    }

    #[test]
    fn below_ten_percent_is_weak() {
        let mut state = EngineState::default();
        for (before, after, weak) in [(100, 91, 1), (100, 120, 2), (100, 90, 0), (0, 10, 1)] {
            record(&mut state, savings_pct(before, after));
            assert_eq!(state.ineffective_count, weak, "{before} to {after}");
        }
    }
}
