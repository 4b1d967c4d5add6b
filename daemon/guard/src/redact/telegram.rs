//! Pass 5: tokens of Telegram bots, `123456789:AAF…`.

use memchr::memchr_iter;

use super::{Edit, HIDDEN, Shown, is_key_byte, run_end, run_start};

/// A bot's number has at least so many digits.
const LEAST_DIGITS: usize = 8;

/// The secret after the colon has at least so many letters.
const LEAST_SECRET: usize = 30;

pub(super) fn edits(text: &str, _: Shown) -> Vec<Edit> {
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
