//! A tool result: a string, or a list of parts of which some are text.

use serde_json::Value;

use crate::budget::Size;
use crate::preview::OPENING_TAG;

/// The content of a tool result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Parts, each as its JSON text.
    Parts(Vec<String>),
}

impl Content {
    /// Returns its text: the text parts, joined with newlines.
    #[must_use]
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Text(text) => text.into(),
            Self::Parts(parts) => parts.iter().filter_map(|part| text_of(part)).collect::<Vec<_>>().join("\n").into(),
        }
    }

    /// Returns how many chars count against a budget: those of its text, without the newlines that join the parts.
    #[must_use]
    pub fn chars(&self) -> usize {
        match self {
            Self::Text(text) => text.chars().count(),
            Self::Parts(parts) => parts.iter().filter_map(|part| text_of(part)).map(|text| text.chars().count()).sum(),
        }
    }

    /// Whether it has more chars than `size` allows. A long text is not counted, because no char has more than four
    /// bytes.
    #[must_use]
    pub fn exceeds(&self, size: Size) -> bool {
        match (self, size) {
            (Self::Text(text), Size::Chars(most)) if text.len() / 4 > most => true,
            _ => size.is_exceeded_by(self.chars()),
        }
    }

    /// Whether it was spilled before.
    #[must_use]
    pub fn is_spilled(&self) -> bool {
        self.text().contains(OPENING_TAG)
    }

    /// Returns the content with `text` in place of all its text. Other parts stay where they are. The text goes where
    /// the first text part was, in a part of the same type.
    #[must_use]
    pub fn with_text(&self, text: String) -> Self {
        match self {
            Self::Text(_) => Self::Text(text),
            Self::Parts(parts) => {
                let mut text = Some(text);
                let replaced = |part: &String| match text_of(part) {
                    Some(_) => text.take().map(|text| part_with(part, text)),
                    None => Some(part.clone()),
                };
                Self::Parts(parts.iter().filter_map(replaced).collect())
            }
        }
    }
}

/// Types of the parts that are text.
const TEXT_TYPES: [&str; 3] = ["text", "input_text", "output_text"];

/// Returns the text of a part: a bare string, or the `text` of an object with one of these types or none.
fn text_of(part: &str) -> Option<String> {
    match serde_json::from_str(part) {
        Ok(Value::String(text)) => Some(text),
        Ok(Value::Object(mut object)) => {
            let is_text =
                object.get("type").is_none_or(|kind| kind.as_str().is_some_and(|kind| TEXT_TYPES.contains(&kind)));
            match object.remove("text") {
                Some(Value::String(text)) if is_text => Some(text),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns a text part with another text.
fn part_with(part: &str, text: String) -> String {
    match serde_json::from_str(part) {
        Ok(Value::Object(mut object)) => {
            object.insert("text".to_owned(), Value::String(text));
            Value::Object(object).to_string()
        }
        _ => Value::String(text).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_parts_count_and_change_and_others_stay() {
        let image = r#"{"type":"image","data":"…"}"#.to_owned();
        let parts = [r#"{"type":"text","text":"one"}"#, &image, r#""two""#, "7"].map(str::to_owned).to_vec();
        let content = Content::Parts(parts);
        assert_eq!(content.text(), "one\ntwo");
        assert_eq!(content.chars(), 6);
        let changed = content.with_text("new".into());
        assert_eq!(changed, Content::Parts(vec![r#"{"type":"text","text":"new"}"#.into(), image, "7".into()]));
    }

    #[test]
    fn a_content_exceeds_a_size_by_chars_not_bytes() {
        for letter in ["a", "é", "漢", "😀"] {
            for (chars, most, exceeds) in
                [(9, 10, false), (10, 10, false), (11, 10, true), (50, 10, true), (1, 0, true)]
            {
                let content = Content::Text(letter.repeat(chars));
                assert_eq!(content.exceeds(Size::Chars(most)), exceeds, "{chars} {letter} of {most}");
                assert!(!content.exceeds(Size::Infinite));
            }
        }
    }

    #[test]
    fn a_part_is_text_by_its_type_and_keeps_it() {
        for (part, chars, changed) in [
            (r#"{"type":"input_text","text":"one"}"#, 3, r#"{"type":"input_text","text":"n"}"#),
            (r#"{"type":"output_text","text":"one","x":1.50}"#, 3, r#"{"type":"output_text","text":"n","x":1.5}"#),
            (r#"{"text":"one"}"#, 3, r#"{"text":"n"}"#),
            (r#""one""#, 3, r#""n""#),
            (r#"{"type":"reasoning","text":"one"}"#, 0, r#"{"type":"reasoning","text":"one"}"#),
            (r#"{"type":"text","text":7}"#, 0, r#"{"type":"text","text":7}"#),
            (r#"{"type":7,"text":"one"}"#, 0, r#"{"type":7,"text":"one"}"#),
        ] {
            let content = Content::Parts(vec![part.to_owned()]);
            assert_eq!(
                (content.chars(), content.with_text("n".into())),
                (chars, Content::Parts(vec![changed.to_owned()]))
            );
        }
    }
}
