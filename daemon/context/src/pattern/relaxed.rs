//! Relaxed patterns, which a small automaton can search in any text.
//!
//! `\b` depends on whether the neighbouring chars are letters of any script. No automaton of `regex-automata`
//! supports that: it gives up at the first non-ASCII char, and much slower engines search the rest. An
//! automaton can see an ASCII word boundary. Where one side is known to be an ASCII letter, both kinds of
//! boundary agree.
//!
//! The letters of all scripts also make a large automaton wherever `\w` occurs. The class of all non-ASCII
//! chars makes a small one.

use regex_syntax::hir::{Capture, Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition};

/// A pattern in two forms.
pub(super) struct Forms {
    /// The pattern.
    pub(super) exact: Hir,
    /// A pattern that matches wherever the exact one does. It sees no word boundaries beyond ASCII, and
    /// treats all letters there alike. `None` if the pattern already has this form.
    pub(super) relaxed: Option<Relaxed>,
}

/// A pattern that matches wherever another does.
pub(super) struct Relaxed {
    pub(super) hir: Hir,
    /// Whether both match the same in ASCII text.
    pub(super) is_same_in_ascii: bool,
}

impl Forms {
    /// Builds both forms of a parsed pattern.
    pub(super) fn of(written: &Hir) -> Self {
        let exact = without_odd_cases(written);
        let mut dropped = false;
        let hir = with_all_non_ascii(&relaxed(&exact, &mut dropped));
        let relaxed = (hir != exact).then(|| Relaxed { hir, is_same_in_ascii: !dropped });
        Self { exact, relaxed }
    }
}

/// Non-ASCII chars that are another case of an ASCII letter: the long s and the Kelvin sign. Real words don't
/// use them. With them, no word that begins or ends with s or k would have an ASCII boundary.
const ODD_CASES: [char; 2] = ['\u{17f}', '\u{212a}'];

fn without_odd_cases(hir: &Hir) -> Hir {
    rebuilt(hir, &mut |leaf| match leaf.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            let is_odd = |start: char, end: char| start == end && ODD_CASES.contains(&start);
            let kept = class.iter().filter(|range| !is_odd(range.start(), range.end()));
            Hir::class(Class::Unicode(ClassUnicode::new(kept.copied())))
        }
        _ => leaf.clone(),
    })
}

/// The most ranges of a class that keeps its non-ASCII chars apart. White space has ten ranges, the letters
/// of all scripts a hundred.
const SMALL: usize = 32;

/// Returns the pattern with all non-ASCII chars added to each large class that contains any.
fn with_all_non_ascii(hir: &Hir) -> Hir {
    rebuilt(hir, &mut |leaf| match leaf.kind() {
        HirKind::Class(Class::Unicode(class)) if class.ranges().len() > SMALL => {
            let mut wide = class.clone();
            wide.push(ClassUnicodeRange::new('\u{80}', char::MAX));
            Hir::class(Class::Unicode(wide))
        }
        _ => leaf.clone(),
    })
}

/// Returns the pattern with other leaves.
fn rebuilt(hir: &Hir, leaf: &mut impl FnMut(&Hir) -> Hir) -> Hir {
    match hir.kind() {
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(|part| rebuilt(part, leaf)).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(|part| rebuilt(part, leaf)).collect()),
        HirKind::Repetition(of) => repeated(of, rebuilt(&of.sub, leaf)),
        HirKind::Capture(of) => captured(of, rebuilt(&of.sub, leaf)),
        _ => leaf(hir),
    }
}

fn repeated(like: &Repetition, sub: Hir) -> Hir {
    Hir::repetition(Repetition { sub: Box::new(sub), ..like.clone() })
}

fn captured(like: &Capture, sub: Hir) -> Hir {
    Hir::capture(Capture { sub: Box::new(sub), ..like.clone() })
}

/// Returns the pattern with ASCII word boundaries wherever they agree with the Unicode ones. Other boundaries
/// are left out, and `dropped` becomes true.
fn relaxed(hir: &Hir, dropped: &mut bool) -> Hir {
    match hir.kind() {
        HirKind::Look(Look::WordUnicode) => {
            *dropped = true;
            Hir::empty()
        }
        HirKind::Concat(parts) => relaxed_concat(parts, dropped),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(|part| relaxed(part, dropped)).collect()),
        HirKind::Repetition(of) => repeated(of, relaxed(&of.sub, dropped)),
        HirKind::Capture(of) => captured(of, relaxed(&of.sub, dropped)),
        _ => hir.clone(),
    }
}

fn relaxed_concat(parts: &[Hir], dropped: &mut bool) -> Hir {
    let is_end = |part: &Hir| matches!(part.kind(), HirKind::Look(Look::WordUnicode));
    let mut made: Vec<Hir> = Vec::with_capacity(parts.len());
    // A word boundary that is determined by the next part.
    let mut waits = false;
    for (at, part) in parts.iter().enumerate() {
        if !is_end(part) {
            let part = relaxed(part, dropped);
            made.push(if std::mem::take(&mut waits) { with_ascii_boundary(&part, Side::Begin, dropped) } else { part });
            continue;
        }
        let before = at.checked_sub(1).and_then(|at| parts.get(at)).filter(|part| !is_end(part));
        let after = parts.get(at + 1).filter(|part| !is_end(part));
        let is_seen = before.is_some_and(|before| is_plain(before, Side::End))
            || after.is_some_and(|after| is_plain(after, Side::Begin));
        match (is_seen, after) {
            (true, _) => made.push(Hir::look(Look::WordAscii)),
            (false, Some(after)) if has_branches(after) => waits = true,
            (false, _) => match made.pop() {
                Some(last) => made.push(with_ascii_boundary(&last, Side::End, dropped)),
                None => *dropped = true,
            },
        }
    }
    Hir::concat(made)
}

/// The side of a part that touches a word boundary.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Begin,
    End,
}

fn has_branches(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Alternation(_) => true,
        HirKind::Capture(of) => has_branches(&of.sub),
        _ => false,
    }
}

/// Returns the part with a word boundary at its side, in each branch that determines it.
fn with_ascii_boundary(hir: &Hir, side: Side, dropped: &mut bool) -> Hir {
    match hir.kind() {
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.iter().map(|part| with_ascii_boundary(part, side, dropped)).collect())
        }
        HirKind::Capture(of) => captured(of, with_ascii_boundary(&of.sub, side, dropped)),
        _ if is_plain(hir, side) => {
            let end = Hir::look(Look::WordAscii);
            match side {
                Side::Begin => Hir::concat(vec![end, hir.clone()]),
                Side::End => Hir::concat(vec![hir.clone(), end]),
            }
        }
        _ => {
            *dropped = true;
            hir.clone()
        }
    }
}

/// Whether every match of a part has an ASCII letter, a digit or `_` at this side.
fn is_plain(hir: &Hir, side: Side) -> bool {
    match hir.kind() {
        HirKind::Literal(literal) => {
            let byte = match side {
                Side::Begin => literal.0.first(),
                Side::End => literal.0.last(),
            };
            byte.is_some_and(|byte| is_word(*byte))
        }
        HirKind::Class(Class::Unicode(class)) => {
            let is_plain = |start: char, end: char| start.is_ascii() && end.is_ascii() && (start..=end).all(is_letter);
            class.iter().all(|range| is_plain(range.start(), range.end())) && !class.ranges().is_empty()
        }
        HirKind::Repetition(of) => of.min > 0 && is_plain(&of.sub, side),
        HirKind::Capture(of) => is_plain(&of.sub, side),
        HirKind::Alternation(parts) => parts.iter().all(|part| is_plain(part, side)),
        HirKind::Concat(parts) => {
            let is_something = |part: &&Hir| !matches!(part.kind(), HirKind::Look(_));
            let first = match side {
                Side::Begin => parts.iter().find(is_something),
                Side::End => parts.iter().rev().find(is_something),
            };
            first.is_some_and(|part| is_plain(part, side))
        }
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) => false,
    }
}

fn is_letter(char: char) -> bool {
    u8::try_from(char).is_ok_and(is_word)
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relaxed_form(source: &str) -> Option<(String, bool)> {
        let forms = Forms::of(&regex_syntax::parse(source).unwrap());
        forms.relaxed.map(|relaxed| (form(&relaxed.hir.to_string()), relaxed.is_same_in_ascii))
    }

    /// Returns a pattern in its printed form.
    fn form(source: &str) -> String {
        regex_syntax::parse(source).unwrap().to_string()
    }

    #[test]
    fn ends_of_words_are_those_of_ascii_or_none() {
        let word = r"(?-u:\b)";
        for (source, expected, is_same_in_ascii) in [
            (r"\bno\b", format!("{word}no{word}"), true),
            (r"(?i)\bstop\b-", format!("{word}[Ss][Tt][Oo][Pp]{word}-"), true),
            (r"\b(?:no|né|über|x-)\b", format!("{word}no{word}|{word}né|über{word}|{word}x-"), false),
            (r"(\b[a-zé]+)ing\b", format!("([a-zé]+)ing{word}"), false),
            (r"a\b+", format!("a{word}"), true),
            (r"é\b-", "é-".to_owned(), false),
            (r"x[^\w-]", r"x[\x00-,.-/:-@\[-^`{-\u{10ffff}]".to_owned(), true),
            (r"5 (?:ms|sec)\b", format!("5 (?:ms|sec){word}"), true),
        ] {
            let found = relaxed_form(source);
            assert_eq!(found, Some((form(&expected), is_same_in_ascii)), "{source}");
        }
        for source in ["no", r"^\s*$", r"(?-u:\b)x"] {
            assert_eq!(relaxed_form(source), None, "{source}");
        }
    }
}
