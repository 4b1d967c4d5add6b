//! What programs put around the words of their users: elements like `<name>…</name>`. They are known by their whole
//! form, never by how a text begins, because a user may quote the beginning of one.

/// An element in front of a text: its name, what stands in it, and the text behind it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Element<'a> {
    pub(crate) name: &'a str,
    pub(crate) inner: &'a str,
    pub(crate) rest: &'a str,
}

/// The element that a text begins with, white space aside, if it is one of these.
pub(crate) fn first<'a>(text: &'a str, names: &[&str]) -> Option<Element<'a>> {
    let open = text.trim_start().strip_prefix('<')?;
    let (name, behind) = open.split_once('>')?;
    if !names.contains(&name) {
        return None;
    }
    let (inner, rest) = behind.split_once(&format!("</{name}>"))?;
    // One that begins again was quoted before.
    (!inner.contains(&format!("<{name}>"))).then_some(Element { name, inner: inner.trim(), rest })
}

/// A text without the elements of these names before and behind it, and how many they were.
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

/// What stands before the element that a text ends with, if it is one of these and begins a line.
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
            ("<note> stands in my log", "<note> stands in my log", 0),
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
        /// Nothing is lost but elements, and a second time changes nothing.
        #[test]
        fn what_is_left_stood_there(text in "(<note>|</note>|<of two>|</of two>|[a-z<>/é\n]|note){0,12}") {
            let (rest, _) = without(&text, &NAMES);
            prop_assert!(text.contains(rest));
            prop_assert_eq!(without(rest, &NAMES), (rest, 0));
        }
    }
}
