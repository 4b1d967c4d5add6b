//! Pass 5: Telegram bot tokens, `123456789:AAF…`.

use memchr::memchr_iter;

use super::{Edit, HIDDEN, MaskStyle, is_key_byte, run_end, run_start};

/// The least number of digits in a bot's number.
const LEAST_DIGITS: usize = 8;

/// The least number of letters in the secret after the colon.
const LEAST_SECRET: usize = 30;

pub(super) fn edits(text: &str, _: MaskStyle) -> Vec<Edit> {
    memchr_iter(b':', text.as_bytes())
        .filter_map(|colon| {
            let digits = colon - run_start(text, colon, |byte| byte.is_ascii_digit());
            if digits < LEAST_DIGITS {
                return None;
            }
            let secret = colon + 1..run_end(text, colon + 1, is_key_byte);
            (secret.len() >= LEAST_SECRET).then(|| Edit { range: secret, with: HIDDEN.to_owned() })
        })
        .collect()
}
