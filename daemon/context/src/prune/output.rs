//! A tool output: plain text, or a JSON string that is not decoded.

use std::borrow::Cow;

use memchr::memmem;

use crate::json::{self, StringLength};

/// The lengths of a token, counted once.
#[derive(Clone, Copy, Debug)]
pub struct Lengths(pub(super) StringLength);

/// The text of a tool result.
#[derive(Clone, Copy, Debug)]
pub enum Output<'a> {
    /// The text itself.
    Text(&'a str),
    /// The JSON string token, quotes included; it is decoded only if necessary.
    Token(&'a str, Lengths),
}

impl<'a> Output<'a> {
    /// Returns its chars.
    pub(super) fn chars(self) -> usize {
        match self {
            Self::Text(text) => text.chars().count(),
            Self::Token(_, lengths) => lengths.0.decoded,
        }
    }

    /// Returns its lines; 0 if it is blank.
    pub(super) fn lines(self) -> usize {
        let (blank, newlines) = match self {
            Self::Text(text) => (text.trim().is_empty(), text.matches('\n').count()),
            Self::Token(token, lengths) => (json::is_blank(token), lengths.0.newlines),
        };
        if blank { 0 } else { newlines + 1 }
    }

    /// Returns the integer after the first `"key":` in it.
    pub(super) fn number(self, key: &str) -> Option<String> {
        match self {
            Self::Text(text) => number_after(text, &format!("\"{key}\":")),
            // A quote might be escaped as \u0022, though this does not occur in practice.
            Self::Token(token, _) if memmem::find(token.as_bytes(), b"\\u002").is_some() => {
                Output::Text(&self.decoded()).number(key)
            }
            Self::Token(token, _) => {
                let (at, label) = (memmem::find(token.as_bytes(), b"\\n"), format!("\\\"{key}\\\":"));
                // White space after the label may be escaped; then searching the decoded text is easier.
                match number_after(token, &label) {
                    None if at.is_some() && token.contains(&label) => Output::Text(&self.decoded()).number(key),
                    number => number,
                }
            }
        }
    }

    fn decoded(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Token(token, _) => json::decode(token),
        }
    }
}

/// Returns the integer after the first `label`, with optional white space between.
fn number_after(text: &str, label: &str) -> Option<String> {
    let at = memmem::find(text.as_bytes(), label.as_bytes())?;
    let rest = text.get(at + label.len()..)?;
    let rest = rest.trim_start_matches([' ', '\n', '\r', '\t']);
    let digits = rest.strip_prefix('-').unwrap_or(rest);
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let end = rest.len() - digits.len() + count;
    (count > 0).then(|| rest.get(..end).unwrap_or("").to_owned())
}
