//! Checks whether a summary is in the user's language.
//!
//! The script usually decides, otherwise a few frequent words. Only prose counts: code, paths and headings
//! are English in any language. In doubt there is no mismatch.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::script::Script;
use super::sections;
use crate::handoff;
use crate::message::{Message, Role};

/// Weight of a word; a letter of a script without spaces has weight 1.
const WORD: u64 = 2;
/// The least weight of the user's prose.
const LEAST_OF_USER: u64 = 40;
/// The least weight of the summary's prose.
const MIN_SUMMARY_WEIGHT: u64 = 120;
/// The most weight of one message, because pasted text is long.
const MOST_OF_MESSAGE: u64 = 120;
/// The most messages of the user that are read, newest first.
const MOST_MESSAGES: usize = 200;
/// Percent of the user's prose that must be in one script.
const USER_SCRIPT_PERCENT: u64 = 80;
/// Percent of the summary's prose that must be in one script.
const SURE_OF_BODY: u64 = 70;
/// The summary may be in the user's language if at least this percent of its prose is in the user's script.
const MIN_SAME_SCRIPT_PERCENT: u64 = 15;
/// Han characters count as Japanese from this percent of kana on.
const JAPANESE: u64 = 10;
/// The least number of frequent words that identify a language.
const LEAST_HITS: u64 = 6;
/// The least number of different ones: one word alone may be frequent in a language that is not listed.
const LEAST_DIFFERENT: u32 = 4;
/// Percent of the words that must be frequent ones.
const LEAST_HIT_PERCENT: u64 = 8;
/// The best language must have this many times the hits of the next one.
const LEAD: u64 = 2;

/// Languages with frequent words that most other languages lack.
const LANGUAGES: [(&str, &str); 6] = [
    ("English", "the and is of to that with for it this was you are not have please should what how"),
    ("German", "der die das und ist nicht ein eine mit für auf ich wird auch sich den dem von zu bitte wie"),
    ("French", "le les des est et une dans pour pas que qui sur avec je du nous vous ce cette au"),
    ("Spanish", "el los las es una en por para con que se del está pero y como más no lo cuando"),
    ("Portuguese", "os uma em por para com que não do da está mas e ao como mais na no você isso"),
    ("Italian", "il lo gli è una di per con che non della sono nel questo ma anche come più si alla"),
];

/// For each frequent word the indexes of its languages, and its index among their words.
static FREQUENT: LazyLock<HashMap<&str, Vec<(usize, usize)>>> = LazyLock::new(|| {
    let mut frequent: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (at, (_, words)) in LANGUAGES.iter().enumerate() {
        for (place, word) in words.split(' ').enumerate() {
            frequent.entry(word).or_default().push((at, place));
        }
    }
    frequent
});

/// Returns the user's language and the summary's, if they clearly differ.
pub(super) fn mismatch(body: &str, turns: &[&Message]) -> Option<(&'static str, &'static str)> {
    let mut user = Profile::default();
    let said = turns.iter().rev().filter(|turn| *turn.role() == Role::User && !handoff::is_handoff(turn));
    for turn in said.take(MOST_MESSAGES) {
        user.read(&turn.text(), MOST_OF_MESSAGE);
    }
    let mut own = Profile::default();
    own.read(body, u64::MAX);
    let (expected, got) = (user.script()?, own.script()?);
    let is_long = user.total() >= LEAST_OF_USER && own.total() >= MIN_SUMMARY_WEIGHT;
    let is_sure = user.percent(expected) >= USER_SCRIPT_PERCENT && own.percent(got) >= SURE_OF_BODY;
    if !is_long || !is_sure {
        return None;
    }
    if expected != got {
        let is_clear = own.percent(expected) < MIN_SAME_SCRIPT_PERCENT && !share_characters(expected, got);
        return is_clear.then(|| (user.name(expected), own.name(got)));
    }
    let (expected, got) = (user.latin_language()?, own.latin_language()?);
    (expected != got).then_some((expected, got))
}

/// Whether both are Chinese or Japanese. Their short texts can be mistaken for each other, because they share
/// many characters.
fn share_characters(a: Script, b: Script) -> bool {
    [a, b].iter().all(|script| matches!(script, Script::Han | Script::Kana))
}

/// The scripts and languages of a text.
#[derive(Default)]
struct Profile {
    scripts: [u64; Script::COUNT],
    /// Words in the Latin script.
    latin_words: u64,
    /// The number of frequent words of each language among them.
    hits: [u64; LANGUAGES.len()],
    /// Which frequent words of each language were found, one bit for each.
    different: [u64; LANGUAGES.len()],
}

impl Profile {
    /// Adds the prose of a text, up to a weight of `most`.
    fn read(&mut self, text: &str, most: u64) {
        let end = self.total().saturating_add(most);
        let mut in_code = false;
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                in_code = !in_code;
                continue;
            }
            if in_code || sections::is_heading(line) {
                continue;
            }
            // Every second piece is between backticks.
            for word in line.split('`').step_by(2).flat_map(str::split_whitespace) {
                if self.total() >= end {
                    return;
                }
                self.read_word(word);
            }
        }
    }

    fn read_word(&mut self, word: &str) {
        let mut spaced = word;
        if !word.is_ascii() {
            let unspaced = |c: char| Script::of(c).filter(|script| !script.has_spaces());
            word.chars().filter_map(unspaced).for_each(|script| self.scripts[script as usize] += 1);
            let pieces = word.split(|c| unspaced(c).is_some());
            spaced = pieces.max_by_key(|piece| piece.len()).unwrap_or("");
        }
        let letters = spaced.trim_matches(|c: char| !c.is_alphanumeric());
        let is_prose = letters.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'));
        let Some(script) = letters.chars().find_map(Script::of).filter(|_| is_prose) else {
            return;
        };
        self.scripts[script as usize] += WORD;
        if script == Script::Latin {
            self.latin_words += 1;
            let lower = letters.to_lowercase();
            for (at, place) in FREQUENT.get(lower.as_str()).into_iter().flatten() {
                self.hits[*at] += 1;
                self.different[*at] |= 1 << place;
            }
        }
    }

    fn total(&self) -> u64 {
        self.scripts.iter().sum()
    }

    /// Returns the weight of a script; kana and the Han characters with them count as one.
    fn weight(&self, script: Script) -> u64 {
        let [han, kana] = [Script::Han, Script::Kana].map(|script| self.scripts[script as usize]);
        let is_japanese = kana * 100 >= (han + kana) * JAPANESE && kana > 0;
        match (script, is_japanese) {
            (Script::Kana, true) | (Script::Han, false) => han + kana,
            (Script::Kana, false) | (Script::Han, true) => 0,
            _ => self.scripts[script as usize],
        }
    }

    fn percent(&self, script: Script) -> u64 {
        self.weight(script) * 100 / self.total().max(1)
    }

    /// Returns the script of most of the text; `None` if it is empty.
    fn script(&self) -> Option<Script> {
        let heaviest = SCRIPTS.into_iter().max_by_key(|script| self.weight(*script))?;
        (self.weight(heaviest) > 0).then_some(heaviest)
    }

    fn name(&self, script: Script) -> &'static str {
        match script {
            Script::Latin => self.latin_language().unwrap_or(script.language()),
            _ => script.language(),
        }
    }

    /// Returns the language of the text in the Latin script, if its frequent words show it.
    fn latin_language(&self) -> Option<&'static str> {
        let (best, most) = self.hits.iter().enumerate().max_by_key(|(_, hits)| **hits)?;
        let others = self.hits.iter().enumerate().filter(|(at, _)| *at != best);
        let next = others.map(|(_, hits)| *hits).max().unwrap_or(0);
        let is_clear = *most >= LEAST_HITS
            && self.different[best].count_ones() >= LEAST_DIFFERENT
            && *most >= next * LEAD
            && most * 100 >= self.latin_words * LEAST_HIT_PERCENT;
        LANGUAGES.get(best).filter(|_| is_clear).map(|(name, _)| *name)
    }
}

/// All scripts.
const SCRIPTS: [Script; Script::COUNT] = [
    Script::Latin,
    Script::Cyrillic,
    Script::Greek,
    Script::Hebrew,
    Script::Arabic,
    Script::Devanagari,
    Script::Thai,
    Script::Hangul,
    Script::Han,
    Script::Kana,
];

#[cfg(test)]
mod tests;
