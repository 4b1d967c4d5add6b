//! Pieces of several views.

use herma_base::out;
use herma_client::protocol::session::chain::Row;
use maud::{Markup, html};

use crate::request::address;

/// The most chars of a line in a list.
const LINE: usize = 160;

/// Returns a time: how long ago, with the exact time for a pointer and for a screen reader.
pub(crate) fn time(seconds: f64) -> Markup {
    let exact = out::local_time(seconds);
    html! { time datetime=(exact) title=(exact) { (out::ago(seconds)) } }
}

/// Returns a text on one line, cut where it is long.
pub(crate) fn line(text: &str) -> String {
    let one: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match one.char_indices().nth(LINE) {
        Some((at, _)) => format!("{}…", &one[..at]),
        None => one,
    }
}

/// Returns the beginning of a text that has at most so many bytes once it is escaped.
pub(crate) fn beginning(text: &str, bytes: usize) -> &str {
    let mut length = 0;
    let escaped = |char: char| match char {
        '&' => 5,
        '<' | '>' => 4,
        '"' => 6,
        other => other.len_utf8(),
    };
    let end = text.char_indices().find(|(_, char)| {
        length += escaped(*char);
        length > bytes
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// Returns a bar with its share in words.
pub(crate) fn bar(share: f64, words: &str) -> Markup {
    let percent = (share.clamp(0.0, 1.0) * 100.0).round();
    html! { span.bar { progress max="100" value=(percent) aria-label=(words) {} " " span { (words) } } }
}

/// Returns the link to a session.
pub(crate) fn session(id: &str, words: &str) -> Markup {
    html! { a href=(address("/session", &[("id", id)])) { (words) } }
}

/// Returns the name of a session for people: its title, else what it began with, else its id.
pub(crate) fn name(title: Option<&str>, preview: &str, id: &str) -> String {
    let found = title.into_iter().chain([preview]).find(|text| !text.trim().is_empty());
    line(found.unwrap_or(id))
}

/// Returns the share of its window that a session's newest prompt filled, if both are known.
pub(crate) fn fill(row: &Row) -> Option<f64> {
    let window = row.context_length.filter(|window| *window > 0)?;
    Some(row.last_prompt? as f64 / window as f64)
}

/// Returns a number with its thousands apart.
pub(crate) fn number(number: u64) -> String {
    out::thousands(number)
}

/// Returns what there is in the place of an empty list.
pub(crate) fn empty(words: &str) -> Markup {
    html! { p.quiet { (words) } }
}

/// Returns a search field in a form that loads a page.
pub(crate) fn search(action: &str, label: &str, value: &str, hidden: &[(&str, &str)]) -> Markup {
    html! {
        form.search role="search" action=(action) {
            @for (name, value) in hidden { @if !value.is_empty() { input type="hidden" name=(name) value=(value); } }
            label { span { (label) } input type="search" name="q" value=(value) maxlength="1000"; }
            button type="submit" { "Search" }
        }
    }
}

/// Returns the links to the pages before and after this one. `label` tells those above from those below.
pub(crate) fn pages(label: &str, before: Option<&str>, after: Option<&str>) -> Markup {
    html! {
        @if before.is_some() || after.is_some() {
            nav.pages aria-label=(label) {
                @if let Some(before) = before { a rel="prev" href=(before) { "← earlier" } }
                @if let Some(after) = after { a rel="next" href=(after) { "later →" } }
            }
        }
    }
}

/// Returns a text with one part marked, by chars.
pub(crate) fn marked(text: &str, start: u64, end: u64) -> Markup {
    let at = |chars: u64| {
        let nth = usize::try_from(chars).unwrap_or(usize::MAX);
        text.char_indices().nth(nth).map_or(text.len(), |(at, _)| at)
    };
    let (start, end) = (at(start), at(end.max(start)));
    html! { (text[..start]) @if end > start { mark { (text[start..end]) } } (text[end..]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_cut_and_marked() {
        assert_eq!(line("a\n b\t c"), "a b c");
        assert_eq!(line(&"é".repeat(200)).chars().count(), LINE + 1);
        assert_eq!(marked("a<é>b", 2, 3).into_string(), "a&lt;<mark>é</mark>&gt;b");
        assert_eq!(marked("ab", 5, 9).into_string(), "ab");
        assert_eq!(marked("ab", 1, 0).into_string(), "ab");
        assert_eq!(name(Some(" "), "", "id"), "id");
        assert_eq!((beginning("a<bé", 5), beginning("a<bé", 6), beginning("a<bé", 8)), ("a<", "a<b", "a<bé"));
    }
}
