//! The place in a text where a query is found, with some text round it.
//!
//! Pure. The text is folded and cut into tokens as for the index, cluster by
//! cluster, so that every token knows which part of the text it came from.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::query::{self, Phrase};
use crate::token;

/// Chars of a snippet, without the dots at its ends.
pub const LENGTH: usize = 200;

/// Chars of it before the hit.
const BEFORE: usize = 80;

/// Occurrences that are compared to find the best place.
const OCCURRENCES: usize = 1_000;

/// Part of a text with what was found in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The text; each white space is one space, and `…` stands where it was cut.
    pub text: String,
    /// Where the hit begins in it, in chars.
    pub start: usize,
    /// Where the hit ends in it, in chars. The same as `start` when there is none:
    /// the snippet is the text's beginning then.
    pub end: usize,
    /// Chars of the whole text before the hit.
    pub before: usize,
}

/// The best place of a query in a text: where most of its words are together, the
/// first of such places.
#[must_use]
pub fn snippet(text: &str, query: &str) -> Snippet {
    let clusters = Clusters::of(text);
    let hit = best(&clusters, &query::phrases(query)).unwrap_or_default();
    let before = clusters.clusters.iter().take(hit.start).map(|cluster| cluster.chars().count()).sum();
    Snippet { before, ..clusters.cut_out(hit) }
}

/// A hit, as a range of clusters.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Span {
    start: usize,
    end: usize,
}

/// A text as its readers see it, and as the index does.
struct Clusters<'a> {
    /// What a reader takes for one char.
    clusters: Vec<&'a str>,
    folded: String,
    /// Where each cluster begins in `folded`, in bytes.
    starts: Vec<usize>,
}

impl<'a> Clusters<'a> {
    fn of(text: &'a str) -> Self {
        let mut clusters = Self { clusters: Vec::new(), folded: String::with_capacity(text.len()), starts: Vec::new() };
        for cluster in text.graphemes(true) {
            clusters.clusters.push(cluster);
            clusters.starts.push(clusters.folded.len());
            clusters.folded.push_str(&token::normalise(cluster));
        }
        clusters
    }

    /// The clusters that a range of the folded text came from.
    fn span(&self, start: usize, end: usize) -> Span {
        let first = self.starts.partition_point(|at| *at <= start).saturating_sub(1);
        Span { start: first, end: self.starts.partition_point(|at| *at < end) }
    }

    fn cut_out(&self, hit: Span) -> Snippet {
        let (mut start, mut end, mut chars) = (hit.start, hit.start, 0);
        let mut room = |cluster: Option<&&str>, limit: usize| {
            let length = cluster?.chars().count();
            (chars + length <= limit).then(|| chars += length)
        };
        while end < hit.end && room(self.clusters.get(end), LENGTH).is_some() {
            end += 1;
        }
        let hit_end = end;
        let mut before = 0;
        while start > 0 && before < BEFORE && room(self.clusters.get(start - 1), LENGTH).is_some() {
            start -= 1;
            before += 1;
        }
        while room(self.clusters.get(end), LENGTH).is_some() {
            end += 1;
        }
        while start > 0 && room(self.clusters.get(start - 1), LENGTH).is_some() {
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
            if let Some(cluster) = self.clusters.get(index).filter(|_| index < end) {
                at = push(cluster, &mut snippet.text);
            }
        }
        if end < self.clusters.len() {
            push("…", &mut snippet.text);
        }
        snippet
    }
}

/// A token with where it is in the folded text, in bytes.
struct Place {
    token: String,
    start: usize,
    end: usize,
    /// The end of its first char.
    first_end: usize,
    spaced: bool,
}

fn places(folded: &str) -> Vec<Place> {
    let mut places = Vec::new();
    for run in token::runs(folded) {
        let whole = [run.text];
        let (spaced, pairs) = if run.spaced { (Some(whole), None) } else { (None, Some(token::pairs(run.text))) };
        let mut start = run.start;
        for text in spaced.into_iter().flatten().chain(pairs.into_iter().flatten()) {
            let first_end = start + text.chars().next().map_or(0, char::len_utf8);
            let token = token::lower(token::cut(text));
            places.push(Place { token, start, end: start + text.len(), first_end, spaced: run.spaced });
            start = first_end;
        }
    }
    places
}

/// One phrase at one place.
struct Occurrence {
    phrase: usize,
    span: Span,
    is_exact: bool,
}

fn best(clusters: &Clusters<'_>, phrases: &[Phrase]) -> Option<Span> {
    let places = places(&clusters.folded);
    let mut found = Vec::new();
    for at in 0..places.len() {
        let here = phrases.iter().enumerate().filter_map(|(phrase, wanted)| {
            let (start, end, is_exact) = occurs(places.get(at..)?, wanted)?;
            Some(Occurrence { phrase, span: clusters.span(start, end), is_exact })
        });
        found.extend(here);
        if found.len() >= OCCURRENCES {
            break;
        }
    }
    let worth = |first: usize| {
        let mut worth = vec![0; phrases.len()];
        let near = found.get(first..).unwrap_or_default();
        let reach = near.first().map_or(0, |occurrence| occurrence.span.start + LENGTH - BEFORE);
        for occurrence in near.iter().take_while(|occurrence| occurrence.span.end <= reach) {
            if let Some(worth) = worth.get_mut(occurrence.phrase) {
                *worth = (*worth).max(if occurrence.is_exact { 3 } else { 2 });
            }
        }
        worth.iter().sum::<u32>() + u32::from(near.first().is_some_and(|occurrence| occurrence.is_exact))
    };
    let first = (0..found.len()).max_by_key(|first| (worth(*first), std::cmp::Reverse(*first)))?;
    found.get(first).map(|occurrence| occurrence.span)
}

/// Where a phrase is at the beginning of these places, and whether word for word.
fn occurs(places: &[Place], phrase: &Phrase) -> Option<(usize, usize, bool)> {
    let (last, others) = phrase.tokens.split_last()?;
    let here = places.get(..phrase.tokens.len())?;
    let (last_place, other_places) = here.split_last()?;
    if !other_places.iter().zip(others).all(|(place, token)| place.token == *token) {
        return None;
    }
    let is_exact = last_place.token == *last;
    let begins = phrase.open && last_place.token.starts_with(last.as_str());
    if !is_exact && !begins {
        return None;
    }
    // One char of an unspaced script is found by a pair that begins with it.
    let end = if is_exact || last_place.spaced { last_place.end } else { last_place.first_end };
    Some((here.first()?.start, end, is_exact))
}

#[cfg(test)]
mod tests;
