//! Detects the language of a text, as far as its words need it: how they are reduced to stems, and which of them are
//! function words.
//!
//! Pure: does no I/O. The script decides if only one known language uses it. For Latin letters, the language with most
//! of the text's function words counts, and English in a tie.

mod function_words;
mod times;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

use crate::hash::Words;

pub(crate) use times::{asks_when, says_when};

/// A language whose words are reduced to stems with the rules of Snowball (snowballstem.org).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Language {
    /// Also the fallback for Latin letters.
    English,
    /// German.
    German,
    /// French.
    French,
    /// Spanish.
    Spanish,
    /// Italian.
    Italian,
    /// Portuguese.
    Portuguese,
    /// Dutch.
    Dutch,
    /// Swedish.
    Swedish,
    /// Danish, and Norwegian, whose function words are nearly the same.
    Danish,
    /// Assumed for Cyrillic letters.
    Russian,
    /// Assumed for Greek letters.
    Greek,
    /// Assumed for Arabic letters.
    Arabic,
}

/// How many function words identify a language other than English. One alone may be a word of another language.
const TELLING: usize = 2;

/// The maximum number of words of a text that are examined.
const LOOKED_AT: usize = 400;

/// Chars of the shortest word that is reduced to a stem.
const SHORTEST: usize = 3;

/// Bytes of the longest word that is reduced to a stem. Longer ones are keys and data.
const LONGEST: usize = 40;

impl Language {
    /// The number of languages.
    pub(crate) const COUNT: usize = Self::Arabic as usize + 1;

    /// All languages that are written with Latin letters.
    pub(crate) const LATIN: [Self; 9] = [
        Self::English,
        Self::German,
        Self::French,
        Self::Spanish,
        Self::Italian,
        Self::Portuguese,
        Self::Dutch,
        Self::Swedish,
        Self::Danish,
    ];

    /// Returns the language of the Latin words of a text, detected from their function words; `None` if there are too
    /// few of them. The words are lowercase, without accents.
    pub(crate) fn of_latin<'a>(words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut counts = [0_usize; Self::LATIN.len()];
        for word in words.take(LOOKED_AT) {
            for &at in LATIN_FUNCTION_WORDS.get(word).map_or(&[][..], Vec::as_slice) {
                counts.iter_mut().skip(at).take(1).for_each(|count| *count += 1);
            }
        }
        let most = counts.iter().copied().max()?;
        // In a tie the first one wins, which is English.
        let (language, _) = Self::LATIN.into_iter().zip(counts).find(|(_, count)| *count == most)?;
        (most >= if language == Self::English { 1 } else { TELLING }).then_some(language)
    }

    /// Returns the language of a word from its letters; `None` if they are Latin or of an unknown script.
    pub(crate) fn of_letters(word: &str) -> Option<Self> {
        word.chars().find_map(|letter| match letter {
            '\u{0370}'..='\u{03ff}' | '\u{1f00}'..='\u{1fff}' => Some(Self::Greek),
            '\u{0400}'..='\u{052f}' => Some(Self::Russian),
            '\u{0600}'..='\u{06ff}' | '\u{0750}'..='\u{077f}' => Some(Self::Arabic),
            _ => None,
        })
    }

    /// Returns the stem of a lowercase word. Words with digits, very short and very long ones are returned unchanged.
    pub(crate) fn stem(self, word: &str) -> Cow<'_, str> {
        if is_reduced(word) { Stemmer::create(self.algorithm()).stem(word) } else { Cow::Borrowed(word) }
    }

    /// Whether a word is a function word of this language.
    pub(crate) fn has_function_word(self, word: &str) -> bool {
        match self {
            Self::Russian => RUSSIAN_FUNCTION_WORDS.contains(word),
            _ => LATIN_FUNCTION_WORDS.get(word).is_some_and(|places| {
                places.iter().any(|at| Self::LATIN.get(*at).is_some_and(|language| *language == self))
            }),
        }
    }

    fn algorithm(self) -> Algorithm {
        match self {
            Self::English => Algorithm::English,
            Self::German => Algorithm::German,
            Self::French => Algorithm::French,
            Self::Spanish => Algorithm::Spanish,
            Self::Italian => Algorithm::Italian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Dutch => Algorithm::Dutch,
            Self::Swedish => Algorithm::Swedish,
            Self::Danish => Algorithm::Danish,
            Self::Russian => Algorithm::Russian,
            Self::Greek => Algorithm::Greek,
            Self::Arabic => Algorithm::Arabic,
        }
    }
}

fn is_reduced(word: &str) -> bool {
    word.len() <= LONGEST && word.chars().all(char::is_alphabetic) && word.chars().nth(SHORTEST - 1).is_some()
}

/// The languages of each function word in Latin script, as indexes into [`Language::LATIN`].
static LATIN_FUNCTION_WORDS: LazyLock<HashMap<&'static str, Vec<usize>, Words>> = LazyLock::new(|| {
    let lists = [
        function_words::ENGLISH,
        function_words::GERMAN,
        function_words::FRENCH,
        function_words::SPANISH,
        function_words::ITALIAN,
        function_words::PORTUGUESE,
        function_words::DUTCH,
        function_words::SWEDISH,
        function_words::DANISH,
    ];
    let mut places: HashMap<&str, Vec<usize>, Words> = HashMap::default();
    for (at, list) in lists.iter().enumerate() {
        list.split_whitespace().for_each(|word| places.entry(word).or_default().push(at));
    }
    places
});

static RUSSIAN_FUNCTION_WORDS: LazyLock<HashSet<&'static str, Words>> =
    LazyLock::new(|| function_words::RUSSIAN.split_whitespace().collect());

#[cfg(test)]
mod tests {
    use super::*;

    fn language(text: &str) -> Option<Language> {
        Language::of_latin(text.split(' '))
    }

    #[test]
    fn function_words_tell_a_language() {
        for (text, expect) in [
            ("when did the customer fly to berlin", Some(Language::English)),
            ("wann ist die kundin nach berlin geflogen", Some(Language::German)),
            ("quand est ce que la cliente est partie pour berlin", Some(Language::French)),
            ("cuando volo la clienta a berlin y por que", Some(Language::Spanish)),
            ("quando e partita la cliente per berlino con gli altri", Some(Language::Italian)),
            ("quando foi que a cliente viajou para berlim com os outros", Some(Language::Portuguese)),
            ("wanneer is de klant naar berlijn gevlogen en waarom niet", Some(Language::Dutch)),
            ("nar flog kunden till berlin och varfor inte", Some(Language::Swedish)),
            ("hvornar floj kunden til berlin og hvorfor ikke", Some(Language::Danish)),
            ("reset the vpn", Some(Language::English)),
            ("berlin hotel", None),
            ("die hard", None),
            ("", None),
        ] {
            assert_eq!(language(text), expect, "{text}");
        }
    }

    #[test]
    fn words_are_reduced_by_their_language() {
        for (language, words) in [
            (Language::English, &["cancelled", "cancel", "cancelling"][..]),
            (Language::German, &["buchungen", "buchung"]),
            (Language::Russian, &["рейсы", "рейса", "рейсов"]),
            (Language::Spanish, &["vuelos", "vuelo"]),
        ] {
            let stems: HashSet<_> = words.iter().map(|word| language.stem(word)).collect();
            assert_eq!(stems.len(), 1, "{stems:?}");
        }
        for kept in ["a1s", "as", "9f86d081884c7d65", "", "е"] {
            assert_eq!(Language::English.stem(kept), kept);
        }
    }

    #[test]
    fn lists_are_written_as_the_index_has_words() {
        let lists = LATIN_FUNCTION_WORDS.keys().chain(RUSSIAN_FUNCTION_WORDS.iter());
        for word in lists {
            assert_eq!(crate::token::lower(&crate::token::normalise(word)), **word);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_word_has_a_stem(word in "\\PC{0,50}") {
            for language in Language::LATIN.into_iter().chain([Language::Russian, Language::Greek, Language::Arabic]) {
                drop(language.stem(&word));
            }
        }
    }
}
