//! The binary codec: an envelope (`envelope.rs`) around the JSON of the other codec. Large values
//! travel as attachments, unescaped (see `attached.rs`). An attachment that makes up most of its
//! frame is not copied when it is read.

mod parts;

use std::cell::Cell;

use parts::Parts;

pub use crate::envelope::BinaryError;

use crate::attached;
use crate::envelope::{self, Head, Kind};
use crate::json_text::check_depth;
use crate::method::unknown_method;
use crate::{ErrorKind, Header, Incoming, Method, Notification, Reply, Request, RpcError, Topic, params};

/// A frame from a client.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientFrame {
    /// The id chosen by the client; the reply has the same. 0 is reserved for the daemon.
    pub id: u64,
    /// The request, or the error to answer it with.
    pub request: Result<(Header, Request), RpcError>,
}

/// Encodes a request as a frame, length prefix included.
///
/// # Errors
/// A frame of more than 4 GiB.
pub fn write_request(id: u64, header: &Header, request: &Request) -> Result<Vec<u8>, BinaryError> {
    let mut frame = Vec::new();
    let head = Head { id, kind: Kind::Request, method: request.method().name() };
    append(&head, &mut frame, |body| params::write(header, request, body))?;
    Ok(frame)
}

/// Appends a reply as a frame, length prefix included. After an error `out` is unchanged.
///
/// # Errors
/// A frame of more than 4 GiB, or a result that can't be written as JSON.
pub fn append_reply(id: u64, outcome: &Result<Reply, RpcError>, out: &mut Vec<u8>) -> Result<(), BinaryError> {
    match outcome {
        Ok(reply) => {
            let head = Head { id, kind: Kind::Result, method: reply.method().name() };
            append(&head, out, |body| serde_json::to_writer(body, reply))
        }
        Err(error) => {
            let head = Head { id, kind: Kind::Error, method: "" };
            append(&head, out, |body| serde_json::to_writer(body, error))
        }
    }
}

/// Appends a notification as a frame, length prefix included. After an error `out` is unchanged.
///
/// # Errors
/// A frame of more than 4 GiB, or params that can't be written as JSON.
pub fn append_notification(notification: &Notification, out: &mut Vec<u8>) -> Result<(), BinaryError> {
    let head = Head { id: 0, kind: Kind::Notification, method: notification.topic().name() };
    append(&head, out, |body| serde_json::to_writer(body, notification))
}

fn append(
    head: &Head<'_>,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), serde_json::Error>,
) -> Result<(), BinaryError> {
    let from = out.len();
    let mut body = BODY.take();
    let written = envelope::begin(head, out)
        .and_then(|()| {
            attached::writing(out, || write(&mut body)).map_err(|error| BinaryError(format!("no JSON: {error}")))
        })
        .and_then(|()| envelope::finish(from, &body, out));
    if written.is_err() {
        out.truncate(from);
    }
    if body.capacity() <= KEPT {
        body.clear();
        BODY.set(body);
    }
    written
}

/// The largest body buffer that a thread keeps, in bytes.
const KEPT: usize = 64 << 10;

thread_local! {
    /// A buffer for the next body, which can only be copied into its frame after the attachments.
    static BODY: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Reads a client's payload. An error inside a complete envelope is returned with the request's id.
///
/// The reader never allocates by a length in the payload before the bytes are there.
///
/// # Errors
/// A payload that is incomplete, too long or malformed.
pub fn read_request(payload: &[u8]) -> Result<ClientFrame, BinaryError> {
    request(Parts::of(payload)?)
}

/// Reads a client's payload as [`read_request`] does. An attached text that makes up most of the
/// payload is not copied: the payload's buffer becomes that text, and `payload` is then empty.
///
/// # Errors
/// As for [`read_request`].
pub fn read_request_taking(payload: &mut Vec<u8>) -> Result<ClientFrame, BinaryError> {
    request(Parts::from_owned(payload)?)
}

fn request(parts: Parts<'_>) -> Result<ClientFrame, BinaryError> {
    if parts.kind != Kind::Request {
        return Err(BinaryError("it is no request".into()));
    }
    Ok(ClientFrame { id: parts.id, request: request_of(parts) })
}

fn request_of(parts: Parts<'_>) -> Result<(Header, Request), RpcError> {
    let Parts { method: name, attachments, body, .. } = parts;
    let Some(method) = Method::from_name(&name) else {
        return Err(RpcError::new(ErrorKind::UnknownMethod, unknown_method(&name)));
    };
    let invalid = |words: String| RpcError::new(ErrorKind::InvalidParams, format!("{name}: {words}"));
    check_depth(body.as_bytes()).map_err(|error| RpcError::new(ErrorKind::ParseError, format!("the body {error}")))?;
    let attachments = attachments.map_err(invalid)?;
    if attachments.is_empty() {
        // Without attachments, an integer is the same error as in the other codec.
        return Request::from_text(method, &body).map_err(|error| invalid(error.to_string()));
    }
    match attached::reading(attachments, || Request::from_text(method, &body)) {
        (Ok(_), left @ 1..) => Err(invalid(format!("{left} of the attachments belong to no param"))),
        (read, _) => read.map_err(|error| invalid(error.to_string())),
    }
}

/// Reads a payload from the daemon. Ignores attachments of unknown fields, like the fields themselves.
///
/// # Errors
/// A payload that is incomplete, too long or malformed, or a result that doesn't match its method.
pub fn read_incoming(mut payload: Vec<u8>) -> Result<Incoming, BinaryError> {
    let Parts { id, kind, method, attachments, body } = Parts::from_owned(&mut payload)?;
    let attachments = attachments.map_err(BinaryError)?;
    let read = || incoming(id, kind, &method, &body);
    if attachments.is_empty() { read() } else { attached::reading(attachments, read).0 }
}

fn incoming(id: u64, kind: Kind, name: &str, body: &str) -> Result<Incoming, BinaryError> {
    let wrong = |error: serde_json::Error| BinaryError(format!("{name}: {error}"));
    match kind {
        Kind::Request => Err(BinaryError("it is a request".into())),
        Kind::Result => {
            let unknown = || BinaryError("the result of a method that is not known".into());
            let method = Method::from_name(name).ok_or_else(unknown)?;
            Reply::from_json(method, body).map(|reply| Incoming::Reply(Some(id), Ok(reply))).map_err(wrong)
        }
        Kind::Error => serde_json::from_str(body).map(|error| Incoming::Reply(Some(id), Err(error))).map_err(wrong),
        Kind::Notification => {
            let topic = Topic::from_name(name).ok();
            let told = topic.map(|topic| Notification::from_json(topic, body)).transpose();
            told.map(Incoming::Notification).map_err(wrong)
        }
    }
}

#[cfg(test)]
mod tests;
