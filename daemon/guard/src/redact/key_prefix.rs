//! Pass 1: keys that services issue with their own prefix.

mod services;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Edit, MaskStyle, is_key_byte, run_end, run_start};
pub(super) use services::PREFIXES;

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
    /// Exactly this many hex digits.
    Hex(usize),
}

/// The longest word of an identifier; a longer run of letters is taken for a key.
const LONGEST_WORD: usize = 12;

/// The bytes of the shortest run of key letters that a key has. Ordinary text has few such runs.
const SHORTEST_RUN: usize = 10;

/// The prefixes, by where their last run of key letters begins.
struct Prefixes {
    /// Those that are one run, by its first two bytes.
    whole: HashMap<[u8; 2], Vec<Prefix>>,
    /// A bit for each pair of bytes in `whole`.
    pairs: Vec<u64>,
    /// Those that have other bytes before the run, by the last of them.
    split: HashMap<u8, Vec<Prefix>>,
}

/// A prefix in two parts: what comes before the last run of key letters, and the beginning of that run.
struct Prefix {
    before: &'static [u8],
    within: &'static [u8],
    tail: Tail,
}

static BY_RUN: LazyLock<Prefixes> = LazyLock::new(|| {
    let mut prefixes = Prefixes { whole: HashMap::new(), pairs: vec![0; 1 << 10], split: HashMap::new() };
    for (prefix, tail) in PREFIXES {
        let bytes = prefix.as_bytes();
        let run = bytes.iter().rposition(|byte| !is_key_byte(*byte)).map_or(0, |at| at + 1);
        let (before, within) = bytes.split_at(run);
        let prefix = Prefix { before, within, tail };
        match before.last() {
            Some(last) => prefixes.split.entry(*last).or_default().push(prefix),
            None => {
                let (at, bit) = place(bytes[0], bytes[1]);
                prefixes.pairs[at] |= bit;
                prefixes.whole.entry([bytes[0], bytes[1]]).or_default().push(prefix);
            }
        }
    }
    prefixes
});

/// Returns the place of a pair's bit.
const fn place(first: u8, second: u8) -> (usize, u64) {
    let pair = (first as usize) << 8 | second as usize;
    (pair / 64, 1 << (pair % 64))
}

pub(super) fn edits(text: &str, shown: MaskStyle) -> Vec<Edit> {
    let (prefixes, bytes) = (&*BY_RUN, text.as_bytes());
    let mut edits: Vec<Edit> = Vec::new();
    let (mut from, mut done) = (0, 0);
    // Of each long run of key letters, one byte in `SHORTEST_RUN` is looked at.
    while let Some(byte) = bytes.get(from + SHORTEST_RUN - 1) {
        if !is_key_byte(*byte) {
            from += SHORTEST_RUN;
            continue;
        }
        let start = run_start(text, from + SHORTEST_RUN - 1, is_key_byte);
        let end = run_end(text, from + SHORTEST_RUN - 1, is_key_byte);
        from = end + 1;
        if end - start < SHORTEST_RUN || start < done {
            continue;
        }
        if let Some((start, end)) = prefixes.key_at(text, start).filter(|(start, _)| *start >= done) {
            edits.push(Edit { range: start..end, with: shown.of(&text[start..end]) });
            done = end;
        }
    }
    edits
}

impl Prefixes {
    /// Returns the key whose last run of key letters begins at `run`.
    fn key_at(&self, text: &str, run: usize) -> Option<(usize, usize)> {
        let bytes = text.as_bytes();
        let (before, rest) = bytes.split_at(run);
        let pair = [*rest.first()?, *rest.get(1)?];
        let (at, bit) = place(pair[0], pair[1]);
        let whole = if self.pairs[at] & bit == 0 { None } else { self.whole.get(&pair) };
        let split = before.last().filter(|byte| byte.is_ascii_punctuation()).and_then(|last| self.split.get(last));
        whole.into_iter().chain(split).flatten().find_map(|prefix| {
            let start = run.checked_sub(prefix.before.len())?;
            let is_here = rest.starts_with(prefix.within) && before.ends_with(prefix.before);
            let is_begun = start == 0 || !is_key_byte(bytes[start - 1]);
            if !is_here || !is_begun {
                return None;
            }
            Some((start, prefix.tail.end(text, run + prefix.within.len())?))
        })
    }
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
            Self::Hex(length) => {
                (run.len() == length && run.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(end)
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_ends_in_a_run_that_is_looked_at() {
        for (prefix, tail) in PREFIXES {
            let (Tail::Run(least)
            | Tail::NoWords(least)
            | Tail::Padded(least)
            | Tail::Dotted(least)
            | Tail::UpperOrDigit(least)
            | Tail::Hex(least)) = tail;
            let within = prefix.len() - run_start(prefix, prefix.len(), is_key_byte);
            assert!(within + least >= SHORTEST_RUN, "{prefix}");
        }
    }

    #[test]
    fn a_prefix_that_begins_with_another_comes_before_it() {
        for (index, (prefix, _)) in PREFIXES.iter().enumerate() {
            let hidden = PREFIXES[index + 1..].iter().find(|(later, _)| later.starts_with(prefix));
            assert_eq!(hidden.map(|(later, _)| later), None, "{prefix}");
        }
    }
}
