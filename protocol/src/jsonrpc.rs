//! The JSON codec: JSON-RPC 2.0, one object or one batch per line.

mod large;

use std::borrow::Cow;

use herma_json::ScalarFinder;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::json_text::check_depth;
use crate::method::unknown_method;
use crate::{ErrorKind, Header, Incoming, Json, Method, Notification, Reply, Request, RpcError, Topic, limits, params};

/// The recipient of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyTo {
    /// The request was a notification and gets no reply.
    Nobody,
    /// The id's JSON text, exactly as it was sent.
    Id(Box<str>),
}

impl ReplyTo {
    fn unknown() -> Self {
        Self::Id("null".into())
    }
}

/// One request of a line and the recipient of its reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The recipient of the reply.
    pub reply_to: ReplyTo,
    /// The request, or the error to answer it with.
    pub request: Result<(Header, Request), RpcError>,
}

/// The content of a line.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly every line is one request")]
pub enum Line {
    /// One request.
    One(Item),
    /// A batch; its replies are sent together in one line.
    Batch(Vec<Item>),
}

/// Reads a line. An invalid line becomes an [`Item`] with an error, because the sender always gets a reply.
#[must_use]
pub fn read_line(line: &[u8]) -> Line {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => {
            let words = format!("the line is not UTF-8 (byte {})", error.valid_up_to());
            return unread(line, RpcError::new(ErrorKind::ParseError, words));
        }
    };
    if let Err(error) = check_depth(line) {
        return unread(line, RpcError::new(ErrorKind::ParseError, format!("the line {error}")));
    }
    if text.starts_with('[') { read_batch(text) } else { Line::One(read_item(text)) }
}

/// Reads a line as [`read_line`] does. The text of a large `output.admit` is not copied: the line's
/// buffer becomes that text, and `line` is then empty.
#[must_use]
pub fn read_line_taking(line: &mut Vec<u8>) -> Line {
    match large::find(line) {
        Some(found) => found.take(std::mem::take(line)),
        None => read_line(line),
    }
}

/// Returns an error about a line that no parser can read, addressed to the request id found in it.
fn unread(line: &[u8], error: RpcError) -> Line {
    Line::One(Item { reply_to: sender_of(line), request: Err(error) })
}

/// Returns the recipient of the reply to a request that no parser can read.
fn sender_of(bytes: &[u8]) -> ReplyTo {
    let mut finder = ScalarFinder::new("id");
    finder.feed(bytes);
    // The id is sent back, so it must not break the line of the reply.
    let id = finder.found().filter(|id| is_id(id));
    id.map_or_else(ReplyTo::unknown, |id| ReplyTo::Id(id.into()))
}

fn refused(error: RpcError) -> Line {
    Line::One(Item { reply_to: ReplyTo::unknown(), request: Err(error) })
}

fn read_batch(text: &str) -> Line {
    let items: Vec<&RawValue> = match serde_json::from_str(text) {
        Ok(items) => items,
        Err(error) => return refused(RpcError::new(ErrorKind::ParseError, format!("the batch is not JSON: {error}"))),
    };
    match items.len() {
        0 => refused(RpcError::new(ErrorKind::InvalidRequest, "the batch is empty")),
        length if length > limits::BATCH => {
            let words = format!("the batch has {length} requests; at most {} are allowed", limits::BATCH);
            refused(RpcError::new(ErrorKind::TooLarge, words))
        }
        _ => Line::Batch(items.into_iter().map(|item| read_item(item.get())).collect()),
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Option<Name<'a>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Name<'a>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// A string that is copied only if it has escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl Name<'_> {
    fn get(&self) -> &str {
        &self.0
    }
}

/// Distinguishes null from an absent member, unlike an `Option`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn read_item(text: &str) -> Item {
    read_long_params(text).unwrap_or_else(|| read_whole(text))
}

/// Items of at least this many bytes are read in two parts.
const APART: usize = 64 << 10;

/// Reads an item with long params. Reads the text around the params first, so that the params are
/// parsed only once. Returns `None` if there are no params or anything is wrong.
fn read_long_params(text: &str) -> Option<Item> {
    if text.len() < APART || !text.starts_with('{') {
        return None;
    }
    let mut found = None;
    herma_json::members(text, 0, |key, at| {
        let end = herma_json::value_end(text.as_bytes(), at);
        if key == PARAMS {
            // A duplicate is an error, which the ordinary parser reports.
            found = if found.is_none() { Some(at..end) } else { Some(0..0) };
        }
        end
    });
    let params = found.filter(|params| text.as_bytes().get(params.start) == Some(&b'{') && params.start > 0)?;
    let around = [text.get(..params.start)?, "null", text.get(params.end..)?].concat();
    let envelope: Envelope<'_> = serde_json::from_str(&around).ok()?;
    let reply_to = match envelope.id.map(RawValue::get) {
        None => ReplyTo::Nobody,
        Some(id) => ReplyTo::Id(id.into()),
    };
    let is_whole =
        envelope.jsonrpc.as_ref().map(Name::get) == Some("2.0") && envelope.id.is_none_or(|id| is_id(id.get()));
    let method = envelope.method.as_ref().map(Name::get).and_then(Method::from_name).filter(|_| is_whole)?;
    let request = Request::from_text(method, text.get(params)?).ok()?;
    Some(Item { reply_to, request: Ok(request) })
}

/// The key of the long member, with its quotes.
const PARAMS: &str = "\"params\"";

fn read_whole(text: &str) -> Item {
    let envelope: Envelope<'_> = match serde_json::from_str(text) {
        Ok(envelope) => envelope,
        Err(error) => {
            let (kind, what) = match error.classify() {
                serde_json::error::Category::Data => (ErrorKind::InvalidRequest, "not a JSON-RPC request"),
                _ => (ErrorKind::ParseError, "not JSON"),
            };
            let error = RpcError::new(kind, format!("{what}: {error}"));
            return Item { reply_to: sender_of(text.as_bytes()), request: Err(error) };
        }
    };
    let reply_to = match envelope.id.map(RawValue::get) {
        None => ReplyTo::Nobody,
        Some(id) if is_id(id) => ReplyTo::Id(id.into()),
        Some(_) => {
            let words =
                format!("`id` must be a string, a finite number or null of at most {} bytes", limits::REQUEST_ID);
            let error = RpcError::new(ErrorKind::InvalidRequest, words);
            return Item { reply_to: ReplyTo::unknown(), request: Err(error) };
        }
    };
    match read_request(&envelope) {
        Err(error) if error.kind == ErrorKind::InvalidRequest && reply_to == ReplyTo::Nobody => {
            Item { reply_to: ReplyTo::unknown(), request: Err(error) }
        }
        request => Item { reply_to, request },
    }
}

/// Returns whether a value can be sent back as an id: a string, null or number that a JSON parser
/// accepts. A lone surrogate and 1e999 are not accepted.
fn is_id(text: &str) -> bool {
    let is_scalar = !text.starts_with(['{', '[', 't', 'f']);
    text.len() <= limits::REQUEST_ID && is_scalar && serde_json::from_str::<Value>(text).is_ok()
}

fn read_request(envelope: &Envelope<'_>) -> Result<(Header, Request), RpcError> {
    if envelope.jsonrpc.as_ref().map(Name::get) != Some("2.0") {
        return Err(RpcError::new(ErrorKind::InvalidRequest, "`jsonrpc` must be \"2.0\""));
    }
    let Some(name) = envelope.method.as_ref().map(Name::get) else {
        return Err(RpcError::new(ErrorKind::InvalidRequest, "`method` is missing"));
    };
    let Some(method) = Method::from_name(name) else {
        return Err(RpcError::new(ErrorKind::UnknownMethod, unknown_method(name)));
    };
    Request::from_json(method, envelope.params)
        .map_err(|error| RpcError::new(ErrorKind::InvalidParams, format!("{name}: {error}")))
}

/// Encodes the reply to one request, without the newline.
#[must_use]
pub fn write_reply(id: &str, outcome: &Result<Reply, RpcError>) -> Vec<u8> {
    let mut text = Vec::with_capacity(256);
    append_reply(id, outcome, &mut text);
    text
}

/// Appends the reply to one request, without the newline.
pub fn append_reply(id: &str, outcome: &Result<Reply, RpcError>, text: &mut Vec<u8>) {
    text.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    text.extend_from_slice(id.as_bytes());
    let from = text.len();
    let written = match outcome {
        Ok(reply) => {
            text.extend_from_slice(b",\"result\":");
            serde_json::to_writer(&mut *text, reply)
        }
        Err(error) => {
            text.extend_from_slice(b",\"error\":");
            serde_json::to_writer(&mut *text, error)
        }
    };
    if written.is_err() {
        text.truncate(from);
        text.extend_from_slice(br#","error":{"code":-32603,"message":"the result has no JSON form","data":{"kind":"internal","retry":false,"fault":"herma"}}"#);
    }
    text.push(b'}');
    keep_on_one_line(&mut text[from..]);
}

/// Replaces newlines with spaces. A value passed through as JSON text may contain newlines between
/// its tokens, which would end the line in this codec. JSON strings contain no raw newlines.
fn keep_on_one_line(text: &mut [u8]) {
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'\n', &text[from..]) {
        text[from + at] = b' ';
        from += at + 1;
    }
}

/// Encodes a notification of the daemon, without the newline.
#[must_use]
pub fn write_notification(notification: &Notification) -> Vec<u8> {
    let params = serde_json::to_string(notification).unwrap_or_else(|_| "{}".into());
    format!(r#"{{"jsonrpc":"2.0","method":"{}","params":{params}}}"#, notification.topic().name()).into_bytes()
}

/// Reads a line from the daemon; `method` is the method of the pending request.
///
/// # Errors
/// A line that is neither a reply nor a notification.
pub fn read_incoming(line: &[u8], method: Method) -> Result<Incoming, serde_json::Error> {
    let line: ServerLine<'_> = serde_json::from_slice(line)?;
    match line.method.as_deref().map(Topic::from_name) {
        None => line.reply(method).map(|(id, outcome)| Incoming::Reply(id, outcome)),
        Some(Ok(topic)) => {
            let params = line.params.unwrap_or(RawValue::NULL).get();
            Notification::from_json(topic, params).map(|told| Incoming::Notification(Some(told)))
        }
        Some(Err(_)) => Ok(Incoming::Notification(None)),
    }
}

/// Encodes a request of a client, without the newline.
///
/// # Errors
/// Params that can't be written as JSON.
pub fn write_request(id: u64, header: &Header, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    let method = request.method().name();
    let mut text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":"#).into_bytes();
    params::write(header, request, &mut text)?;
    text.push(b'}');
    keep_on_one_line(&mut text);
    Ok(text)
}

/// Reads a reply: its id (`None` if the daemon could not read the request) and its outcome.
///
/// # Errors
/// A line that is not a reply.
pub fn read_reply(line: &[u8], method: Method) -> Result<(Option<u64>, Result<Reply, RpcError>), serde_json::Error> {
    serde_json::from_slice::<ServerLine<'_>>(line)?.reply(method)
}

/// A line from the daemon: a reply or a notification.
#[derive(Deserialize)]
struct ServerLine<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<RpcError>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

impl ServerLine<'_> {
    fn reply(self, method: Method) -> Result<(Option<u64>, Result<Reply, RpcError>), serde_json::Error> {
        let outcome = match (self.result, self.error) {
            (_, Some(error)) => Err(error),
            (result, None) => Ok(Reply::from_json(method, result.unwrap_or(RawValue::NULL).get())?),
        };
        Ok((self.id, outcome))
    }
}

/// Joins the replies to a batch into one line; `None` if the batch has no replies.
#[must_use]
pub fn join_batch(answers: &[Vec<u8>]) -> Option<Vec<u8>> {
    if answers.is_empty() {
        return None;
    }
    let mut line = vec![b'['];
    line.extend(answers.join(&b','));
    line.push(b']');
    Some(line)
}

/// Returns the details of an error as a `T`; `None` if there are none of this form.
#[must_use]
pub fn details<T: for<'de> Deserialize<'de>>(error: &RpcError) -> Option<T> {
    error.details.as_ref().map(Json::get).and_then(|text| serde_json::from_str(text).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{EstimateParams, PlanResult};
    use crate::daemon::{PingParams, PingResult};

    fn error_of(line: &[u8]) -> (ReplyTo, ErrorKind, String) {
        match read_line(line) {
            Line::One(Item { reply_to, request: Err(error) }) => (reply_to, error.kind, error.message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_long_request_is_what_the_ordinary_reader_says() {
        let message = r#"{"role":"user","content":"a \"params\": {} [\\ é\u00e9"}"#;
        let list = format!("[{}]", vec![message; 2_000].join(", "));
        let params = format!(r#"{{"session":"s", "messages" : {list} }}"#);
        for (line, is_apart) in [
            (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"context.compress","params":{params}}}"#), true),
            (format!(r#"{{"params": {params} ,"x":[{{}}],"method":"context.compress","jsonrpc":"2.0"}} "#), true),
            (
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"context.compress","params":{params},"params":{{}}}}"#),
                false,
            ),
            (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"context.compress","params":{params}}}}}"#), false),
            (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"context.compress","params" {params}}}"#), false),
            (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"context.compress","params":{params} 7}}"#), false),
            (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"context.compress","params":[{params}]}}"#), false),
            (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"context.compress","params":{list}}}"#), false),
            (format!(r#"{{"jsonrpc":"2.0","id":1e999,"method":"context.compress","params":{params}}}"#), false),
            (format!(r#"{{"jsonrpc":"1.0","id":1,"method":"context.compress","params":{params}}}"#), false),
            (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"context.squash","params":{params}}}"#), false),
            (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"context.check","params":{params}}}"#), true),
            (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"memory.list","params":{params}}}"#), false),
            (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"context.compress","params":{}"#, &params[..90_000]), false),
        ] {
            let around = format!("{} … {}", &line[..80], &line[line.len() - 40..]);
            assert_eq!(read_long_params(&line).is_some(), is_apart, "{around}");
            assert_eq!(read_item(&line), read_whole(&line), "{around}");
        }
    }

    #[test]
    fn bad_lines_are_told_apart() {
        let null = || ReplyTo::Id("null".into());
        for (line, reply_to, kind, words) in [
            (&b"{nope"[..], null(), ErrorKind::ParseError, "not JSON"),
            (b"\xff\xfe", null(), ErrorKind::ParseError, "not UTF-8"),
            (b"[]", null(), ErrorKind::InvalidRequest, "empty"),
            (b"[1", null(), ErrorKind::ParseError, "not JSON"),
            (b"17", null(), ErrorKind::InvalidRequest, "not a JSON-RPC request"),
            (br#"{"id":1,"method":"ping"}"#, ReplyTo::Id("1".into()), ErrorKind::InvalidRequest, "jsonrpc"),
            (br#"{"jsonrpc":"2.0","id":"a"}"#, ReplyTo::Id("\"a\"".into()), ErrorKind::InvalidRequest, "method"),
            (br#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, null(), ErrorKind::InvalidRequest, "id"),
            (b"{\"id\":7,\"method\":\"\xff\"}", ReplyTo::Id("7".into()), ErrorKind::ParseError, "not UTF-8"),
            (br#"{"id":"a","params":{"#, ReplyTo::Id("\"a\"".into()), ErrorKind::ParseError, "not JSON"),
            (br#"{"id":7,"method":5}"#, ReplyTo::Id("7".into()), ErrorKind::InvalidRequest, "not a JSON-RPC request"),
            (br#"{"id":"\x","params":{"#, null(), ErrorKind::ParseError, "not JSON"),
            (b"{\"id\":\"\\ud83c\",\xff", null(), ErrorKind::ParseError, "not UTF-8"),
            (br#"{"id":1e999,"params":{"#, null(), ErrorKind::ParseError, "not JSON"),
            (br#"{"jsonrpc":"2.0","id":1e999,"method":"ping"}"#, null(), ErrorKind::InvalidRequest, "id"),
            (br#"{"jsonrpc":"2.0","id":1,"method":"pong"}"#, ReplyTo::Id("1".into()), ErrorKind::UnknownMethod, "ping"),
            (
                br#"{"jsonrpc":"2.0","id":null,"method":"ping","params":[]}"#,
                null(),
                ErrorKind::InvalidParams,
                "named members",
            ),
            (br#"{"jsonrpc":"2.0","method":"pong"}"#, ReplyTo::Nobody, ErrorKind::UnknownMethod, "pong"),
            (br#"{"method":"ping"}"#, null(), ErrorKind::InvalidRequest, "jsonrpc"),
        ] {
            let (got_to, got_kind, got_words) = error_of(line);
            assert_eq!((got_to, got_kind), (reply_to, kind), "{}", String::from_utf8_lossy(line));
            assert!(got_words.contains(words), "{got_words}");
        }
    }

    #[test]
    fn a_line_that_nests_too_deep_is_a_parse_error() {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}}"#, "[".repeat(200));
        assert_eq!(error_of(line.as_bytes()).1, ErrorKind::ParseError);
    }

    #[test]
    fn a_request_comes_back_with_its_header() {
        let header =
            Header { profile: Some("p".into()), deadline_ms: None, idempotency_key: Some("k".into()), replaced: 0 };
        for request in [
            Request::Ping(PingParams {}),
            Request::ContextEstimate(EstimateParams { text: Some("a\nb".into()), ..EstimateParams::default() }),
        ] {
            let line = write_request(3, &header, &request).unwrap_or_default();
            let item = Item { reply_to: ReplyTo::Id("3".into()), request: Ok((header.clone(), request)) };
            assert_eq!(read_line(&line), Line::One(item));
        }
    }

    #[test]
    fn errors_come_back_with_their_details() {
        let error = RpcError::new(ErrorKind::Conflict, "stale").with_details(&serde_json::json!({"revision": 4}));
        let line = write_reply("9", &Err(error.clone()));
        assert_eq!(read_reply(&line, Method::Ping).ok(), Some((Some(9), Err(error))));
        let text = String::from_utf8_lossy(&line).into_owned();
        assert!(text.contains(r#""kind":"conflict","retry":false,"fault":"caller","revision":4"#), "{text}");
    }

    #[test]
    fn newlines_between_tokens_do_not_end_the_line() {
        let message = Json::parse("{\n\"role\":\n\"user\"}".into());
        let reply = Reply::ContextPlan(PlanResult { messages: message.into_iter().collect(), ..PlanResult::default() });
        assert!(!write_reply("1", &Ok(reply)).contains(&b'\n'));
    }

    #[test]
    fn batches_answer_in_one_line() {
        let answers = vec![
            write_reply("1", &Ok(Reply::Ping(PingResult {}))),
            write_reply("\"b\"", &Ok(Reply::Ping(PingResult {}))),
        ];
        let line = join_batch(&answers).unwrap_or_default();
        assert_eq!(
            String::from_utf8_lossy(&line),
            r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":"b","result":{}}]"#
        );
        assert_eq!(join_batch(&[]), None);
    }
}
