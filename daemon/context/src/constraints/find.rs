//! Finds rules in the words of a user.

mod patterns;
mod preference;

use patterns::{CUES, DESCRIBES, GENERAL_RULE, ONCE, RULE, RULE_ELSEWHERE, SAID_BEFORE};

use preference::preference;

use super::Scope;
use crate::sentences::{prose_lines, sentences};
use crate::text::{head, longer_than, tail};

/// Chars of a message that are read at its beginning; pasted text after them is not a rule.
const LOOK_HEAD: usize = 12_000;
/// Chars that are read at the end of a longer message.
const LOOK_TAIL: usize = 6_000;
/// The most chars of a rule; longer sentences are pasted text.
const MAX_CHARS: usize = 420;
/// The fewest bytes of a rule (two Han characters have six).
const MIN_BYTES: usize = 6;
/// The fewest letters in a hundred chars of prose; code and logs have fewer.
const MIN_LETTERS_PCT: usize = 55;

/// A rule in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The sentence, word for word, without words such as "I told you:" before it.
    pub text: String,
    /// How long it applies.
    pub scope: Scope,
}

/// Returns the rules in a message of the user. It is conservative: no quoted text, no code, and of a question only
/// what a person prefers.
pub fn find(text: &str) -> Vec<Found> {
    usable(text).into_iter().filter_map(rule).collect()
}

/// Returns the sentences that can be rules.
pub(super) fn usable(text: &str) -> Vec<&str> {
    let ends = if longer_than(text, LOOK_HEAD + LOOK_TAIL) {
        vec![head(text, LOOK_HEAD), tail(text, LOOK_TAIL)]
    } else {
        vec![text]
    };
    let lines = ends.into_iter().flat_map(prose_lines);
    lines.flat_map(sentences).filter(|sentence| is_prose(sentence)).collect()
}

fn is_prose(sentence: &str) -> bool {
    if sentence.len() < MIN_BYTES || longer_than(sentence, MAX_CHARS) || sentence.ends_with(['{', '}']) {
        return false;
    }
    let (mut letters, mut all, mut in_code) = (0, 0, false);
    for c in sentence.chars() {
        in_code ^= c == '`';
        if !in_code && c != '`' {
            all += 1;
            letters += usize::from(c.is_alphabetic() || c == ' ');
        }
    }
    let quoted = sentence.starts_with(['"', '“', '\'']) && sentence.trim_end_matches('.').ends_with(['"', '”', '\'']);
    letters * 100 >= all * MIN_LETTERS_PCT && !quoted
}

/// Returns the rule in a sentence, if it is one.
pub(super) fn rule(sentence: &str) -> Option<Found> {
    if !CUES.is_match(sentence) {
        return None;
    }
    let scope = if ONCE.is_match(sentence) { Scope::Once } else { Scope::Standing };
    let preferred = || preference(sentence).map(|text| Found { text: text.to_owned(), scope });
    if sentence.ends_with(['?', '？']) {
        return preferred();
    }
    let demands = RULE.is_match(sentence) || GENERAL_RULE.is_match(sentence);
    let is_rule = RULE_ELSEWHERE.is_match(sentence) || (demands && !DESCRIBES.is_match(sentence));
    let said_before = SAID_BEFORE.find(sentence).map_or(0, |found| found.end());
    let whole = || Found { text: sentence.get(said_before..).unwrap_or(sentence).to_owned(), scope };
    is_rule.then(whole).or_else(preferred)
}
