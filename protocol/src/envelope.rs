//! The envelope of a binary frame: id, kind, method, attachments and body. This is the only file
//! that calls bincode. The body is the JSON of the other codec.
//!
//! Attachments come before the body. The JSON writer can append a large text to the frame as soon
//! as it reaches it, and the text is never moved again.

use std::ops::Range;

use bincode::config::{Configuration, Limit, LittleEndian, Varint, standard};
use bincode::error::DecodeError;
use bincode::{BorrowDecode, Encode};

use crate::limits;

/// The error for a malformed frame. The message doesn't repeat the frame's bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a frame of this protocol: {0}")]
pub struct BinaryError(pub(crate) String);

/// Size of a frame's length prefix in bytes.
const PREFIX: usize = 4;

/// Refuses a length beyond the payload before allocating anything.
const CONFIG: Configuration<LittleEndian, Varint, Limit<{ limits::FRAME_CEILING }>> =
    standard().with_limit::<{ limits::FRAME_CEILING }>();

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub(super) struct Head<'a> {
    /// The id of the request; 0 for a notification, and for a reply to bytes that are no valid frame.
    pub(super) id: u64,
    /// The kind of the body.
    pub(super) kind: Kind,
    /// The method of a request or a result, the topic of a notification, empty for an error.
    pub(super) method: &'a str,
}

/// The kind of a frame's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub(super) enum Kind {
    /// The params of a method.
    Request,
    /// The result of a method.
    Result,
    /// An error object.
    Error,
    /// The params of a notification.
    Notification,
}

/// The kind of the next item after the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
enum Mark {
    /// The body.
    Body,
    /// A text, then the next mark.
    Text,
    /// A list, then the next mark.
    List,
}

/// The kind of an attachment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A raw text.
    Text,
    /// The text of a JSON array.
    List,
}

/// The parts of a payload and their positions.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Envelope<'a> {
    pub(super) head: Head<'a>,
    pub(super) attachments: Vec<(Form, Range<usize>)>,
    /// JSON.
    pub(super) body: &'a [u8],
}

/// Splits a payload into its parts without copying. Refuses a payload with bytes left over.
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

/// Begins a frame: reserves its length prefix and writes the head.
pub(super) fn begin(head: &Head<'_>, frame: &mut Vec<u8>) -> Result<(), BinaryError> {
    frame.extend_from_slice(&[0; PREFIX]);
    put(head, frame)
}

/// Begins an attachment of `length` bytes, which the caller appends.
pub(crate) fn begin_attachment(form: Form, length: usize, frame: &mut Vec<u8>) -> Result<(), BinaryError> {
    let mark = match form {
        Form::Text => Mark::Text,
        Form::List => Mark::List,
    };
    put(mark, frame)?;
    put(length, frame)
}

/// Ends the frame that begins at offset `from` with its body.
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

/// Decodes the value at an offset, and returns it with the offset after it.
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
