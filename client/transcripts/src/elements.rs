//! Elements like `<name>…</name>` that a program adds to its user's words. Only a whole element counts, because a user
//! may quote the beginning of one.

/// An element at the beginning of a text: its name, its content, and the text after it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Element<'a> {
    pub(crate) name: &'a str,
    pub(crate) inner: &'a str,
    pub(crate) rest: &'a str,
}

/// Returns the element at the beginning of a text, after white space, if it has one of these names.
pub(crate) fn first<'a>(text: &'a str, names: &[&str]) -> Option<Element<'a>> {
    let open = text.trim_start().strip_prefix('<')?;
    let (name, after) = open.split_once('>')?;
    if !names.contains(&name) {
        return None;
    }
    let (inner, rest) = after.split_once(&format!("</{name}>"))?;
    // If the same element begins again, the first one is a quotation.
    (!inner.contains(&format!("<{name}>"))).then_some(Element { name, inner: inner.trim(), rest })
}

/// Removes the elements of these names from both ends of a text. Returns the rest and how many were removed.
pub(crate) fn without<'a>(text: &'a str, names: &[&str]) -> (&'a str, usize) {
    let (mut text, mut count) = (text, 0);
    while let Some(element) = first(text, names) {
        (text, count) = (element.rest, count + 1);
    }
    while let Some(before) = before_last(text, names) {
        (text, count) = (before, count + 1);
    }
    (if count == 0 { text } else { text.trim() }, count)
}

/// Returns the text before the element at its end, if the element has one of these names and begins a line.
fn before_last<'a>(text: &'a str, names: &[&str]) -> Option<&'a str> {
    let closed = text.trim_end().strip_suffix('>')?;
    let (before, name) = closed.rsplit_once("</")?;
    if !names.contains(&name) {
        return None;
    }
    let (before, _) = before.rsplit_once(&format!("<{name}>"))?;
    (before.is_empty() || before.ends_with('\n')).then_some(before)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 2] = ["note", "of two"];

    #[test]
    fn only_whole_elements_at_the_ends_go() {
        for (text, rest, count) in [
            ("<note>a</note>", "", 1),
            (" <note>a</note>\n<of two>b</of two>\n what now? ", "what now?", 2),
            ("what now?\n<note>a\nb</note>\n", "what now?", 1),
            ("<note>a</note>x<note>b</note>", "x<note>b</note>", 1),
            ("<note> is in my log", "<note> is in my log", 0),
            ("why is <note>a</note> there?", "why is <note>a</note> there?", 0),
            ("it ends with <note>a</note>", "it ends with <note>a</note>", 0),
            ("<other>a</other>", "<other>a</other>", 0),
            ("<note>a</other>", "<note>a</other>", 0),
            ("</note>", "</note>", 0),
            ("<note> is a tag: <note>a</note>", "<note> is a tag: <note>a</note>", 0),
            ("", "", 0),
            (" as it is \n", " as it is \n", 0),
        ] {
            assert_eq!(without(text, &NAMES), (rest, count), "{text:?}");
        }
    }

    proptest! {
        /// Only elements are removed, and a second call changes nothing.
        #[test]
        fn what_is_left_stood_there(text in "(<note>|</note>|<of two>|</of two>|[a-z<>/é\n]|note){0,12}") {
            let (rest, _) = without(&text, &NAMES);
            prop_assert!(text.contains(rest));
            prop_assert_eq!(without(rest, &NAMES), (rest, 0));
        }
    }
}
