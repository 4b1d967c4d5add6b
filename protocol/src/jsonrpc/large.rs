//! Moves the text of a large `output.admit` out of its line without a copy.

use std::ops::Range;

use herma_json::{replace_lone_surrogates, unescape_within};
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Item, Line, read_line};
use crate::output::AdmitParams;
use crate::value::Content;
use crate::{ErrorKind, Method, Request, RpcError};

/// Lines of at least this many bytes are searched for such a text.
const LARGE: usize = 256 << 10;

/// The part of a request that contains the content.
#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
}

/// The position of a large text in a line.
pub(super) struct LargeText {
    /// The request with empty content.
    rest: Item,
    /// The range of the text in the line: without its quotes, still escaped.
    inner: Range<usize>,
}

/// Finds the large text of a line; `None` if there is none or anything is wrong.
pub(super) fn find(line: &[u8]) -> Option<LargeText> {
    // A method name written with escapes also works, but its text is copied.
    if line.len() < LARGE || memmem::find(line, Method::OutputAdmit.name().as_bytes()).is_none() {
        return None;
    }
    let Outline { params: Params { content } } = serde_json::from_slice(line).ok()?;
    let content = content.get();
    if !content.starts_with('"') || content.len() < LARGE / 2 || replace_lone_surrogates(content).is_some() {
        return None;
    }
    let from = content.as_ptr().addr().checked_sub(line.as_ptr().addr())?;
    let (before, after) = (line.get(..from)?, line.get(from + content.len()..)?);
    match read_line(&[before, b"\"\"", after].concat()) {
        Line::One(rest @ Item { request: Ok((_, Request::OutputAdmit(_))), .. }) => {
            Some(LargeText { rest, inner: from + 1..from + content.len() - 1 })
        }
        _ => None,
    }
}

impl LargeText {
    /// Returns the request, with the line's buffer as its text.
    pub(super) fn take(mut self, line: Vec<u8>) -> Line {
        let text = unescape_within(line, self.inner);
        self.rest.request = self.rest.request.and_then(|(header, request)| match (text, request) {
            (Ok(text), Request::OutputAdmit(params)) => {
                let params = AdmitParams { content: Content::Text(text), ..params };
                Ok((header, Request::OutputAdmit(params)))
            }
            (Err(words), request) => {
                let words = format!("{}: param `content`: {words}", request.method().name());
                Err(RpcError::new(ErrorKind::InvalidParams, words))
            }
            (Ok(_), request) => Ok((header, request)),
        });
        Line::One(self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(content: &str, more: &str) -> Vec<u8> {
        let params = format!(r#"{{"session":"s", "content" : {content},"tool":"t","id":"c"{more}}}"#);
        format!(r#"{{"id":1,"params":{params},"jsonrpc":"2.0","method":"output.admit"}}"#).into_bytes()
    }

    #[test]
    fn a_large_request_is_what_the_ordinary_reader_says() {
        let escaped = r#"a \"line\"\n\t\\ \u00e9\ud83d\ude00 é 日本 😀"#.repeat(8_000);
        for (content, more, takes) in [
            (format!("\"{escaped}\""), "", true),
            (format!("\"{escaped}\""), r#","threshold":5,"deadline_ms":7"#, true),
            (format!("\"{}\"", "x".repeat(LARGE)), "", true),
            (format!("\"{}\"", "x".repeat(LARGE / 4)), "", false),
            (format!("\"{escaped}\""), r#","content":"twice""#, false),
            (format!("\"{escaped}\""), r#","treshold":5"#, false),
            (format!("[\"{escaped}\"]"), "", false),
            (format!("\"{escaped}\\ud83d\""), "", false),
            (format!("\"{escaped}\\x\""), "", false),
            (format!("\"{escaped}"), "", false),
        ] {
            let mut line = line(&content, more);
            assert_eq!(find(&line).is_some(), takes, "{more} {}", content.len());
            let expected = read_line(&line);
            assert_eq!(super::super::read_line_taking(&mut line), expected);
            assert_eq!(line.is_empty(), takes);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        let mut line = line(&format!("\"{}?\"", "x".repeat(LARGE)), "");
        let at = line.iter().position(|byte| *byte == b'?').unwrap_or_default();
        line[at] = 0xff;
        assert!(matches!(super::super::read_line_taking(&mut line), Line::One(Item { request: Err(_), .. })));
    }
}
