//! Parses the query that a person or a model typed. Any text is valid: there is no syntax, except that words in double
//! quotes belong together.
//!
//! Pure: does no I/O. Function words of the query's language are left out, unless there are no other words.

use crate::language::{Language, asks_when};
use crate::token;

/// Chars of a query that are parsed; the rest is ignored.
pub const LONGEST_QUERY: usize = 1_000;

/// The maximum number of words and quoted parts of a query.
pub const MOST_WORDS: usize = 32;

/// The maximum number of words and pairs of a query in total.
pub(crate) const MOST_PAIRS: usize = 2 * MOST_WORDS;

/// Chars from which on a word also matches longer words that begin with it.
pub(crate) const SHORTEST_BEGINNING: usize = 3;

/// How many `ß` or `ss` of one word are also tried in the other spelling.
const MOST_SHARP: usize = 3;

/// A parsed query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Query {
    /// Words, each at most once.
    pub(crate) words: Vec<Word>,
    /// Tokens that follow each other in the query without a space: the words of a path or of `snake_case`, or the pairs
    /// of a longer word in a script without spaces. A text in which they follow each other too ranks higher.
    pub(crate) sequences: Vec<Vec<String>>,
    /// Quoted parts. They must occur exactly, if any text has them.
    pub(crate) quoted: Vec<Vec<String>>,
    /// Single chars of a script without spaces. Each matches every pair that begins with it.
    pub(crate) chars: Vec<String>,
    /// Whether it asks for a time.
    pub(crate) asks_when: bool,
    /// The languages in Latin script that it may be in.
    pub(crate) languages: Vec<Language>,
}

/// A word, or a pair of chars of a script without spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// The word as the index has it.
    pub(crate) token: String,
    /// Its stems in the languages that the query may be in, each once, and those of its other spellings.
    pub(crate) stems: Vec<String>,
    /// Whether it also matches longer words that begin with it, and may be a typo.
    pub(crate) open: bool,
}

impl Query {
    /// Parses a query. The result is empty if the query has neither letters nor digits.
    pub(crate) fn of(query: &str) -> Self {
        let end = query.char_indices().nth(LONGEST_QUERY).map_or(query.len(), |(at, _)| at);
        let query = query.get(..end).unwrap_or_default();
        let mut found = Self::default();
        let mut words: Vec<(String, bool)> = Vec::new();
        let mut left = MOST_WORDS;
        for (part, quoted) in query.split('"').zip([false, true].into_iter().cycle()) {
            if quoted {
                let tokens = tokens(part);
                let is_new = !tokens.is_empty() && !found.quoted.contains(&tokens);
                if is_new && left > 0 {
                    left -= 1;
                    found.quoted.push(tokens);
                }
                continue;
            }
            for part in part.split_whitespace().flat_map(without_endings) {
                found.part(part, &mut words, &mut left);
            }
        }
        found.asks_when = asks_when(query, words.iter().map(|(word, _)| word.as_str()));
        found.choose(words);
        found
    }

    /// Whether there is nothing to look for.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.quoted.is_empty() && self.chars.is_empty()
    }

    /// Adds a part of the query without white space in it.
    fn part(&mut self, part: &str, words: &mut Vec<(String, bool)>, left: &mut usize) {
        let normalised = token::normalise(part);
        for run in token::runs(&normalised) {
            if *left == 0 {
                return;
            }
            *left -= 1;
            if run.spaced {
                let word = token::lower(token::cut(run.text)).into_owned();
                if words.len() < MOST_PAIRS {
                    push_new(words, (word, true));
                }
                continue;
            }
            match run.text.chars().count() {
                1 => push_new(&mut self.chars, token::lower(run.text).into_owned()),
                count => {
                    let room = MOST_PAIRS.saturating_sub(words.len());
                    let pairs = token::pairs(run.text).take((count - 1).min(room));
                    pairs.for_each(|pair| push_new(words, (token::lower(pair).into_owned(), false)));
                }
            }
        }
        let sequence = tokens(part);
        if sequence.len() > 1 {
            push_new(&mut self.sequences, sequence);
        }
    }

    /// Chooses the words that are not function words.
    fn choose(&mut self, words: Vec<(String, bool)>) {
        let told = Language::of_latin(words.iter().map(|(word, _)| word.as_str()));
        let languages: Vec<Language> = match told {
            None => Language::LATIN.to_vec(),
            Some(Language::English) => vec![Language::English],
            Some(other) => vec![other, Language::English],
        };
        let says_nothing = |word: &str| match Language::of_letters(word) {
            Some(language) => language.has_function_word(word),
            None => languages.iter().take(1).any(|language| told.is_some() && language.has_function_word(word)),
        };
        let is_left = words.iter().any(|(word, _)| !says_nothing(word));
        let is_alone = !is_left && self.quoted.is_empty() && self.chars.is_empty();
        let chosen = words.into_iter().filter(|(word, _)| is_alone || !says_nothing(word));
        self.words = chosen.map(|(word, open)| Word::of(word, &languages, open)).collect();
        self.languages = languages;
    }
}

impl Word {
    pub(crate) fn of(token: String, latin: &[Language], spaced: bool) -> Self {
        let letters = Language::of_letters(&token);
        let languages = letters.as_ref().map_or(latin, std::slice::from_ref);
        let mut stems: Vec<String> = Vec::new();
        let others = if spaced { other_spellings(&token) } else { Vec::new() };
        for spelling in std::iter::once(&token).chain(&others) {
            for language in languages.iter().filter(|_| spaced) {
                push_new(&mut stems, language.stem(spelling).into_owned());
            }
        }
        others.into_iter().for_each(|other| push_new(&mut stems, other));
        if stems.is_empty() {
            stems.push(token.clone());
        }
        let open = spaced && token.chars().nth(SHORTEST_BEGINNING - 1).is_some();
        Self { token, stems, open }
    }

    /// Returns every form that the index may have of the word.
    pub(crate) fn forms(&self) -> impl Iterator<Item = &str> {
        let own = std::iter::once(self.token.as_str()).filter(|token| !self.stems.iter().any(|stem| stem == token));
        own.chain(self.stems.iter().map(String::as_str))
    }
}

/// Returns the tokens of a text, in order, at most [`MOST_WORDS`]: words, and pairs without the last char, because the
/// text may continue where the query ends.
fn tokens(text: &str) -> Vec<String> {
    let normalised = token::normalise(text);
    let mut tokens = Vec::new();
    let mut runs = token::runs(&normalised).peekable();
    while let Some(run) = runs.next() {
        if run.spaced {
            tokens.push(token::lower(token::cut(run.text)).into_owned());
            continue;
        }
        tokens.extend(token::pairs(run.text).map(|pair| token::lower(pair).into_owned()));
        if runs.peek().is_none() && run.text.chars().nth(1).is_some() {
            tokens.pop();
        }
    }
    tokens.truncate(MOST_WORDS);
    tokens
}

/// Returns the parts of a word around an apostrophe, without those of a single char: the user's, l'avion.
fn without_endings(word: &str) -> impl Iterator<Item = &str> {
    let is_whole = !word.contains(is_apostrophe);
    word.split(is_apostrophe).filter(move |part| is_whole || part.chars().nth(1).is_some())
}

/// Returns the other spellings of a word with `ss` or `ß`, which many keyboards lack: each of the first few either way.
fn other_spellings(word: &str) -> Vec<String> {
    let plain = word.replace('ß', "ss");
    let parts: Vec<&str> = plain.splitn(MOST_SHARP + 1, "ss").collect();
    let written = (0..1_usize << (parts.len() - 1)).map(|sharp| {
        let joined = |(at, part): (usize, &&str)| match at.checked_sub(1) {
            None => (*part).to_owned(),
            Some(at) => format!("{}{part}", if sharp >> at & 1 == 1 { "ß" } else { "ss" }),
        };
        parts.iter().enumerate().map(joined).collect::<String>()
    });
    written.filter(|spelling| spelling != word).collect()
}

fn is_apostrophe(char: char) -> bool {
    matches!(char, '\'' | '\u{2019}' | '\u{2bc}')
}

fn push_new<T: PartialEq>(all: &mut Vec<T>, one: T) {
    if !all.contains(&one) {
        all.push(one);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(query: &str) -> String {
        Query::of(query).words.iter().map(|word| word.token.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_that_say_nothing_are_left_out() {
        for (query, expect) in [
            ("", ""),
            (" \t\" \" -- () * \u{1f600}", ""),
            ("Hello", "hello"),
            ("of the", "of the"),
            ("the the THE", "the"),
            ("When did the customer's flight land?", "customer flight land"),
            ("Wann ist die Kundin geflogen", "kundin geflogen"),
            ("Когда вылетел рейс", "вылетел рейс"),
            ("l'avion de la cliente pour Paris", "avion cliente paris"),
            ("die hard", "die hard"),
            ("retry_count", "retry count"),
            ("数据库连接", "数据 据库 库连 连接"),
            ("数据abc库", "数据 abc"),
        ] {
            assert_eq!(words(query), expect, "{query}");
        }
    }

    #[test]
    fn what_belongs_together_is_known() {
        let query = Query::of(r#"src/queue/worker.rs "Connection refused" x 数 "数据库" 数据库 数据 "never closed"#);
        assert_eq!(query.sequences, [vec!["src", "queue", "worker", "rs"], vec!["数据", "据库"]]);
        assert_eq!(query.quoted, [vec!["connection", "refused"], vec!["数据", "据库"], vec!["never", "closed"]]);
        assert_eq!((query.chars, query.asks_when), (vec!["数".to_owned()], false));
        assert!(Query::of("when was it?").asks_when);
    }

    #[test]
    fn a_word_has_the_stems_of_the_languages_that_it_may_be_in() {
        let stems = |query: &str| Query::of(query).words.into_iter().map(|word| word.stems).collect::<Vec<_>>();
        assert_eq!(stems("the bookings"), [["book"]]);
        assert_eq!(stems("die Buchungen der Kundin")[0], ["buchung", "buchungen"]);
        assert!(stems("reservas")[0].len() > 1);
        assert_eq!(stems("a1b2"), [["a1b2"]]);
    }

    #[test]
    fn long_queries_are_cut() {
        let many: Vec<String> = (0..100).map(|number| format!("w{number}")).collect();
        assert_eq!(Query::of(&many.join(" ")).words.len(), MOST_WORDS);
        assert!(words(&format!("{}end", " ".repeat(LONGEST_QUERY))).is_empty());
        assert!(Query::of(&"数据库".repeat(300)).words.len() <= MOST_PAIRS);
        let all = ('一'..='鿿').map(String::from).collect::<Vec<_>>();
        let runs: Vec<String> = all.chunks(30).map(|run| run.join("")).collect();
        assert_eq!(Query::of(&runs.join(" ")).words.len(), MOST_PAIRS);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_query(text in "\\PC{0,200}") {
            let query = Query::of(&text);
            let tokens = query.words.iter().flat_map(Word::forms);
            for token in tokens.chain(query.quoted.iter().flatten().map(String::as_str)) {
                proptest::prop_assert!(!token.is_empty() && !token.contains(['"', ' ']), "{token:?}");
            }
        }
    }
}
