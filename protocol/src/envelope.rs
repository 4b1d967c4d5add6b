//! The envelope of a binary frame: id, kind, method, attachments and body. The only file
//! that calls bincode; what stands in the body is the other codec's JSON.
//!
//! The attachments come in front of the body: a large text goes into the frame as soon as
//! the writer of the JSON comes to it, and is never moved again.

use std::ops::Range;

use bincode::config::{Configuration, Limit, LittleEndian, Varint, standard};
use bincode::error::DecodeError;
use bincode::{BorrowDecode, Encode};

use crate::limits;

/// A frame that is not what it should be. Its words don't repeat its bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a frame of this protocol: {0}")]
pub struct BinaryError(pub(crate) String);

/// Bytes of a frame's length prefix.
const PREFIX: usize = 4;

/// A length that is not in the payload is refused; nothing is allocated for one.
const CONFIG: Configuration<LittleEndian, Varint, Limit<{ limits::FRAME_CEILING }>> =
    standard().with_limit::<{ limits::FRAME_CEILING }>();

/// What a frame begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub(super) struct Head<'a> {
    /// Of the request; 0 for a notification, and for an answer to what was no frame.
    pub(super) id: u64,
    /// What the body is.
    pub(super) kind: Kind,
    /// The method of a request or a result, the topic of a notification, empty for an error.
    pub(super) method: &'a str,
}

/// What the body of a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub(super) enum Kind {
    /// The params of a method.
    Request,
    /// The result of one.
    Result,
    /// An error object.
    Error,
    /// The params of a notification.
    Notification,
}

/// What comes next behind the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
enum Mark {
    /// The body.
    Body,
    /// A text, then the next mark.
    Text,
    /// A list, then the next mark.
    List,
}

/// What an attachment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A text as it is.
    Text,
    /// The text of a JSON array.
    List,
}

/// Where everything is in a payload.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Envelope<'a> {
    pub(super) head: Head<'a>,
    pub(super) attachments: Vec<(Form, Range<usize>)>,
    /// JSON.
    pub(super) body: &'a [u8],
}

/// Takes a payload apart; every byte of it must be used. Nothing is copied.
pub(super) fn open(payload: &[u8]) -> Result<Envelope<'_>, BinaryError> {
    let (head, mut at) = take(payload, 0)?;
    let mut attachments = Vec::new();
    loop {
        let (mark, behind) = take(payload, at)?;
        at = behind;
        let form = match mark {
            Mark::Body => break,
            Mark::Text => Form::Text,
            Mark::List => Form::List,
        };
        if attachments.len() == limits::ATTACHMENTS {
            return Err(BinaryError(format!("it has more than {} attachments", limits::ATTACHMENTS)));
        }
        let (bytes, behind): (&[u8], usize) = take(payload, at)?;
        at = behind;
        attachments.push((form, at - bytes.len()..at));
    }
    let (body, at) = take(payload, at)?;
    if at < payload.len() {
        return Err(BinaryError(format!("{} bytes are left over", payload.len() - at)));
    }
    Ok(Envelope { head, attachments, body })
}

/// Begins a frame: room for its length, and the head.
pub(super) fn begin(head: &Head<'_>, frame: &mut Vec<u8>) -> Result<(), BinaryError> {
    frame.extend_from_slice(&[0; PREFIX]);
    put(head, frame)
}

/// Begins an attachment of so many bytes, which the caller appends.
pub(crate) fn begin_attachment(form: Form, length: usize, frame: &mut Vec<u8>) -> Result<(), BinaryError> {
    let mark = match form {
        Form::Text => Mark::Text,
        Form::List => Mark::List,
    };
    put(mark, frame)?;
    put(length, frame)
}

/// Ends the frame that begins at `from` with its body.
pub(super) fn finish(from: usize, body: &[u8], frame: &mut Vec<u8>) -> Result<(), BinaryError> {
    put(Mark::Body, frame)?;
    put(body, frame)?;
    let length = u32::try_from(frame.len() - from - PREFIX).map_err(|error| BinaryError(error.to_string()))?;
    frame[from..from + PREFIX].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

fn put(value: impl Encode, frame: &mut Vec<u8>) -> Result<(), BinaryError> {
    let written = bincode::encode_into_std_write(value, frame, standard());
    written.map(drop).map_err(|error| BinaryError(error.to_string()))
}

/// What stands at an offset, and the offset behind it.
fn take<'a, T: BorrowDecode<'a, ()>>(payload: &'a [u8], at: usize) -> Result<(T, usize), BinaryError> {
    let rest = payload.get(at..).unwrap_or_default();
    let (value, used) = bincode::borrow_decode_from_slice(rest, CONFIG).map_err(|error| BinaryError(words(&error)))?;
    Ok((value, at + used))
}

fn words(error: &DecodeError) -> String {
    match error {
        DecodeError::UnexpectedEnd { .. } => "it is cut short".into(),
        DecodeError::LimitExceeded => "it announces more than it can hold".into(),
        DecodeError::Utf8 { .. } => "a text in it is not UTF-8".into(),
        DecodeError::UnexpectedVariant { type_name, .. } => format!("unknown variant of {type_name}"),
        _ => "a value in it is out of its range".into(),
    }
}
