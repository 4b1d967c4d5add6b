//! One quick pass that tells which patterns a text could match at all.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, StartKind};

use super::{Pattern, table};

/// The letters outside ASCII that equal an ASCII letter when case is ignored, and that letter. The
/// automaton does not know them, the patterns do.
const CASE_VARIANTS: [(char, &str); 2] = [('\u{17F}', "s"), ('\u{212A}', "k")];

/// All words that patterns need.
static WORDS: LazyLock<Words> = LazyLock::new(Words::of_table);

/// The words and the automaton that finds them.
struct Words {
    /// Sorted; a word's place here is its number in the automaton.
    sorted: Vec<&'static str>,
    /// Reports every occurrence, overlapping ones too, blind to ASCII case.
    automaton: AhoCorasick,
}

/// Which of the words a text holds: one flag for each of [`Words::sorted`].
pub(super) struct Present(Vec<bool>);

/// Reads `text` once, looking for all words together.
pub(super) fn words_of(text: &str) -> Present {
    let text = in_ascii_case(text);
    let mut flags = vec![false; WORDS.sorted.len()];
    for found in WORDS.automaton.find_overlapping_iter(&*text) {
        flags[found.pattern().as_usize()] = true;
    }
    Present(flags)
}

impl Present {
    /// Whether `pattern` may match. Only a no is certain.
    pub(super) fn allow(&self, pattern: &Pattern) -> bool {
        let mut groups = pattern.needs.iter();
        groups.all(|group| group.iter().any(|word| self.0[WORDS.number(word)]))
    }
}

impl Words {
    #[expect(clippy::expect_used, reason = "a hundred short constants are far below the automaton's limits")]
    fn of_table() -> Self {
        let needed = table::PATTERNS.iter().flat_map(|pattern| pattern.needs);
        let sorted: BTreeSet<&str> = needed.flat_map(|group| group.iter().copied()).collect();
        let sorted: Vec<_> = sorted.into_iter().collect();
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .start_kind(StartKind::Unanchored)
            .build(&sorted)
            .expect("the words fit into an automaton");
        Self { sorted, automaton }
    }

    fn number(&self, word: &str) -> usize {
        self.sorted.partition_point(|other| *other < word)
    }
}

/// The text with [`CASE_VARIANTS`] replaced, for which it is copied.
fn in_ascii_case(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (variant, letter) in CASE_VARIANTS {
        if text.contains(variant) {
            text = Cow::Owned(text.replace(variant, letter));
        }
    }
    text
}
