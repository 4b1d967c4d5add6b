//! Patterns that are part of the source.

mod classes;
mod groups;
mod relaxed;
mod space;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex_automata::meta::Regex;
use regex_automata::util::iter::Searcher;
use regex_automata::{Anchored, Input, Match};
use regex_syntax::hir::Hir;

use self::classes::with_small_classes;
pub(crate) use self::groups::{Found, Groups};
use self::relaxed::Forms;
use self::space::Space;
pub use self::space::free_search_caches;

/// Candidates of the relaxed form that are verified one by one. After that, the exact form searches the rest
/// of the text.
const CANDIDATES: usize = 16;

/// The number of search caches that patterns have reserved.
static ROOMS: AtomicUsize = AtomicUsize::new(0);

/// A pattern that is part of the source. Unlike the types of the crate `regex`, [`free_search_caches`] can free
/// its search caches, and it searches non-ASCII text as fast as ASCII text.
pub(crate) struct Pattern {
    /// Matches wherever the pattern does. Without [`Self::exact`] it is the pattern.
    first: Regex,
    exact: Option<Exact>,
    /// The index of its search cache; the exact form has the next index.
    room: usize,
}

/// The exact form of a pattern with letters or word boundaries of any script.
struct Exact {
    source: Box<str>,
    regex: OnceLock<Regex>,
    /// Whether both forms match the same in ASCII text.
    is_same_in_ascii: bool,
}

/// Returns the pattern of this source.
pub(crate) fn pattern(source: &str) -> Pattern {
    #[cfg(test)]
    tests::note(source);
    let Forms { exact, relaxed } = forms(source);
    let room = ROOMS.fetch_add(2, Ordering::Relaxed);
    match relaxed {
        None => Pattern { first: compiled(&exact), exact: None, room },
        Some(relaxed) => {
            let exact =
                Exact { source: source.into(), regex: OnceLock::new(), is_same_in_ascii: relaxed.is_same_in_ascii };
            Pattern { first: compiled(&relaxed.hir), exact: Some(exact), room }
        }
    }
}

#[expect(clippy::expect_used, reason = "the patterns are constants, and tests compile each of them")]
fn forms(source: &str) -> Forms {
    Forms::of(&regex_syntax::parse(&with_small_classes(source)).expect("a valid pattern"))
}

#[expect(clippy::expect_used, reason = "the patterns are constants, and tests compile each of them")]
fn compiled(hir: &Hir) -> Regex {
    Regex::builder().build_from_hir(hir).expect("a pattern of ordinary size")
}

impl Exact {
    fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| compiled(&forms(&self.source).exact))
    }
}

impl Pattern {
    /// Whether the pattern matches anywhere in a text.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        match self.exact {
            Some(_) => self.find(text).is_some(),
            None => {
                let input = Input::new(text).earliest(true);
                Space::of(&self.first, self.room).search(|cache| self.first.search_half_with(cache, &input)).is_some()
            }
        }
    }

    /// Returns the first match.
    pub(crate) fn find<'t>(&self, text: &'t str) -> Option<Found<'t>> {
        self.searching().next(&Input::new(text)).map(|(found, _)| Found::new(text, found.range()))
    }

    /// Returns all matches; they do not overlap.
    pub(crate) fn find_iter<'t>(&self, text: &'t str) -> impl Iterator<Item = Found<'t>> {
        let mut places = Searcher::new(Input::new(text));
        let mut searching = self.searching();
        std::iter::from_fn(move || {
            let found = places.advance(|input| Ok(searching.next(input).map(|(found, _)| found)))?;
            Some(Found::new(text, found.range()))
        })
    }

    /// Returns the groups of all matches.
    pub(crate) fn captures_iter<'t>(&self, text: &'t str) -> impl Iterator<Item = Groups<'t>> {
        let mut places = Searcher::new(Input::new(text));
        let mut searching = self.searching();
        std::iter::from_fn(move || {
            let mut form = Form::First;
            let found = places.advance(|input| {
                let found = searching.next(input);
                form = found.map_or(form, |(_, form)| form);
                Ok(found.map(|(found, _)| found))
            })?;
            Some(searching.groups(text, found, form))
        })
    }

    /// Replaces every match with a template, in which `$1` is a group.
    pub(crate) fn replace_all<'t>(&self, text: &'t str, template: &str) -> Cow<'t, str> {
        self.replace_all_by(text, |groups| groups.filled(template))
    }

    /// Replaces every match with the result of `by`.
    pub(crate) fn replace_all_by<'t>(&self, text: &'t str, by: impl Fn(&Groups<'t>) -> String) -> Cow<'t, str> {
        let mut made = String::new();
        let mut done = 0;
        for groups in self.captures_iter(text) {
            let Some(whole) = groups.get(0) else { continue };
            made.push_str(text.get(done..whole.start()).unwrap_or_default());
            made.push_str(&by(&groups));
            done = whole.end();
        }
        match done {
            0 if made.is_empty() => Cow::Borrowed(text),
            _ => {
                made.push_str(text.get(done..).unwrap_or_default());
                Cow::Owned(made)
            }
        }
    }

    fn searching(&self) -> Searching<'_> {
        Searching { pattern: self, first: Space::of(&self.first, self.room), exact: None }
    }
}

/// The form of a pattern that matched.
#[derive(Clone, Copy)]
enum Form {
    First,
    Exact,
}

/// A search, with its caches.
struct Searching<'p> {
    pattern: &'p Pattern,
    first: Space,
    exact: Option<Space>,
}

impl Searching<'_> {
    /// Returns the first match of the pattern, and the form that found it.
    ///
    /// The first form matches wherever the pattern does, so no match begins before its first match. A match
    /// of it among ASCII chars alone is also a match of the pattern, with the same branches.
    fn next(&mut self, input: &Input<'_>) -> Option<(Match, Form)> {
        let first = &self.pattern.first;
        let Some(exact) = &self.pattern.exact else {
            return Some((self.first.search(|cache| first.search_with(cache, input))?, Form::First));
        };
        let mut rest = input.clone();
        for _ in 0..CANDIDATES {
            let found = self.first.search(|cache| first.search_with(cache, &rest))?;
            if exact.is_same_in_ascii && is_among_ascii(input.haystack(), found.range()) {
                return Some((found, Form::First));
            }
            rest.set_start(found.start());
            if let Some(found) = self.exactly(exact, &rest.clone().anchored(Anchored::Yes)) {
                return Some((found, Form::Exact));
            }
            let next = end_of_char(input.haystack(), found.start());
            if next > input.end() {
                return None;
            }
            rest.set_start(next);
        }
        Some((self.exactly(exact, &rest)?, Form::Exact))
    }

    fn exactly(&mut self, exact: &Exact, input: &Input<'_>) -> Option<Match> {
        let regex = exact.regex();
        let space = self.exact.get_or_insert_with(|| Space::of(regex, self.pattern.room + 1));
        space.search(|cache| regex.search_with(cache, input))
    }

    /// Returns the groups of a match.
    fn groups<'t>(&mut self, text: &'t str, found: Match, form: Form) -> Groups<'t> {
        let input = Input::new(text).range(found.start()..).anchored(Anchored::Yes);
        let search = |regex: &Regex, space: &mut Space| {
            let mut captures = regex.create_captures();
            space.search(|cache| regex.search_captures_with(cache, &input, &mut captures));
            Groups::new(text, captures)
        };
        match (form, &self.pattern.exact, &mut self.exact) {
            (Form::Exact, Some(exact), Some(space)) => search(exact.regex(), space),
            _ => search(&self.pattern.first, &mut self.first),
        }
    }
}

/// Whether the chars of a range, and the one on each side, are ASCII.
fn is_among_ascii(text: &[u8], found: Range<usize>) -> bool {
    text.get(found.start.saturating_sub(1)..text.len().min(found.end + 1)).is_some_and(<[u8]>::is_ascii)
}

fn end_of_char(text: &[u8], at: usize) -> usize {
    let is_inner = |byte: &u8| (0x80..0xc0).contains(byte);
    let rest = text.get(at + 1..).unwrap_or_default();
    at + 1 + rest.iter().take_while(|byte| is_inner(byte)).count()
}

#[cfg(test)]
mod tests {
    mod foreign;

    use proptest::prelude::*;

    pub(super) use self::foreign::note;
    use super::*;

    #[test]
    fn rooms_are_kept_until_they_are_given_up() {
        std::thread::spawn(|| {
            let (one, other) = (pattern("a+"), pattern(r"\b[b-d]+\b"));
            assert_eq!(space::kept_here(), 0);
            assert!(one.is_match("xa") && !other.is_match("xa"));
            assert_eq!(space::kept_here(), 2);
            // A cache in use is not in the pool meanwhile; a nested search creates another.
            let inner = one.find_iter("a ba").filter(|found| one.is_match(found.as_str())).count();
            assert_eq!((inner, space::kept_here()), (2, 2));
            let mut open = one.find_iter("a ba");
            assert_eq!(open.next().map(|found| found.range()), Some(0..1));
            free_search_caches();
            assert_eq!(space::kept_here(), 0);
            assert_eq!(open.next().map(|found| found.range()), Some(3..4));
            drop(open);
            assert_eq!(space::kept_here(), 1);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_text_that_is_not_ascii_is_as_good_as_any() {
        for (source, text, expected) in [
            (r"\bno\b", "nö noé né no — no", vec!["no", "no"]),
            (r"(?i)\b(?:nie|über|né)\b", "Überall über. Nié nie; néon né", vec!["über", "nie", "né"]),
            (r"\b\w+ing\b", "… running été singé «ringing»", vec!["running", "ringing"]),
            (r"5 ?(?:m|ms)\b", "5 mètres, 5m — 5 ms", vec!["5m", "5 ms"]),
        ] {
            let found: Vec<&str> = pattern(source).find_iter(text).map(|found| found.as_str()).collect();
            assert_eq!(found, expected, "{source}");
        }
        // More candidates than are verified one by one.
        let text = format!("{}no", "noé ".repeat(3 * CANDIDATES));
        assert_eq!(pattern(r"\bno\b").find(&text).map(|found| found.start()), Some(text.len() - 2));
    }

    proptest! {
        /// Finds the same as the type of the crate `regex`, which has no `free_search_caches`.
        #[test]
        fn searches_find_what_others_find(
            source in prop::sample::select(vec![
                "a*", r"(a)|(b)", r"\bé+", "", r"(?i)(x)y?(z)?", r"[^a-c]{2}", "(?:ab)+$", r"\b", r"a\b|\bb", r"\b(a|é)\b",
                r"(\b[a-z]+)c\b", r"\b(?:a|b(c)|éx|x-)+\b", r"(?:\ba)?b\b ?", r"x\b-\bé", r"(?i)\bxz?\b", r"\b\b(a+?)\b",
                r"(?m)^\b.|\b$", r"(?:\b|é)a", r"[^ ]\b", r"\w+", r"a\W+(\w)?", r"\w\b\W", r"(?i)[\w-]+x",
            ]),
            text in "[abcxXyzé—語\n -]{0,60}",
        ) {
            let (own, other) = (pattern(source), regex::Regex::new(source).unwrap());
            prop_assert_eq!(own.is_match(&text), other.is_match(&text));
            prop_assert_eq!(own.find(&text).map(|found| found.range()), other.find(&text).map(|found| found.range()));
            let found: Vec<_> = own.find_iter(&text).map(|found| (found.range(), found.as_str())).collect();
            let expected: Vec<_> = other.find_iter(&text).map(|found| (found.range(), found.as_str())).collect();
            prop_assert_eq!(found, expected);
            let groups = |number| own.captures_iter(&text).map(move |all| all.get(number).map(|one| one.range()));
            let expected = |number| other.captures_iter(&text).map(move |all| all.get(number).map(|one| one.range()));
            for number in 0..3 {
                prop_assert!(groups(number).eq(expected(number)), "group {}", number);
            }
            prop_assert_eq!(own.replace_all(&text, "<$1>"), other.replace_all(&text, "<$1>"));
        }
    }
}
