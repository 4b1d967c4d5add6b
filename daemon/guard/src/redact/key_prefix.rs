//! Pass 1: keys that services issue with their own prefix.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::{Edit, MaskStyle, byte_before, is_key_byte, run_end};

/// The form of a key after its prefix. The run always extends as far as key letters do.
#[derive(Clone, Copy)]
pub(super) enum Tail {
    /// At least this many key letters.
    Run(usize),
    /// The same, but not if the rest is lower-case words, because identifiers begin like this too.
    NoWords(usize),
    /// At least this many key letters, optionally with `=` after them.
    Padded(usize),
    /// At least this many key letters, optionally with further runs after dots.
    Dotted(usize),
    /// Exactly this many upper-case letters and digits.
    UpperOrDigit(usize),
}

/// The prefixes; one that begins with another comes before it.
pub(super) const PREFIXES: [(&str, Tail); 43] = [
    ("sk-proj-", Tail::Run(10)),
    ("sk-ant-", Tail::Run(10)),
    ("sk_live_", Tail::Run(10)),
    ("sk_test_", Tail::Run(10)),
    ("sk-", Tail::NoWords(10)),
    ("sk_", Tail::NoWords(10)),
    ("ghp_", Tail::Run(10)),
    ("gho_", Tail::Run(10)),
    ("ghu_", Tail::Run(10)),
    ("ghs_", Tail::Run(10)),
    ("ghr_", Tail::Run(10)),
    ("github_pat_", Tail::Run(10)),
    ("xoxb-", Tail::Run(10)),
    ("xoxa-", Tail::Run(10)),
    ("xoxp-", Tail::Run(10)),
    ("xoxr-", Tail::Run(10)),
    ("xoxs-", Tail::Run(10)),
    ("AIza", Tail::Run(30)),
    ("pplx-", Tail::Run(10)),
    ("fal_", Tail::Run(10)),
    ("fc-", Tail::NoWords(10)),
    ("bb_live_", Tail::Run(10)),
    ("gAAAA", Tail::Padded(20)),
    ("AKIA", Tail::UpperOrDigit(16)),
    ("rk_live_", Tail::Run(10)),
    ("SG.", Tail::Dotted(10)),
    ("hf_", Tail::NoWords(10)),
    ("r8_", Tail::Run(10)),
    ("npm_", Tail::NoWords(10)),
    ("pypi-", Tail::Run(10)),
    ("dop_v1_", Tail::Run(10)),
    ("doo_v1_", Tail::Run(10)),
    ("am_", Tail::NoWords(10)),
    ("tvly-", Tail::Run(10)),
    ("exa_", Tail::Run(10)),
    ("gsk_", Tail::Run(10)),
    ("syt_", Tail::Run(10)),
    ("retaindb_", Tail::Run(10)),
    ("hsk-", Tail::Run(10)),
    ("mem0_", Tail::Run(10)),
    ("brv_", Tail::Run(10)),
    ("xai-", Tail::Run(30)),
    ("ntn_", Tail::Run(10)),
];

/// The longest word of an identifier; a longer run of letters is taken for a key.
const LONGEST_WORD: usize = 12;

#[expect(clippy::expect_used, reason = "forty short constants are far below the automaton's limits")]
static AUTOMATON: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(PREFIXES.map(|(prefix, _)| prefix))
        .expect("the prefixes fit into an automaton")
});

pub(super) fn edits(text: &str, shown: MaskStyle) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut done = 0;
    for found in AUTOMATON.find_iter(text) {
        let start = found.start();
        if start < done || byte_before(text, start).is_some_and(is_key_byte) {
            continue;
        }
        let (_, tail) = PREFIXES[found.pattern().as_usize()];
        if let Some(end) = tail.end(text, found.end()) {
            edits.push(Edit { range: start..end, with: shown.of(&text[start..end]) });
            done = end;
        }
    }
    edits
}

impl Tail {
    /// Returns the end of the key whose prefix ends at `from`, if this is a key.
    fn end(self, text: &str, from: usize) -> Option<usize> {
        let end = run_end(text, from, is_key_byte);
        let run = &text[from..end];
        match self {
            Self::Run(least) => (run.len() >= least).then_some(end),
            Self::NoWords(least) => (run.len() >= least && !is_identifier(run)).then_some(end),
            Self::Padded(least) => (run.len() >= least).then(|| run_end(text, end, |byte| byte == b'=')),
            Self::Dotted(least) => (run.len() >= least).then(|| dotted_end(text, end)),
            Self::UpperOrDigit(length) => (run.len() == length && run.bytes().all(is_upper_or_digit)).then_some(end),
        }
    }
}

fn dotted_end(text: &str, mut end: usize) -> usize {
    while text.as_bytes().get(end) == Some(&b'.') {
        let next = run_end(text, end + 1, is_key_byte);
        if next == end + 1 {
            break;
        }
        end = next;
    }
    end
}

fn is_upper_or_digit(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

/// Returns whether the rest of a "key" is only lower-case words, as in `npm_config_registry` and
/// `sk-learn-contrib`: at least two, none of them too long.
fn is_identifier(run: &str) -> bool {
    let mut words = run.split(['_', '-']);
    let is_word = |word: &str| word.len() <= LONGEST_WORD && word.bytes().all(|b| b.is_ascii_lowercase());
    run.contains(['_', '-']) && words.all(is_word)
}
