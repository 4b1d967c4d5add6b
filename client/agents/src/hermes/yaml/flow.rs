//! Collections in brackets: `{engine: herma}`, `[a, b]`, on one line or several.

use std::ops::Range;

/// A collection in brackets, as places in the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Flow {
    /// From the opening bracket to behind the closing one.
    pub(super) span: Range<usize>,
    pub(super) items: Vec<Item>,
}

/// What stands between two commas.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) span: Range<usize>,
    /// Behind the colon; the whole item where there is none.
    pub(super) value: Range<usize>,
    /// The key, without quotes; the item itself where there is no colon.
    pub(super) key: String,
}

impl Flow {
    /// Reads the collection that begins at the place, which has an opening bracket.
    pub(super) fn read(text: &str, start: usize) -> Option<Self> {
        let is_map = text[start..].starts_with('{');
        let close = if is_map { '}' } else { ']' };
        let mut items = Vec::new();
        let mut at = start + 1;
        loop {
            at = skip_space(text, at);
            let next = text[at..].chars().next()?;
            if next == close {
                return Some(Self { span: start..at + 1, items });
            }
            if next == ',' {
                at += 1;
                continue;
            }
            if matches!(next, '}' | ']') {
                return None;
            }
            let item = item(text, at, is_map)?;
            at = item.span.end;
            items.push(item);
        }
    }

    /// Where another item goes, and its text.
    pub(super) fn insertion(&self, item: &str) -> (Range<usize>, String) {
        match self.items.last() {
            None => (self.span.start + 1..self.span.start + 1, item.to_owned()),
            Some(last) => (last.span.end..last.span.end, format!(", {item}")),
        }
    }

    /// What has to go so that the item is gone: it and one comma.
    pub(super) fn removal(&self, at: usize) -> Option<Range<usize>> {
        let own = &self.items.get(at)?.span;
        let before = at.checked_sub(1).and_then(|before| self.items.get(before));
        Some(match (self.items.get(at + 1), before) {
            (Some(next), _) => own.start..next.span.start,
            (None, Some(before)) => before.span.end..own.end,
            (None, None) => own.clone(),
        })
    }
}

fn item(text: &str, start: usize, is_map: bool) -> Option<Item> {
    let (mut at, mut end, mut colon) = (start, start, None);
    loop {
        let rest = &text[at..];
        let next = rest.chars().next()?;
        at = match next {
            ',' | '}' | ']' => break,
            '{' | '[' => Flow::read(text, at)?.span.end,
            '"' | '\'' if end == start || text[..at].ends_with([' ', '\n', ':']) => quoted_end(text, at)?,
            '#' if text[..at].ends_with([' ', '\t', '\n']) => {
                at += rest.find('\n')?;
                continue;
            }
            ':' if is_map && colon.is_none() && is_end_of_key(rest, text[..at].ends_with(['"', '\''])) => {
                colon = Some((end, at + 1));
                at + 1
            }
            _ => at + next.len_utf8(),
        };
        if !next.is_whitespace() {
            end = at;
        }
    }
    let (key_end, value_start) = colon.unwrap_or((end, start));
    let value = skip_space(text, value_start).min(end)..end;
    Some(Item { span: start..end, value, key: unquoted(&text[start..key_end]).to_owned() })
}

/// Whether a colon at the beginning of the text ends a key; behind a quoted one no space is needed.
fn is_end_of_key(rest: &str, is_quoted: bool) -> bool {
    is_quoted || rest[1..].starts_with([' ', '\t', '\n', '\r', ',', '}', ']', '{', '['])
}

/// The first place that is neither space, line end nor comment.
fn skip_space(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if !trimmed.starts_with('#') {
            return at;
        }
        at += trimmed.find('\n').unwrap_or(trimmed.len());
    }
}

/// Behind the quoted text that begins at the place.
pub(super) fn quoted_end(text: &str, start: usize) -> Option<usize> {
    let quote = text[start..].chars().next()?;
    let mut chars = text[start + 1..].char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        if quote == '"' && char == '\\' {
            chars.next();
        } else if char == quote {
            if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == '\'') {
                chars.next();
                continue;
            }
            return Some(start + 1 + at + 1);
        }
    }
    None
}

/// A plain word, or one in quotes that has nothing to be unescaped.
pub(super) fn unquoted(word: &str) -> &str {
    let inner = |quote: char| word.strip_prefix(quote).and_then(|word| word.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).filter(|inner| !inner.contains(['\\', '\'', '"'])).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_found_with_their_keys_and_values() {
        for (text, expected) in [
            ("{}", &[][..]),
            ("[ ]", &[]),
            ("{engine: x, 'b': [1, {c: d}]}", &[("engine", "x"), ("b", "[1, {c: d}]")]),
            ("{\"a\":1,b: 'it''s, so'}", &[("a", "1"), ("b", "'it''s, so'")]),
            ("[a, \"b\", c d ]", &[("a", "a"), ("b", "\"b\""), ("c d", "c d")]),
            ("{\n  a: 1, # one, two\n  b: 2,\n}", &[("a", "1"), ("b", "2")]),
            ("{url: http://x:80/a#b, e:}", &[("url", "http://x:80/a#b"), ("e", "")]),
        ] {
            let flow = Flow::read(text, 0).unwrap();
            let items: Vec<_> = flow.items.iter().map(|item| (item.key.as_str(), &text[item.value.clone()])).collect();
            assert_eq!((items.as_slice(), flow.span), (expected, 0..text.len()), "{text}");
        }
        for text in ["{a: 1", "[\"a]", "{a: [}"] {
            assert_eq!(Flow::read(text, 0).filter(|flow| flow.span.end == text.len()), None, "{text}");
        }
    }

    #[test]
    fn an_item_goes_with_one_comma() {
        for (text, at, expected) in [
            ("[a]", 0, "[]"),
            ("[a, b]", 0, "[b]"),
            ("[a, b]", 1, "[a]"),
            ("[a, b, c]", 1, "[a, c]"),
            ("[a, b ,]", 1, "[a ,]"),
        ] {
            let mut text = text.to_owned();
            let range = Flow::read(&text, 0).unwrap().removal(at).unwrap();
            text.replace_range(range, "");
            assert_eq!(text, expected);
        }
    }
}
