//! Parts of a text that a person marked as private: `<private>…</private>`.

use std::borrow::Cow;
use std::ops::Range;

/// The tags, in lower case; a text may have them in any case.
const OPENING: &str = "<private>";
/// See [`OPENING`].
const CLOSING: &str = "</private>";

/// The replacement for a private part.
const REPLACEMENT: &str = "[private]";

/// Replaces each `<private>…</private>` by `[private]`. A part goes to the tag that closes it; if a tag within it is
/// never closed, it goes to the last closing tag before the next part. A tag that nothing closes is ordinary text.
pub fn without_private(text: &str) -> Cow<'_, str> {
    let mut clean = String::new();
    let mut copied = 0;
    for part in private_parts(text) {
        clean.push_str(&text[copied..part.start]);
        clean.push_str(REPLACEMENT);
        copied = part.end;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    clean.push_str(&text[copied..]);
    Cow::Owned(clean)
}

/// Returns where the private parts of a text are, tags included, in ascending order.
pub fn private_parts(text: &str) -> Vec<Range<usize>> {
    let mut openings = tags(text, OPENING).peekable();
    let mut closings = tags(text, CLOSING).peekable();
    let mut parts = Vec::new();
    while let Some(start) = openings.next() {
        let Some(end) = part_end(start, &mut openings, &mut closings) else { break };
        parts.push(start..end);
    }
    parts
}

/// Returns where a tag is, in any case.
fn tags<'a>(text: &'a str, tag: &'static str) -> impl Iterator<Item = usize> + 'a {
    let bytes = text.as_bytes();
    let is_tag = move |at: &usize| {
        bytes.get(*at..*at + tag.len()).is_some_and(|found| found.eq_ignore_ascii_case(tag.as_bytes()))
    };
    memchr::memchr_iter(b'<', bytes).filter(is_tag)
}

/// Returns the end of the part whose opening tag is at `start`, and passes all tags within it. `None` if no tag closes
/// it.
fn part_end(
    start: usize,
    openings: &mut std::iter::Peekable<impl Iterator<Item = usize>>,
    closings: &mut std::iter::Peekable<impl Iterator<Item = usize>>,
) -> Option<usize> {
    while closings.next_if(|closing| *closing < start).is_some() {}
    let mut depth = 1_usize;
    let mut end = None;
    while let Some(closing) = closings.peek().copied() {
        while openings.next_if(|opening| *opening < closing).is_some() {
            depth += 1;
        }
        closings.next();
        end = Some(closing + CLOSING.len());
        depth -= 1;
        if depth == 0 {
            break;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_part_is_replaced_with_all_that_is_in_it() {
        for (text, expected) in [
            ("", ""),
            ("a < b", "a < b"),
            ("<private>a</private>", "[private]"),
            ("x <private>a\nb</private> y", "x [private] y"),
            ("<PRIVATE>a</Private>é", "[private]é"),
            ("<private>a</private><private>b</private>c", "[private][private]c"),
            ("<private>a<private>b</private>c</private>d", "[private]d"),
            ("<private>the tag <private> is a\n</private> b", "[private] b"),
            ("a </private> b", "a </private> b"),
            ("a <private> b", "a <private> b"),
            ("</private><private>a</private>", "</private>[private]"),
            ("<private></private>", "[private]"),
            ("<private>a</private> <private> b", "[private] <private> b"),
        ] {
            assert_eq!(without_private(text), expected, "{text}");
        }
    }
}
