//! A tool result: a string, or a list of parts of which some are text.

use serde_json::Value;

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
    /// Its text: the parts that are text, joined by newlines.
    #[must_use]
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Text(text) => text.into(),
            Self::Parts(parts) => parts.iter().filter_map(|part| text_of(part)).collect::<Vec<_>>().join("\n").into(),
        }
    }

    /// Chars that count against a budget: those of its text, without what joins
    /// the parts.
    #[must_use]
    pub fn chars(&self) -> usize {
        match self {
            Self::Text(text) => text.chars().count(),
            Self::Parts(parts) => parts.iter().filter_map(|part| text_of(part)).map(|text| text.chars().count()).sum(),
        }
    }

    /// It was spilled before.
    #[must_use]
    pub fn is_spilled(&self) -> bool {
        self.text().contains(OPENING_TAG)
    }

    /// The same content with `text` in the place of all its text. Parts that are
    /// no text stay where they are; the text comes where the first one was.
    #[must_use]
    pub fn with_text(&self, text: String) -> Self {
        match self {
            Self::Text(_) => Self::Text(text),
            Self::Parts(parts) => {
                let mut text = Some(serde_json::json!({"type": "text", "text": text}).to_string());
                Self::Parts(
                    parts
                        .iter()
                        .filter_map(|part| if text_of(part).is_some() { text.take() } else { Some(part.clone()) })
                        .collect(),
                )
            }
        }
    }
}

/// The text of a part: a bare string, or the `text` of an object.
fn text_of(part: &str) -> Option<String> {
    match serde_json::from_str(part) {
        Ok(Value::String(text)) => Some(text),
        Ok(Value::Object(mut object)) => match object.remove("text") {
            Some(Value::String(text)) => Some(text),
            _ => None,
        },
        _ => None,
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
}
