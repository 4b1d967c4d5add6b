//! Parses a line: a message, nothing, or a line to refuse.

use std::fmt;

use herma_client::protocol::limits;
use herma_json::{ScalarFinder, check_depth, replace_lone_surrogates};
use rmcp::RoleServer;
use rmcp::service::RxJsonRpcMessage;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The longest id, in bytes, that is sent back.
const ID: usize = 256;

/// The content of a line.
#[derive(Debug)]
pub(super) enum Line {
    /// A line that needs no answer.
    Nothing,
    /// A message.
    Message {
        /// The message.
        message: Box<RxJsonRpcMessage<RoleServer>>,
        /// The number of lone surrogates in it that were replaced by U+FFFD.
        replaced: usize,
    },
    /// An invalid line. Contains the line to answer with.
    Refused(String),
}

/// The reason for refusing a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    Parse,
    InvalidRequest,
    InvalidParams,
}

impl Reason {
    const fn code(self) -> i32 {
        match self {
            Self::Parse => -32_700,
            Self::InvalidRequest => -32_600,
            Self::InvalidParams => -32_602,
        }
    }
}

/// The error for the sender of a line.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The id's text, if one was found.
    id: Option<String>,
    reason: Reason,
    words: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.id.as_deref().unwrap_or("null");
        let error = json!({ "code": self.reason.code(), "message": self.words });
        write!(f, r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
    }
}

/// Returns a finder for the id of a request that no parser can read.
pub(super) fn id_finder() -> ScalarFinder {
    ScalarFinder::new("id")
}

/// Returns the refusal of a line that is too long.
pub(super) fn too_long(finder: ScalarFinder, most: usize) -> Refusal {
    let words = format!("the line is longer than {most} bytes, and was not read");
    Refusal { id: echoed(finder.found()), reason: Reason::InvalidRequest, words }
}

/// Returns the id if it can be sent back and parsed by the reader of the answer: no lone surrogate, and no number like
/// 1e999.
fn echoed(id: Option<String>) -> Option<String> {
    let is_scalar = |id: &str| !id.starts_with(['{', '[', 't', 'f']);
    id.filter(|id| id.len() <= ID && is_scalar(id) && serde_json::from_str::<Value>(id).is_ok())
}

/// Parses a line without its line break.
pub(super) fn read(line: &[u8]) -> Line {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Line::Nothing;
    }
    let unread = |words: String| {
        let mut finder = id_finder();
        finder.feed(line);
        Line::Refused(Refusal { id: echoed(finder.found()), reason: Reason::Parse, words }.to_string())
    };
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => return unread(format!("the line is not UTF-8 (byte {})", error.valid_up_to())),
    };
    if check_depth(line, limits::DEPTH).is_err() {
        return unread(format!("the line nests deeper than {} levels", limits::DEPTH));
    }
    let (mended, replaced) = replace_lone_surrogates(text).unzip();
    let text = mended.as_deref().unwrap_or(text);
    if text.starts_with('[') {
        return batch(text).unwrap_or_else(unread);
    }
    match message(text) {
        Ok(Some(message)) => Line::Message { message: Box::new(message), replaced: replaced.unwrap_or_default() },
        Ok(None) => Line::Nothing,
        Err(refusal) if refusal.reason == Reason::Parse => unread(refusal.words),
        Err(refusal) => Line::Refused(refusal.to_string()),
    }
}

/// The members of a message that determine its kind.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Deserializes a member so that `null` differs from an absent one.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Parses a message. Returns `None` for a notification or an answer that can't be parsed.
fn message(text: &str) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Refusal> {
    let refused = |id: Option<&RawValue>, reason, words: String| Refusal {
        id: echoed(id.map(|id| id.get().to_owned())),
        reason,
        words,
    };
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| {
        if error.is_data() {
            let mut finder = id_finder();
            finder.feed(text.as_bytes());
            let words = format!("not a JSON-RPC message: {error}");
            Refusal { id: echoed(finder.found()), reason: Reason::InvalidRequest, words }
        } else {
            refused(None, Reason::Parse, format!("the line is not JSON: {error}"))
        }
    })?;
    let Envelope { jsonrpc, id, method, params, result, error } = envelope;
    let Some(method) = method else {
        // An answer gets no answer.
        if result.is_some() || error.is_some() {
            return Ok(serde_json::from_str(text).ok());
        }
        return Err(refused(id, Reason::InvalidRequest, "`method` is missing".into()));
    };
    let wrong = if jsonrpc.map(RawValue::get) != Some(r#""2.0""#) {
        Some((Reason::InvalidRequest, "`jsonrpc` must be \"2.0\"".into()))
    } else if id.is_some_and(|id| !is_id(id.get())) {
        Some((Reason::InvalidRequest, "`id` must be a string or a whole number".into()))
    } else if params.is_some_and(|params| !params.get().starts_with('{')) {
        Some((Reason::InvalidParams, format!("the params of {} must be an object", shown(&method))))
    } else {
        None
    };
    let wrong = match wrong {
        Some(wrong) => wrong,
        None => match serde_json::from_str(text) {
            Ok(message) => return Ok(Some(message)),
            Err(_) => {
                (Reason::InvalidParams, format!("the params of {} are missing or of the wrong type", shown(&method)))
            }
        },
    };
    // A notification gets no answer.
    if id.is_none() { Ok(None) } else { Err(refused(id, wrong.0, wrong.1)) }
}

fn is_id(id: &str) -> bool {
    id.len() <= ID && (id.starts_with('"') || id.parse::<i64>().is_ok())
}

fn shown(method: &str) -> String {
    method.chars().take(80).collect()
}

/// Returns the answer to a batch: an error for each of its requests. The protocol dropped batches on 2025-06-18.
fn batch(text: &str) -> Result<Line, String> {
    let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| format!("the line is not JSON: {error}"))?;
    let refusal = |id| {
        let words = "batches are not taken; send each request in a line of its own".into();
        Refusal { id, reason: Reason::InvalidRequest, words }.to_string()
    };
    let ids = items.iter().filter_map(|item| match serde_json::from_str::<Envelope<'_>>(item.get()) {
        Ok(envelope) if envelope.method.is_none() && (envelope.result.is_some() || envelope.error.is_some()) => None,
        Ok(envelope) => Some(echoed(Some(envelope.id?.get().to_owned()))),
        Err(_) => Some(None),
    });
    let refusals: Vec<String> = ids.map(refusal).collect();
    Ok(match (items.is_empty(), refusals.is_empty()) {
        (true, _) => Line::Refused(refusal(None)),
        (false, true) => Line::Nothing,
        (false, false) => Line::Refused(format!("[{}]", refusals.join(","))),
    })
}

/// Checks a property of every line: a request gets a readable answer with its own id.
#[cfg(feature = "fuzzing")]
#[allow(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a panic is the finding")]
pub fn line_holds(line: &[u8]) {
    match read(line) {
        Line::Nothing => {}
        Line::Message { message, .. } => drop(serde_json::to_string(&*message).unwrap()),
        Line::Refused(answer) => {
            let answers: Value = serde_json::from_str(&answer).unwrap();
            assert!(!answer.contains('\n'));
            for answer in answers.as_array().unwrap_or(&vec![answers.clone()]) {
                assert!(answer["error"]["code"].is_i64() && !answer["id"].is_object() && !answer["id"].is_array());
            }
        }
    }
    let mut finder = id_finder();
    line.chunks(7).for_each(|piece| finder.feed(piece));
    let mut whole = id_finder();
    whole.feed(line);
    assert_eq!(finder.found(), whole.found());
}

#[cfg(test)]
mod tests {

    use super::*;

    fn refused(line: &[u8]) -> Value {
        match read(line) {
            Line::Refused(answer) => serde_json::from_str(&answer).unwrap(),
            other => panic!("{}: {other:?}", String::from_utf8_lossy(line)),
        }
    }

    #[test]
    fn what_can_not_be_read_is_refused_under_its_id() {
        let deep = format!(r#"{{"id":7,"method":"x","params":{}{}}}"#, "[".repeat(200), "]".repeat(200));
        for (line, id, code) in [
            (&b"junk"[..], json!(null), -32_700),
            (b"{\"id\":7,\"method\":\"\xff\"}", json!(7), -32_700),
            (deep.as_bytes(), json!(7), -32_700),
            (br#"{"jsonrpc":"2.0","id":"a","method":"ping","#, json!("a"), -32_700),
            (br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, json!(1), -32_602),
            (br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, json!(1), -32_600),
            (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!(1.5), -32_600),
            (br#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, json!(null), -32_600),
            (br#"{"jsonrpc":"2.0","id":1e999,"method":"ping"}"#, json!(null), -32_600),
            (br#"{"id":1e999,junk"#, json!(null), -32_700),
            (b"{\"id\":\"\\ud83c\",\xff", json!(null), -32_700),
            (br#"{"jsonrpc":"2.0","id":1,"method":5}"#, json!(1), -32_600),
            (br#"{"jsonrpc":"2.0","id":1}"#, json!(1), -32_600),
            (br#""text""#, json!(null), -32_600),
            (b"[]", json!(null), -32_600),
            (b"[1", json!(null), -32_700),
        ] {
            let answer = refused(line);
            let shown = String::from_utf8_lossy(line);
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{shown}: {answer}");
        }
    }

    #[test]
    fn each_request_of_a_batch_is_refused_and_nothing_else() {
        let batch = br#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"id":"b"},7]"#;
        let answers = refused(batch);
        let ids: Vec<&Value> = answers.as_array().unwrap().iter().map(|answer| &answer["id"]).collect();
        assert_eq!(ids, [&json!(1), &json!("b"), &json!(null)], "{answers}");
        assert!(matches!(read(br#"[{"jsonrpc":"2.0","method":"x"},{"id":1,"result":{}}]"#), Line::Nothing));
    }

    #[test]
    fn nobody_gets_an_answer_who_asked_nothing() {
        for line in [
            &b""[..],
            b" \r",
            b"\xef\xbb\xbf",
            br#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#,
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}"#,
            br#"{"jsonrpc":"2.0","id":[],"result":{}}"#,
        ] {
            assert!(matches!(read(line), Line::Nothing), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn a_message_is_read_and_half_characters_are_counted() {
        let line =
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":"\ud83c"}}}"#;
        for (line, expected) in [(&line[..], 1), (br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, 0)] {
            match read(line) {
                Line::Message { replaced, .. } => assert_eq!(replaced, expected),
                other => panic!("{other:?}"),
            }
        }
    }
}
