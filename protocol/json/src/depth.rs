//! How deep a text nests.

use std::fmt;

use crate::string::string_end;

/// A text nests deeper than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooDeep {
    /// Offset in bytes of the first bracket that is one too many.
    pub at: usize,
}

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it nests too deep at byte {}", self.at)
    }
}

impl std::error::Error for TooDeep {}

/// Refuses a text that nests more than `limit` levels deep; everything else about it is left to the
/// parser.
///
/// # Errors
/// [`TooDeep`] with the place of the first bracket too many.
pub fn check_depth(text: &[u8], limit: usize) -> Result<(), TooDeep> {
    // Most texts have not as many brackets at all, and counting them is quick.
    if brackets(text) <= limit { Ok(()) } else { walk_depth(text, limit) }
}

/// How many brackets a text opens, in strings too.
fn brackets(text: &[u8]) -> usize {
    // Sums of bytes, for a processor adds many of them at one time.
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
