//! The arguments of the command, as a person types them.

use std::ops::RangeInclusive;

/// The default number of exchanges that stay.
pub const DEFAULT_KEEP: u64 = 2;

/// The allowed numbers of exchanges that stay.
pub const KEEP: RangeInclusive<u64> = 1..=100;

/// The parsed arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// Whether the latest exchanges stay unchanged.
    pub partial: bool,
    /// The number of these exchanges; [`DEFAULT_KEEP`] if everything is compressed.
    pub keep: u64,
    /// A topic to keep most of; never set with `partial`.
    pub focus: Option<String>,
}

/// Parses the arguments: `here [N]`, `up to here [N]`, `--keep N`, `--keep=N` or `-k N` keep the latest N
/// exchanges; anything else is a topic. An invalid number counts as [`DEFAULT_KEEP`], but a sentence that
/// begins with `here` is a topic.
pub fn parse(text: &str) -> Arguments {
    let text = text.trim();
    let lower = text.to_lowercase();
    let mut words = lower.split_whitespace();
    let (partial, rest): (bool, Vec<&str>) = match words.next() {
        Some("here") => after_here(words),
        Some("up") if words.next() == Some("to") && words.next() == Some("here") => after_here(words),
        Some("--keep" | "-k") => (true, words.take(1).collect()),
        Some(word) => match word.strip_prefix("--keep=") {
            Some(number) => (true, vec![number]),
            None => (false, Vec::new()),
        },
        None => (false, Vec::new()),
    };
    let keep = rest.first().map_or(DEFAULT_KEEP, |number| exchanges(number));
    let focus = (!partial && !text.is_empty()).then(|| text.to_owned());
    Arguments { partial, keep: if partial { keep } else { DEFAULT_KEEP }, focus }
}

/// Parses the words after `here`: nothing, one word, or a number and more.
fn after_here<'a>(words: impl Iterator<Item = &'a str>) -> (bool, Vec<&'a str>) {
    let rest: Vec<&str> = words.take(2).collect();
    let partial = rest.len() < 2 || rest.first().is_some_and(|word| is_whole(word));
    (partial, rest)
}

/// Whether a word is a whole number, however large.
fn is_whole(word: &str) -> bool {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the number of exchanges in a word.
fn exchanges(word: &str) -> u64 {
    if !is_whole(word) {
        return DEFAULT_KEEP;
    }
    if word.starts_with('-') {
        return *KEEP.start();
    }
    word.parse().unwrap_or(u64::MAX).clamp(*KEEP.start(), *KEEP.end())
}
