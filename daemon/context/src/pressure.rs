//! How full the window is, and the levels at which to report it.

/// The shares of the window, in percent, at which an agent is warned.
pub const LEVELS: [u8; 4] = [65, 75, 85, 95];

/// Returns tokens as a share of the window: 1 is full, more than 1 does not fit. Returns 0 without a window.
#[expect(clippy::cast_precision_loss, reason = "a share for people; counts that models take are exact")]
pub fn pressure(tokens: u64, context_length: u64) -> f64 {
    match context_length {
        0 => 0.0,
        _ => tokens as f64 / context_length as f64,
    }
}

/// Returns the highest of [`LEVELS`] that so many tokens reach; 0 below the first, and without a window.
pub fn level(tokens: u64, context_length: u64) -> u8 {
    let reached = |level: &u8| reaches(tokens, *level, context_length);
    LEVELS.into_iter().rev().find(reached).unwrap_or(0)
}

/// The share of the threshold, in percent, above which a compression is near.
pub const NEAR_THRESHOLD: u8 = 85;

/// The share of the window, in percent, at which a gateway compresses before the next message,
/// whatever the threshold.
pub const HYGIENE_SHARE: u8 = 85;
/// The default number of messages at which it compresses too.
pub const HYGIENE_MESSAGES: usize = 400;
/// With fewer messages it never compresses, because there is nothing to replace.
pub const HYGIENE_MIN_MESSAGES: usize = 4;
/// The share of the window, in percent, above which a person is warned that a compression did not help.
pub const STILL_FULL: u8 = 95;

/// Why a gateway compresses before the next message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The window is nearly full.
    Tokens,
    /// The list is long.
    Messages,
}

/// Whether so many tokens are at least a [`NEAR_THRESHOLD`] share of the threshold; never without a
/// threshold.
pub fn is_near(tokens: u64, threshold_tokens: u64) -> bool {
    reaches(tokens, NEAR_THRESHOLD, threshold_tokens)
}

/// Returns why a gateway should compress a list of this size before it accepts the next message: the window
/// is nearly full, or else the list has `most` messages or more.
pub fn hygiene(tokens: u64, messages: usize, window: u64, most: usize) -> Option<Reason> {
    match messages {
        0..HYGIENE_MIN_MESSAGES => None,
        _ if reaches(tokens, HYGIENE_SHARE, window) => Some(Reason::Tokens),
        _ if messages >= most => Some(Reason::Messages),
        _ => None,
    }
}

/// Whether the window is still so full after a compression that a person must be warned.
pub fn is_still_full(tokens: u64, window: u64) -> bool {
    reaches(tokens, STILL_FULL, window)
}

/// Whether so many tokens are at least `percent` of the whole; never if the whole is 0.
fn reaches(tokens: u64, percent: u8, whole: u64) -> bool {
    whole > 0 && u128::from(tokens) * 100 >= u128::from(percent) * u128::from(whole)
}

/// Returns the warning for a prompt near the threshold.
pub fn near_warning(tokens: u64, threshold_tokens: u64) -> String {
    format!("The next compression is near: {tokens} tokens, of {threshold_tokens} at which it comes.")
}

/// Returns the warning for a window that is nearly full after a compression.
pub fn still_full_warning(tokens: u64, window: u64) -> String {
    format!(
        "The window is still nearly full after the compression: {tokens} of {window} tokens. A new session, or a model with a larger window, would help."
    )
}

/// Returns the warning for a level that a prompt has reached.
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

    #[test]
    fn a_gateway_compresses_what_is_full_or_long() {
        for (tokens, messages, window, expect) in [
            (0, 0, 1_000, None),
            (849, 399, 1_000, None),
            (850, 399, 1_000, Some(Reason::Tokens)),
            (850, 400, 1_000, Some(Reason::Tokens)),
            (849, 400, 1_000, Some(Reason::Messages)),
            (0, usize::MAX, 1_000, Some(Reason::Messages)),
            (5_000, 3, 1_000, None),
            (5_000, 4, 1_000, Some(Reason::Tokens)),
            (5_000, 4, 0, None),
            (5_000, 400, 0, Some(Reason::Messages)),
            (u64::MAX, 4, u64::MAX, Some(Reason::Tokens)),
        ] {
            assert_eq!(hygiene(tokens, messages, window, HYGIENE_MESSAGES), expect, "{tokens} {messages} {window}");
        }
    }

    #[test]
    fn shares_begin_exactly() {
        for (tokens, whole, near, full) in [
            (0, 0, false, false),
            (84, 100, false, false),
            (85, 100, true, false),
            (94, 100, true, false),
            (95, 100, true, true),
            (u64::MAX, 1, true, true),
            (u64::MAX, u64::MAX, true, true),
        ] {
            assert_eq!((is_near(tokens, whole), is_still_full(tokens, whole)), (near, full), "{tokens} of {whole}");
        }
        assert!(near_warning(85, 100).contains("85 tokens, of 100"));
        assert!(still_full_warning(96, 100).contains("96 of 100 tokens"));
    }
}
