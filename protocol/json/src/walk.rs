//! Walks through objects and lists of a text that is known to be JSON. It looks at every byte once
//! and checks nothing again.

use crate::decode::decode;
use crate::string::string_end;

/// Calls `visit` with each key of the object that begins at `at`, as written with its quotes, and
/// the offset of its value. `visit` returns the offset after that value. Returns the offset after
/// the object.
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

/// Calls `visit` with the offset of each item of the list that begins at `at`. `visit` returns the
/// offset after that item. Returns the offset after the list.
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

/// Returns the keys and values of an object as written in the text, duplicates included. Returns
/// none if the text is not an object.
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

/// Returns the value of the member with this key, the last one if there are several. Returns `None`
/// if the text is not an object.
pub fn member<'a>(raw: &'a str, key: &str) -> Option<&'a str> {
    fields(raw).into_iter().rev().find(|(has, _)| decode(has) == key).map(|(_, value)| value)
}

/// Returns the offset after the value that begins at `at`.
pub fn value_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'"') => string_end(bytes, at),
        Some(b'{' | b'[') => container_end(bytes, at),
        _ => scalar_end(bytes, at),
    }
}

/// Returns the offset of the first byte that is not white space.
pub fn start(raw: &str) -> usize {
    raw.len() - raw.trim_start_matches(SPACES).len()
}

const SPACES: [char; 4] = [' ', '\n', '\r', '\t'];

/// Returns the offset of the first byte from `at` on that is neither white space nor a comma or colon.
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
