//! Pass 9: a text that is completely a form body, `user=me&password=…`.

use super::{Edit, HIDDEN, MaskStyle};

/// The fields whose values are hidden, compared without case.
const SECRET_FIELDS: [&str; 16] = [
    "access_token",
    "refresh_token",
    "id_token",
    "token",
    "api_key",
    "apikey",
    "client_secret",
    "password",
    "auth",
    "jwt",
    "session",
    "secret",
    "key",
    "code",
    "signature",
    "x-amz-signature",
];

pub(super) fn edits(text: &str, _: MaskStyle) -> Vec<Edit> {
    let body = text.trim();
    if body.contains(char::is_whitespace) || !body.contains('&') {
        return Vec::new();
    }
    let mut edits = Vec::new();
    let mut start = text.len() - text.trim_start().len();
    for pair in body.split('&') {
        let Some((name, value)) = pair.split_once('=').filter(|(name, _)| is_name(name)) else {
            return Vec::new();
        };
        let end = start + pair.len();
        if is_secret(name) && !value.is_empty() {
            edits.push(Edit { range: end - value.len()..end, with: HIDDEN.to_owned() });
        }
        start = end + 1;
    }
    edits
}

fn is_secret(name: &str) -> bool {
    SECRET_FIELDS.iter().any(|field| name.eq_ignore_ascii_case(field))
}

/// Returns whether a form may have a field with this name. A URL or an expression has other
/// characters before its first `=`.
fn is_name(name: &str) -> bool {
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-[]%".contains(&byte);
    !name.is_empty() && name.bytes().all(is_name_byte)
}
