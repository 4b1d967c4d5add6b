//! Limit on the nesting depth of a text.

use std::fmt;

use crate::string::string_end;

/// The error for a text that nests too deep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooDeep {
    /// Offset in bytes of the first bracket beyond the limit.
    pub at: usize,
}

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it nests too deep at byte {}", self.at)
    }
}

impl std::error::Error for TooDeep {}

/// Refuses a text that nests more than `limit` levels deep. The parser checks everything else.
///
/// # Errors
/// [`TooDeep`] with the offset of the first bracket beyond the limit.
pub fn check_depth(text: &[u8], limit: usize) -> Result<(), TooDeep> {
    // Most texts have fewer brackets than the limit in total, and counting them is fast.
    if brackets(text) <= limit { Ok(()) } else { walk_depth(text, limit) }
}

/// Counts the opening brackets of a text, including those in strings.
fn brackets(text: &[u8]) -> usize {
    // Sums fit in a byte, so that the compiler can vectorize them.
    let opening = |byte: &u8| u8::from(matches!(byte, b'{' | b'['));
    text.chunks(usize::from(u8::MAX)).map(|part| usize::from(part.iter().map(opening).sum::<u8>())).sum()
}

fn walk_depth(text: &[u8], limit: usize) -> Result<(), TooDeep> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth > limit {
                    return Err(TooDeep { at });
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                at = string_end(text, at);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    Ok(())
}
