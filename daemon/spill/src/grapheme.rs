//! Finds where a text may be cut without splitting a grapheme cluster.

use unicode_segmentation::GraphemeCursor;

/// Bytes to either side of a position that are examined; a longer cluster is cut.
const REACH: usize = 256;

/// Returns the last border at or before `at`, which is between two chars.
#[must_use]
pub fn border_before(text: &str, at: usize) -> usize {
    let (from, part) = around(text, at);
    let mut cursor = GraphemeCursor::new(at - from, part.len(), true);
    match cursor.is_boundary(part, 0) {
        Ok(false) => match cursor.prev_boundary(part, 0) {
            Ok(Some(border)) if border > 0 || from == 0 => from + border,
            _ => at,
        },
        _ => at,
    }
}

/// Returns the first border at or after `at`, which is between two chars.
#[must_use]
pub fn border_behind(text: &str, at: usize) -> usize {
    let (from, part) = around(text, at);
    let mut cursor = GraphemeCursor::new(at - from, part.len(), true);
    match cursor.is_boundary(part, 0) {
        Ok(false) => match cursor.next_boundary(part, 0) {
            Ok(Some(border)) if border < part.len() || from + border == text.len() => from + border,
            _ => at,
        },
        _ => at,
    }
}

fn around(text: &str, at: usize) -> (usize, &str) {
    let from = text.floor_char_boundary(at.saturating_sub(REACH));
    (from, &text[from..text.ceil_char_boundary(at.saturating_add(REACH).min(text.len()))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_are_round_clusters_and_long_ones_are_cut() {
        let text = "ae\u{301}👨\u{200d}👩x\r\ny";
        for (at, before, behind) in [(0, 0, 0), (1, 1, 1), (2, 1, 4), (4, 4, 4), (8, 4, 15), (17, 16, 18), (19, 19, 19)]
        {
            assert_eq!((border_before(text, at), border_behind(text, at)), (before, behind), "{at}");
        }
        let long = format!("e{}", "\u{301}".repeat(1_000));
        assert_eq!((border_before(&long, 1_001), border_behind(&long, 1_001)), (1_001, 1_001));
        assert_eq!(border_before(&long, 3), 0);
    }
}
