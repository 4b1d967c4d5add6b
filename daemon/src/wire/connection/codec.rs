//! Converts frames and lines into requests, and answers back.

use herma_protocol::binary::{self, BinaryError, ClientFrame};
use herma_protocol::frame::Codec;
use herma_protocol::jsonrpc::{self, Item, Line, ReplyTo};
use herma_protocol::{ErrorKind, Notification, Reply, RpcError};

use crate::data::error::Error;
use crate::wire::rpc_error::Answer;

/// The content of a frame.
pub(super) enum Parsed {
    Frame(Result<Box<ClientFrame>, RpcError>),
    Line(Box<Line>),
}

/// Parses a frame that is no longer needed, so that a large text in it may take over its bytes.
pub(super) fn parse_taking(codec: Option<Codec>, bytes: &mut Vec<u8>) -> Parsed {
    match codec {
        Some(Codec::Bincode) => Parsed::Frame(framed(binary::read_request_taking(bytes))),
        Some(Codec::Json) | None => Parsed::Line(Box::new(jsonrpc::read_line_taking(bytes))),
    }
}

/// Parses a frame.
pub(super) fn parse(codec: Option<Codec>, bytes: &[u8]) -> Parsed {
    match codec {
        Some(Codec::Bincode) => Parsed::Frame(framed(binary::read_request(bytes))),
        Some(Codec::Json) | None => Parsed::Line(Box::new(jsonrpc::read_line(bytes))),
    }
}

fn framed(read: Result<ClientFrame, BinaryError>) -> Result<Box<ClientFrame>, RpcError> {
    read.map(Box::new).map_err(|error| RpcError::new(ErrorKind::ParseError, error.to_string()))
}

/// Returns the error for a parser that panicked, which is a bug in herma.
pub(super) fn unparsable(codec: Option<Codec>) -> Parsed {
    let error = RpcError::from(Error::internal("reading a request"));
    match codec {
        Some(Codec::Bincode) => Parsed::Frame(Err(error)),
        Some(Codec::Json) | None => {
            Parsed::Line(Box::new(Line::One(Item { reply_to: ReplyTo::Id("null".into()), request: Err(error) })))
        }
    }
}

/// Appends an answer as a line.
pub(super) fn encode_line(id: &str, outcome: &Answer<Reply>, out: &mut Vec<u8>) {
    jsonrpc::append_reply(id, outcome, out);
    out.push(b'\n');
}

/// Appends an answer as a frame.
pub(super) fn encode_frame(id: u64, outcome: &Answer<Reply>, out: &mut Vec<u8>) {
    if let Err(error) = binary::append_reply(id, outcome, out) {
        let outcome = Err(RpcError::new(ErrorKind::TooLarge, format!("the result can't be sent: {error}")));
        if let Err(error) = binary::append_reply(id, &outcome, out) {
            tracing::error!("an error can't be sent: {error}");
        }
    }
}

/// Appends a notification as a frame.
pub(super) fn encode_notification(notification: &Notification, out: &mut Vec<u8>) {
    if let Err(error) = binary::append_notification(notification, out) {
        tracing::error!("a notification can't be sent: {error}");
    }
}
