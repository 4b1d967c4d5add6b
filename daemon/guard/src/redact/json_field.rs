//! Pass 3: JSON string fields with the name of a secret.

use herma_json::closing_quote;
use memchr::{memchr_iter, memmem};

use super::{Edit, MaskStyle, disjoint, run_start};

/// The secret fields, compared without case; `api_key` may also be written as one word.
const SECRET_FIELDS: [&str; 13] = [
    "api_key",
    "apikey",
    "token",
    "secret",
    "password",
    "access_token",
    "refresh_token",
    "auth_token",
    "bearer",
    "secret_value",
    "raw_secret",
    "secret_input",
    "key_material",
];

pub(super) fn edits(text: &str, shown: MaskStyle) -> Vec<Edit> {
    disjoint(memchr_iter(b':', text.as_bytes()), |colon| field(text, colon, shown))
}

/// Returns the edit for the secret field around the `:` at byte `colon`. JSON inside a JSON string has escaped quotes.
fn field(text: &str, colon: usize, shown: MaskStyle) -> Option<Edit> {
    let before = text[..colon].trim_end().strip_suffix('"')?;
    let (before, quote) = before.strip_suffix('\\').map_or((before, "\""), |before| (before, "\\\""));
    let name_end = before.len();
    let name_start = run_start(text, name_end, is_field_byte);
    let name = &text[name_start..name_end];
    if !is_secret_field(name) || !text[..name_start].ends_with(quote) {
        return None;
    }
    let rest = text[colon + 1..].trim_start().strip_prefix(quote)?;
    let value_start = text.len() - rest.len();
    let end = match quote.len() {
        1 => closing_quote(rest.as_bytes(), 0),
        _ => memmem::find(rest.as_bytes(), quote.as_bytes()),
    };
    let value = &rest[..end?];
    (!value.is_empty()).then(|| Edit {
        range: name_start - quote.len()..value_start + value.len() + quote.len(),
        with: format!("{quote}{name}{quote}: {quote}{}{quote}", shown.of(value)),
    })
}

/// Returns whether a string field with this name holds a secret.
pub fn is_secret_field(name: &str) -> bool {
    SECRET_FIELDS.iter().any(|field| name.eq_ignore_ascii_case(field))
}

fn is_field_byte(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}
