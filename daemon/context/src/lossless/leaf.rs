//! Cuts a range of messages into leaves.

use std::ops::Range;

/// The approximate tokens of the messages that a leaf covers.
pub const LEAF_TOKENS: u64 = 20_000;

/// A message to cover.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// Its position in the list.
    pub at: usize,
    /// Its tokens.
    pub tokens: u64,
    /// Whether a leaf may begin with it: it does not answer an earlier message.
    pub begins: bool,
}

/// Cuts turns, which are in order, into ranges of positions with about equal tokens. A range is not much over
/// [`LEAF_TOKENS`] unless one message is. A result stays with its call.
pub(super) fn cut(turns: &[Turn]) -> Vec<Range<usize>> {
    let total: u64 = turns.iter().map(|turn| turn.tokens).sum();
    let aim = total.div_ceil(total.div_ceil(LEAF_TOKENS).max(1));
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut taken = 0;
    for turn in turns {
        let is_full = taken > 0 && taken + turn.tokens / 2 >= aim;
        match ranges.last_mut() {
            Some(last) if !(is_full && turn.begins) => last.end = turn.at + 1,
            _ => {
                ranges.push(turn.at..turn.at + 1);
                taken = 0;
            }
        }
        taken += turn.tokens;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(tokens: &[u64], answers: &[usize]) -> Vec<Turn> {
        tokens
            .iter()
            .enumerate()
            .map(|(at, &tokens)| Turn { at: at + 5, tokens, begins: !answers.contains(&at) })
            .collect()
    }

    #[test]
    fn leaves_are_of_about_one_size_and_keep_answers_with_their_calls() {
        assert_eq!(cut(&[]), Vec::<Range<usize>>::new());
        assert_eq!(cut(&turns(&[10, 10], &[])), vec![5..7]);
        assert_eq!(cut(&turns(&[9_000, 9_000, 9_000, 9_000], &[])), [5..7, 7..9]);
        assert_eq!(cut(&turns(&[9_000, 9_000, 9_000, 9_000], &[2])), [5..8, 8..9]);
        assert_eq!(cut(&turns(&[90_000, 10, 10], &[])), [5..6, 6..8]);
        let many = cut(&turns(&[100; 4_000], &[]));
        assert_eq!(
            (many.len(), many.first().cloned(), many.last().map(|last| last.end)),
            (20, Some(5..205), Some(4_005))
        );
    }

    #[test]
    fn every_turn_is_in_one_leaf_in_order() {
        proptest::proptest!(|(tokens in proptest::collection::vec(0..50_000u64, 1..60), answers in proptest::collection::vec(0..60usize, 0..30))| {
            let ranges = cut(&turns(&tokens, &answers));
            let covered: Vec<usize> = ranges.iter().cloned().flatten().collect();
            assert_eq!(covered, (5..5 + tokens.len()).collect::<Vec<_>>());
            assert!(ranges.iter().skip(1).all(|range| !answers.contains(&(range.start - 5))));
        });
    }
}
