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
pub use self::space::forget_searches;

/// Places that are looked at one by one, at each of which a pattern may stand. From there on the text is searched by the
/// pattern itself.
const CANDIDATES: usize = 16;

/// How many rooms for searches patterns have asked for.
static ROOMS: AtomicUsize = AtomicUsize::new(0);

/// A pattern that is part of the source. What its searches work with is given up by [`forget_searches`], which the
/// ready types of the crate `regex` can't; and a text that isn't ASCII is searched as fast as one that is.
pub(crate) struct Pattern {
    /// Stands wherever the pattern does; where nothing is [`Self::exact`] it is the pattern.
    first: Regex,
    exact: Option<Exact>,
    /// The room that a search works in; that of the exact one is the next.
    room: usize,
}

/// A pattern that asks for letters or ends of words of any script.
struct Exact {
    source: Box<str>,
    regex: OnceLock<Regex>,
    /// Whether the first form is the same where all is ASCII.
    is_same_in_ascii: bool,
}

/// The pattern of this source.
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
    /// Whether it stands anywhere in a text.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        match self.exact {
            Some(_) => self.find(text).is_some(),
            None => {
                let input = Input::new(text).earliest(true);
                Space::of(&self.first, self.room).search(|cache| self.first.search_half_with(cache, &input)).is_some()
            }
        }
    }

    /// Where it stands first.
    pub(crate) fn find<'t>(&self, text: &'t str) -> Option<Found<'t>> {
        self.searching().next(&Input::new(text)).map(|(found, _)| Found::new(text, found.range()))
    }

    /// Each place where it stands, none within another.
    pub(crate) fn find_iter<'t>(&self, text: &'t str) -> impl Iterator<Item = Found<'t>> {
        let mut places = Searcher::new(Input::new(text));
        let mut searching = self.searching();
        std::iter::from_fn(move || {
            let found = places.advance(|input| Ok(searching.next(input).map(|(found, _)| found)))?;
            Some(Found::new(text, found.range()))
        })
    }

    /// Where it stands first, with its groups.
    pub(crate) fn captures<'t>(&self, text: &'t str) -> Option<Groups<'t>> {
        self.captures_iter(text).next()
    }

    /// Each place where it stands, with its groups.
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

    /// The text with a template in place of it everywhere; `$1` in it is a group.
    pub(crate) fn replace_all<'t>(&self, text: &'t str, template: &str) -> Cow<'t, str> {
        self.replace_all_by(text, |groups| groups.filled(template))
    }

    /// The text with something else in place of it everywhere.
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

/// Which form of a pattern found something.
#[derive(Clone, Copy)]
enum Form {
    First,
    Exact,
}

/// A search, with the rooms that it works in.
struct Searching<'p> {
    pattern: &'p Pattern,
    first: Space,
    exact: Option<Space>,
}

impl Searching<'_> {
    /// The first place of the pattern, and the form that found it.
    ///
    /// Where the pattern stands its first form does, too. So nothing can begin before the first place of that; and
    /// what it finds among ASCII alone the pattern would have found, by the same branches.
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

    /// The groups of what was found.
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

/// Whether the chars there, and the one on each side, are ASCII.
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
            // One that is in use is nobody's meanwhile; a search within a search makes another.
            let inner = one.find_iter("a ba").filter(|found| one.is_match(found.as_str())).count();
            assert_eq!((inner, space::kept_here()), (2, 2));
            let mut open = one.find_iter("a ba");
            assert_eq!(open.next().map(|found| found.range()), Some(0..1));
            forget_searches();
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
        // More places than are looked at one by one.
        let text = format!("{}no", "noé ".repeat(3 * CANDIDATES));
        assert_eq!(pattern(r"\bno\b").find(&text).map(|found| found.start()), Some(text.len() - 2));
    }

    proptest! {
        /// The same as the ready type of the crate `regex`, which knows no `forget_searches`.
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
