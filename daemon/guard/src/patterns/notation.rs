//! The notation of the table, and reading it.
//!
//! Letters and signs stand for themselves, small for capital too. A space is a run of white space;
//! `\s` is one white space, `\h` one within the line, `\w` one letter, digit or underscore, `[…]`
//! one of a set; after these `+` asks for a run and `*` for a run that may be empty. `[…]{20,}` is
//! a run of twenty or more. `\<` and `\>` are the edges of a word, `\z` is the end of the text,
//! `\$` the beginning of a variable: `$` or `${` and letters up to here.
//!
//! `(…|…)` are ways to write a part, each searched for by a word of its own. `{…|…}` are ways that
//! are tried, in order, beside a word that is found; `{=…}` does not belong to the hit, and before
//! `{~…}` may be up to three words.

use std::iter::Peekable;
use std::mem;
use std::str::Chars;
use std::sync::Arc;

use super::element::{Element, Kind};
use super::ways::Ways;

/// The length that `{20,}` asks for.
const LONG: usize = 20;

/// What the expression can be written out to, in its order.
pub(super) fn parse(expression: &str) -> Vec<Vec<Element>> {
    alternatives(&mut expression.chars().peekable())
}

/// Reads up to the bracket that closes, or to the end.
fn alternatives(rest: &mut Peekable<Chars<'_>>) -> Vec<Vec<Element>> {
    let mut done = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(c) = rest.next() {
        match c {
            ')' | '}' => break,
            '|' => done.append(&mut mem::replace(&mut open, vec![Vec::new()])),
            '(' => open = product(&open, &alternatives(rest)),
            c => {
                let element = element(c, rest);
                open.iter_mut().for_each(|way| push(way, element.clone()));
            }
        }
    }
    done.append(&mut open);
    done
}

fn element(c: char, rest: &mut Peekable<Chars<'_>>) -> Element {
    match c {
        ' ' => Element::Run(Kind::Space, 1),
        '{' => group(rest),
        '[' => repeated(Kind::Set(set(rest)), rest),
        '\\' => escape(rest),
        c => Element::Literal(vec![u8::try_from(u32::from(c.to_ascii_lowercase())).unwrap_or(0)]),
    }
}

fn group(rest: &mut Peekable<Chars<'_>>) -> Element {
    let group = match rest.next_if(|c| matches!(c, '=' | '~')) {
        Some('=') => Element::Ahead,
        Some(_) => Element::Near,
        None => Element::Choice,
    };
    group(Arc::new(Ways::new(alternatives(rest))))
}

fn escape(rest: &mut Peekable<Chars<'_>>) -> Element {
    match rest.next() {
        Some('s') => repeated(Kind::Space, rest),
        Some('h') => repeated(Kind::Blank, rest),
        Some('w') => repeated(Kind::Word, rest),
        Some('<') => Element::WordStart,
        Some('>') => Element::WordEnd,
        Some('z') => Element::TextEnd,
        Some('$') => Element::Variable,
        other => Element::Literal(other.and_then(|c| u8::try_from(c).ok()).into_iter().collect()),
    }
}

fn repeated(kind: Kind, rest: &mut Peekable<Chars<'_>>) -> Element {
    let is_set = matches!(kind, Kind::Set(_));
    match rest.next_if(|c| matches!(c, '+' | '*') || (is_set && *c == '{')) {
        None => Element::One(kind),
        Some('+') => Element::Run(kind, 1),
        Some('*') => Element::Run(kind, 0),
        Some(_) => {
            rest.by_ref().find(|c| *c == '}');
            Element::Run(kind, LONG)
        }
    }
}

/// Reads a set: characters, ranges of them, `\s`, and others after a backslash.
fn set(rest: &mut Peekable<Chars<'_>>) -> u128 {
    let mut members = 0;
    let mut last = None;
    while let Some(c) = rest.next() {
        match (c, last) {
            (']', _) => break,
            ('-', Some(from)) if rest.peek().is_some_and(|c| *c != ']') => {
                let to = rest.next().unwrap_or(from);
                (from..=to).for_each(|c| members |= bit(c));
            }
            ('\\', _) => match rest.next() {
                Some('s') => "\t\n\u{B}\u{C}\r ".chars().for_each(|c| members |= bit(c)),
                other => members |= other.map_or(0, bit),
            },
            (c, _) => members |= bit(c),
        }
        last = Some(c);
    }
    members
}

fn bit(c: char) -> u128 {
    1_u128.checked_shl(u32::from(c)).unwrap_or(0)
}

fn product(heads: &[Vec<Element>], tails: &[Vec<Element>]) -> Vec<Vec<Element>> {
    let pairs = heads.iter().flat_map(|head| tails.iter().map(move |tail| (head, tail)));
    pairs
        .map(|(head, tail)| {
            let mut way = head.clone();
            tail.iter().for_each(|element| push(&mut way, element.clone()));
            way
        })
        .collect()
}

/// Appends an element; letters join the letters before them.
fn push(way: &mut Vec<Element>, element: Element) {
    match (way.last_mut(), element) {
        (Some(Element::Literal(letters)), Element::Literal(more)) => letters.extend(more),
        (_, element) => way.push(element),
    }
}
