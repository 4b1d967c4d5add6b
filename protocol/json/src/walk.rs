//! Walking through objects and lists of a text that is known to be JSON: every byte is looked at
//! once, and nothing is checked again.

use crate::decode::decode;
use crate::string::string_end;

/// Calls `visit` with each key of the object that begins at `at`, as it stands with its quotes, and
/// with the place of its value; `visit` gives one past that value. Gives one past the object.
pub fn members<'a>(raw: &'a str, at: usize, mut visit: impl FnMut(&'a str, usize) -> usize) -> usize {
    let bytes = raw.as_bytes();
    let mut at = at + 1;
    loop {
        at = glue_end(bytes, at);
        match bytes.get(at) {
            Some(b'"') => {}
            Some(_) => return at + 1,
            None => return bytes.len(),
        }
        let key = at..string_end(bytes, at);
        at = glue_end(bytes, key.end);
        at = visit(raw.get(key).unwrap_or(""), at).max(at + 1);
    }
}

/// Calls `visit` with the place of each item of the list that begins at `at`; `visit` gives one
/// past that item. Gives one past the list.
pub fn items(raw: &str, at: usize, mut visit: impl FnMut(usize) -> usize) -> usize {
    let bytes = raw.as_bytes();
    let mut at = at + 1;
    loop {
        at = glue_end(bytes, at);
        match bytes.get(at) {
            Some(b']') => return at + 1,
            Some(_) => at = visit(at).max(at + 1),
            None => return bytes.len(),
        }
    }
}

/// The keys and values of an object as they stand in its text, duplicates included; none of
/// another text.
pub fn fields(raw: &str) -> Vec<(&str, &str)> {
    let (at, mut fields) = (start(raw), Vec::with_capacity(4));
    if raw.as_bytes().get(at) == Some(&b'{') {
        members(raw, at, |key, at| {
            let end = value_end(raw.as_bytes(), at);
            fields.push((key, raw.get(at..end).unwrap_or("")));
            end
        });
    }
    fields
}

/// The value of the member of an object that has this key, the last of several; none of another
/// text.
pub fn member<'a>(raw: &'a str, key: &str) -> Option<&'a str> {
    fields(raw).into_iter().rev().find(|(has, _)| decode(has) == key).map(|(_, value)| value)
}

/// One past the value that begins at `at`.
pub fn value_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'"') => string_end(bytes, at),
        Some(b'{' | b'[') => container_end(bytes, at),
        _ => scalar_end(bytes, at),
    }
}

/// The first byte of the text that is not white space.
pub fn start(raw: &str) -> usize {
    raw.len() - raw.trim_start_matches(SPACES).len()
}

const SPACES: [char; 4] = [' ', '\n', '\r', '\t'];

/// The first byte from `at` on that is neither white space nor between two tokens.
fn glue_end(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\n' | b'\r' | b'\t' | b',' | b':')) {
        at += 1;
    }
    at
}

fn container_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at = string_end(bytes, at - 1),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    bytes.len()
}

fn scalar_end(bytes: &[u8], mut at: usize) -> usize {
    while !matches!(bytes.get(at), None | Some(b' ' | b'\n' | b'\r' | b'\t' | b',' | b'}' | b']')) {
        at += 1;
    }
    at
}
