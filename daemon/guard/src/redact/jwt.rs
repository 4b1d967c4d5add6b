//! Pass 8: JSON web tokens, `eyJ….….…`.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{Edit, MaskStyle, byte_before, disjoint, is_key_byte, run_end};

/// `{"` in base64, the start of every token's header.
pub(super) const OPENING: &str = "eyJ";

/// The least number of letters after [`OPENING`] in the first part.
const LEAST_HEADER: usize = 10;

/// The least number of letters in payload and signature.
const LEAST_PART: usize = 4;

/// The most parts after the header.
const MOST_PARTS: usize = 2;

static FINDER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(OPENING));

pub(super) fn edits(text: &str, shown: MaskStyle) -> Vec<Edit> {
    disjoint(FINDER.find_iter(text.as_bytes()), |start| {
        if byte_before(text, start).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let end = token_end(text, start + OPENING.len())?;
        Some(Edit { range: start..end, with: shown.of(&text[start..end]) })
    })
}

fn token_end(text: &str, from: usize) -> Option<usize> {
    let mut end = run_end(text, from, is_key_byte);
    if end - from < LEAST_HEADER {
        return None;
    }
    for _ in 0..MOST_PARTS {
        if text.as_bytes().get(end) != Some(&b'.') {
            break;
        }
        let next = run_end(text, end + 1, |byte| is_key_byte(byte) || byte == b'=');
        if next - (end + 1) < LEAST_PART {
            break;
        }
        end = next;
    }
    Some(end)
}
