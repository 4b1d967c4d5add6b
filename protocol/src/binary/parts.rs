//! A payload split into its body and its attachments.

use std::borrow::Cow;
use std::ops::Range;

use super::BinaryError;
use crate::attached::Attachment;
use crate::envelope::{self, Envelope, Form, Head, Kind};

/// The parts of a payload.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    /// The id of the request.
    pub(super) id: u64,
    /// The kind of the body.
    pub(super) kind: Kind,
    /// The method or topic.
    pub(super) method: Cow<'a, str>,
    /// The attachments, or the error in them.
    pub(super) attachments: Result<Vec<Attachment>, String>,
    /// The JSON.
    pub(super) body: Cow<'a, str>,
}

impl<'a> Parts<'a> {
    /// Copies the attachments out of a payload.
    pub(super) fn of(payload: &'a [u8]) -> Result<Self, BinaryError> {
        let Envelope { head: Head { id, kind, method }, attachments, body } = envelope::open(payload)?;
        let attachments = attachments.into_iter().map(|(form, place)| copied(payload, form, place)).collect();
        Ok(Self { id, kind, method: Cow::Borrowed(method), attachments, body: Cow::Borrowed(text(body)?) })
    }

    /// Does the same, but moves a text that makes up most of the payload: the payload's buffer
    /// becomes that text, and `payload` is then empty.
    pub(super) fn from_owned(payload: &'a mut Vec<u8>) -> Result<Self, BinaryError> {
        let Envelope { head: Head { id, kind, method }, attachments, body } = envelope::open(payload)?;
        let Some(most) = attachments.iter().position(|(form, place)| is_most(*form, place, payload.len())) else {
            return Self::of(payload);
        };
        let (method, body) = (Cow::Owned(method.to_owned()), Cow::Owned(text(body)?.to_owned()));
        let attachments = moved(std::mem::take(payload), attachments, most);
        Ok(Self { id, kind, method, attachments, body })
    }
}

fn text(bytes: &[u8]) -> Result<&str, BinaryError> {
    std::str::from_utf8(bytes).map_err(|_| BinaryError("its body is not UTF-8".into()))
}

/// Returns whether a payload can become this attachment. A small payload is copied, because its
/// buffer may be much larger than the payload.
fn is_most(form: Form, place: &Range<usize>, whole: usize) -> bool {
    form == Form::Text && whole >= MOVED && place.len() > whole / 2
}

/// Payloads of at least this many bytes are moved.
const MOVED: usize = 32 << 10;

/// Copies an attachment out of its payload.
fn copied(payload: &[u8], form: Form, place: Range<usize>) -> Result<Attachment, String> {
    let bytes = payload.get(place).unwrap_or_default();
    match form {
        Form::Text => String::from_utf8(bytes.to_vec()).map(Attachment::Text).map_err(|_| NOT_UTF8.into()),
        Form::List => Attachment::list(bytes).map_err(|error| format!("an attached list is wrong: {error}")),
    }
}

/// Returns the attachments of a payload, whose buffer becomes the attachment at `most`.
fn moved(mut payload: Vec<u8>, places: Vec<(Form, Range<usize>)>, most: usize) -> Result<Vec<Attachment>, String> {
    let mut attachments = Vec::with_capacity(places.len());
    let mut whole = 0..0;
    for (number, (form, place)) in places.into_iter().enumerate() {
        if number == most {
            whole = place;
        } else {
            attachments.push(copied(&payload, form, place)?);
        }
    }
    payload.truncate(whole.end);
    payload.drain(..whole.start);
    let text = String::from_utf8(payload).map_err(|_| NOT_UTF8)?;
    attachments.insert(most, Attachment::Text(text));
    Ok(attachments)
}

const NOT_UTF8: &str = "an attached text is not UTF-8";
