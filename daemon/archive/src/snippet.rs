//! Finds the place in a text that matches a query, and shows it with some text around it.
//!
//! Pure: does no I/O. The text is folded and cut into tokens as for the index, one grapheme cluster at a time, so that
//! every token can be traced back to its part of the text.

use std::borrow::Cow;

use herma_json::terminal::blanked;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::language::Language;
use crate::query::{Query, Word};
use crate::{stems, token};

/// Chars of a snippet, without the ellipses at its ends.
pub const LENGTH: usize = 200;

/// Chars of a snippet before the hit.
const BEFORE: usize = 80;

/// Bytes of a text that are examined. For a hit after them, the snippet is the text's beginning.
const LOOKED_AT: usize = 1 << 20;

/// The maximum number of replacement words that are looked for.
const MOST_INSTEAD: usize = 32;

/// The maximum number of occurrences that are compared to find the best place.
const OCCURRENCES: usize = 1_000;

/// Part of a text with a hit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The text. White space is replaced with spaces, and `…` marks where the text was cut.
    pub text: String,
    /// Where the hit begins in it, in chars.
    pub start: usize,
    /// Where the hit ends in it, in chars. Equal to `start` if there is no hit: the snippet is the text's beginning
    /// then.
    pub end: usize,
    /// Chars of the whole text before the hit.
    pub before: usize,
}

/// Returns the best place of a query in a text: the first place where most of its words are together, in whatever form.
/// `instead` are words that replaced some of the query's.
#[must_use]
pub fn snippet(text: &str, query: &str, instead: &[String]) -> Snippet {
    let text = text.get(..text.floor_char_boundary(LOOKED_AT)).unwrap_or(text);
    let instead = instead.get(..MOST_INSTEAD).unwrap_or(instead);
    let clusters = Clusters::of(text);
    let hit = best(&clusters, &Needle::all(&Query::of(query), instead)).unwrap_or_default();
    Snippet { before: clusters.chars_before(hit.start), ..clusters.cut_out(hit) }
}

/// A hit, as a range of clusters.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Span {
    start: usize,
    end: usize,
}

/// A text as its readers see it, and as the index does.
struct Clusters<'a> {
    text: &'a str,
    folded: Cow<'a, str>,
    /// The grapheme clusters, each with its start in `folded`, in bytes. `None` for an ASCII text, in which every byte
    /// is one.
    clusters: Option<Vec<(&'a str, usize)>>,
}

impl<'a> Clusters<'a> {
    fn of(text: &'a str) -> Self {
        // Blanking leaves every byte at its place.
        let plain = blanked(text);
        if text.is_ascii() {
            return Self { text, folded: plain, clusters: None };
        }
        let mut folded = String::with_capacity(text.len());
        let mut clusters = Vec::new();
        for (at, cluster) in plain.grapheme_indices(true) {
            clusters.push((text.get(at..at + cluster.len()).unwrap_or(""), folded.len()));
            folded.push_str(&token::normalise(cluster));
        }
        Self { text, folded: Cow::Owned(folded), clusters: Some(clusters) }
    }

    fn len(&self) -> usize {
        self.clusters.as_ref().map_or(self.text.len(), Vec::len)
    }

    fn get(&self, at: usize) -> Option<&'a str> {
        match &self.clusters {
            None => self.text.get(at..at + 1),
            Some(clusters) => clusters.get(at).map(|(cluster, _)| *cluster),
        }
    }

    /// Returns the clusters that a range of the folded text came from.
    fn span(&self, start: usize, end: usize) -> Span {
        let Some(clusters) = &self.clusters else { return Span { start, end } };
        let first = clusters.partition_point(|(_, at)| *at <= start).saturating_sub(1);
        Span { start: first, end: clusters.partition_point(|(_, at)| *at < end) }
    }

    /// Returns the number of chars of the text before a cluster.
    fn chars_before(&self, at: usize) -> usize {
        match &self.clusters {
            None => at,
            Some(clusters) => clusters.iter().take(at).map(|(cluster, _)| cluster.chars().count()).sum(),
        }
    }

    fn cut_out(&self, hit: Span) -> Snippet {
        let (mut start, mut end, mut chars) = (hit.start, hit.start, 0);
        let mut room = |cluster: Option<&str>, limit: usize| {
            let length = cluster?.chars().count();
            (chars + length <= limit).then(|| chars += length)
        };
        while end < hit.end && room(self.get(end), LENGTH).is_some() {
            end += 1;
        }
        let hit_end = end;
        let mut before = 0;
        while start > 0 && before < BEFORE && room(self.get(start - 1), LENGTH).is_some() {
            start -= 1;
            before += 1;
        }
        while room(self.get(end), LENGTH).is_some() {
            end += 1;
        }
        while start > 0 && room(self.get(start - 1), LENGTH).is_some() {
            start -= 1;
        }
        let mut snippet = Snippet::default();
        let mut count = 0;
        let mut push = |text: &str, into: &mut String| {
            into.extend(text.chars().map(|char| if char.is_whitespace() { ' ' } else { char }));
            count += text.chars().count();
            count
        };
        let mut at = if start > 0 { push("…", &mut snippet.text) } else { 0 };
        for index in start..=end {
            if index == hit.start {
                snippet.start = at;
            }
            if index == hit_end {
                snippet.end = at;
            }
            if let Some(cluster) = self.get(index).filter(|_| index < end) {
                at = push(cluster, &mut snippet.text);
            }
        }
        if end < self.len() {
            push("…", &mut snippet.text);
        }
        snippet
    }
}

/// A token with its range in the folded text, in bytes.
struct Place<'a> {
    token: Cow<'a, str>,
    start: usize,
    end: usize,
    /// The end of its first char.
    first_end: usize,
    spaced: bool,
}

impl<'a> Place<'a> {
    fn of(text: &'a str, start: usize, spaced: bool) -> Self {
        let first_end = start + text.chars().next().map_or(0, char::len_utf8);
        Self { token: token::lower(token::cut(text)), start, end: start + text.len(), first_end, spaced }
    }
}

/// Returns the tokens of a folded text, and the parts of words that are written likeThis.
fn places(folded: &str) -> (Vec<Place<'_>>, Vec<Place<'_>>) {
    let (mut places, mut pieces) = (Vec::new(), Vec::new());
    for run in token::runs(folded) {
        if run.spaced {
            places.push(Place::of(run.text, run.start, true));
            let mut start = run.start;
            for piece in token::pieces(run.text) {
                pieces.push(Place::of(piece, start, true));
                start += piece.len();
            }
            continue;
        }
        let mut start = run.start;
        for pair in token::pairs(run.text) {
            places.push(Place::of(pair, start, false));
            start += pair.chars().next().map_or(0, char::len_utf8);
        }
    }
    (places, pieces)
}

/// A pattern to look for.
enum Needle {
    /// A word in any of its forms.
    Word(Word, Vec<Language>),
    /// Tokens that follow each other. If they were quoted, the last one may begin a longer word.
    Sequence { tokens: Vec<String>, is_quoted: bool },
    /// The first char of pairs.
    Char(String),
}

impl Needle {
    fn all(query: &Query, instead: &[String]) -> Vec<Self> {
        let languages = &query.languages;
        let instead = instead.iter().map(|term| Word::of(term.clone(), languages, true));
        let words = query.words.iter().cloned().chain(instead);
        let sequence = |tokens: &Vec<String>, is_quoted| Self::Sequence { tokens: tokens.clone(), is_quoted };
        let sequences = query.sequences.iter().map(|tokens| sequence(tokens, false));
        let sequences = sequences.chain(query.quoted.iter().map(|tokens| sequence(tokens, true)));
        let all = words.map(|word| Self::Word(word, languages.clone())).chain(sequences);
        all.chain(query.chars.iter().cloned().map(Self::Char)).collect()
    }

    /// Returns its range if it is at the beginning of these places, and how sure the match is.
    fn occurs(&self, places: &[Place<'_>]) -> Option<(usize, usize, u32)> {
        let first = places.first()?;
        match self {
            Self::Word(word, languages) => {
                let worth = match &first.token {
                    token if *token == word.token => EXACT,
                    token if first.spaced && is_form(word, token, languages) => FORM,
                    _ => return None,
                };
                Some((first.start, first.end, worth))
            }
            Self::Sequence { tokens, is_quoted } => {
                let (end, begin) = tokens.split_last()?;
                let here = places.get(..begin.len())?;
                let last = places.get(begin.len())?;
                let worth = match &last.token {
                    token if token == end => EXACT,
                    token if *is_quoted && token.starts_with(end.as_str()) => FORM,
                    _ => return None,
                };
                let is_here = here.iter().zip(begin).all(|(place, token)| place.token == *token);
                is_here.then_some((first.start, last.end, worth))
            }
            Self::Char(char) => first.token.starts_with(char.as_str()).then_some((first.start, first.first_end, FORM)),
        }
    }
}

/// The worth of a needle that occurs as it was typed.
const EXACT: u32 = 3;

/// The worth of another form of it.
const FORM: u32 = 2;

/// Whether a token is another form of a word: one with the same stem, or a longer word.
fn is_form(word: &Word, token: &str, languages: &[Language]) -> bool {
    if word.open && token.starts_with(&word.token) {
        return true;
    }
    let is_near = |stem: &String| stem.chars().zip(token.chars()).take(2).all(|(one, other)| one == other);
    if !word.stems.iter().any(is_near) {
        return false;
    }
    let letters = Language::of_letters(token);
    let languages = letters.as_ref().map_or(languages, std::slice::from_ref);
    let mut stems = languages.iter().map(|language| stems::with(*language, token, str::to_owned));
    stems.any(|stem| word.stems.contains(&stem))
}

/// One needle at one place.
struct Occurrence {
    needle: usize,
    span: Span,
    worth: u32,
}

fn best(clusters: &Clusters<'_>, needles: &[Needle]) -> Option<Span> {
    let (places, pieces) = places(&clusters.folded);
    let at = |places: &[Place<'_>], needle: (usize, &Needle)| {
        let (start, end, worth) = needle.1.occurs(places)?;
        Some(Occurrence { needle: needle.0, span: clusters.span(start, end), worth })
    };
    let mut found: Vec<Occurrence> = Vec::new();
    for start in 0..places.len() {
        let here = places.get(start..).unwrap_or_default();
        found.extend(needles.iter().enumerate().filter_map(|needle| at(here, needle)));
        if found.len() >= OCCURRENCES {
            break;
        }
    }
    for piece in &pieces {
        let words = needles.iter().enumerate().filter(|(_, needle)| matches!(needle, Needle::Word(..)));
        found.extend(words.filter_map(|needle| at(std::slice::from_ref(piece), needle)));
    }
    found.sort_by_key(|occurrence| occurrence.span.start);
    let worth = |first: usize| {
        let mut worth = vec![0; needles.len()];
        let near = found.get(first..).unwrap_or_default();
        let reach = near.first().map_or(0, |occurrence| occurrence.span.start + LENGTH - BEFORE);
        for occurrence in near.iter().take_while(|occurrence| occurrence.span.end <= reach) {
            if let Some(worth) = worth.get_mut(occurrence.needle) {
                *worth = (*worth).max(occurrence.worth);
            }
        }
        worth.iter().sum::<u32>() + u32::from(near.first().is_some_and(|occurrence| occurrence.worth == EXACT))
    };
    let first = (0..found.len()).max_by_key(|first| (worth(*first), std::cmp::Reverse(*first)))?;
    let found = found.get(first..)?;
    let start = found.first()?.span.start;
    // Overlapping occurrences belong to the hit: a sequence to its first word, a pair to the one before.
    let mut end = found.first()?.span.end;
    for occurrence in found {
        if occurrence.span.start < end || occurrence.span.start == start {
            end = end.max(occurrence.span.end);
        }
    }
    Some(Span { start, end })
}

#[cfg(test)]
mod tests;
