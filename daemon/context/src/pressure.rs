//! How full the window is, and when that is worth a word.

/// The shares of the window, in percent, at which an agent is told.
pub const LEVELS: [u8; 4] = [65, 75, 85, 95];

/// Tokens as a share of the window: 1 is full, and more than 1 does not fit. 0 without a window.
#[expect(clippy::cast_precision_loss, reason = "a share for people; counts that models take are exact")]
pub fn pressure(tokens: u64, context_length: u64) -> f64 {
    match context_length {
        0 => 0.0,
        _ => tokens as f64 / context_length as f64,
    }
}

/// The highest of [`LEVELS`] that so many tokens reach; 0 below the first, and without a window.
pub fn level(tokens: u64, context_length: u64) -> u8 {
    let hundredths = u128::from(tokens) * 100;
    let reached = |level: &u8| context_length > 0 && hundredths >= u128::from(*level) * u128::from(context_length);
    LEVELS.into_iter().rev().find(reached).unwrap_or(0)
}

/// The sentence for a level that a prompt has reached.
pub(crate) fn warning(level: u8, tokens: u64, context_length: u64) -> String {
    format!("The context window has reached {level} %: the last prompt took {tokens} of {context_length} tokens.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_is_a_share_of_the_window() {
        for (tokens, window, expect) in
            [(0, 100, 0.0), (50, 100, 0.5), (100, 100, 1.0), (150, 100, 1.5), (5, 0, 0.0), (0, 0, 0.0)]
        {
            assert!((pressure(tokens, window) - expect).abs() < 1e-12, "{tokens} of {window}");
        }
    }

    #[test]
    fn a_level_begins_at_its_share_exactly() {
        for (tokens, window, expect) in [
            (0, 100, 0),
            (64, 100, 0),
            (65, 100, 65),
            (74, 100, 65),
            (75, 100, 75),
            (84, 100, 75),
            (85, 100, 85),
            (94, 100, 85),
            (95, 100, 95),
            (250, 100, 95),
            (129_999, 200_000, 0),
            (130_000, 200_000, 65),
            (1, 1, 95),
            (0, 1, 0),
            (5, 0, 0),
            (0, 0, 0),
            (u64::MAX, u64::MAX, 95),
            (u64::MAX, 1, 95),
            (u64::MAX / 2, u64::MAX, 0),
        ] {
            assert_eq!(level(tokens, window), expect, "{tokens} of {window}");
        }
    }
}
