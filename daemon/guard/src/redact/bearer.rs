//! Pass 4: the token of an `Authorization: Bearer` header.

use super::{Edit, MaskStyle};

/// Quotes that may surround the header's name and value in source code or JSON.
const QUOTES: [char; 3] = ['"', '\'', '`'];

/// The header's name.
const NAME: &str = "authorization";
/// The position in [`NAME`] of the letter that is rare in any text.
const RARE: usize = 7;

pub(super) fn edits(text: &str, shown: MaskStyle) -> Vec<Edit> {
    let rare = memchr::memchr2_iter(b'z', b'Z', text.as_bytes());
    rare.filter_map(|at| token(text, name_end(text, at)?, shown)).collect()
}

/// Returns the end of the header's name, if its rare letter is at this position.
fn name_end(text: &str, rare: usize) -> Option<usize> {
    let start = rare.checked_sub(RARE)?;
    let end = start + NAME.len();
    text.get(start..end)?.eq_ignore_ascii_case(NAME).then_some(end)
}

/// Returns the edit for the token of the header whose name ends at `from`.
fn token(text: &str, from: usize, shown: MaskStyle) -> Option<Edit> {
    let rest = &text[from..];
    let rest = rest.strip_prefix(QUOTES).unwrap_or(rest);
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let rest = rest.strip_prefix(QUOTES).unwrap_or(rest);
    let (scheme, rest) = rest.split_at_checked("bearer".len())?;
    let credentials = rest.trim_start();
    if !scheme.eq_ignore_ascii_case("bearer") || credentials.len() == rest.len() {
        return None;
    }
    let token = credentials.split(|c: char| c.is_whitespace() || QUOTES.contains(&c)).next()?;
    let start = text.len() - credentials.len();
    (!token.is_empty()).then(|| Edit { range: start..start + token.len(), with: shown.of(token) })
}
