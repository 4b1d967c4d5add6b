//! Search for the end of a string.

use crate::search::next_quote_or_backslash;

/// Returns the first unescaped quote at or after `from`, which is inside a string but not within an escape.
pub fn closing_quote(bytes: &[u8], from: usize) -> Option<usize> {
    let quote = quote_or_end(bytes, from);
    (quote < bytes.len()).then_some(quote)
}

/// Returns the offset after the closing quote of the string that begins at `quote`, or the end of
/// the text if the string never closes.
pub fn string_end(bytes: &[u8], quote: usize) -> usize {
    bytes.len().min(quote_or_end(bytes, quote + 1) + 1)
}

fn quote_or_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at = next_quote_or_backslash(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return at,
            Some(_) => at += 2,
            None => return bytes.len(),
        }
    }
}
