//! Attachments: large texts and lists that travel next to the JSON of a binary frame, unescaped. A
//! field with [`serialize`] and [`deserialize`] is an integer in that JSON, the number of its
//! attachment, if its value is longer than [`INLINE_LIMIT_BYTES`]. No other field can have an attachment.
//! (`serde(with)` would be enough, but the schema of such a field could not be derived.)
//!
//! The frame being written or read is a thread-local, because serde passes no context. Only the
//! binary codec opens such a scope, and nothing inside it waits. Outside a scope the fields are
//! ordinary JSON.

use std::cell::RefCell;
use std::fmt;

use serde::de::{self, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::envelope::{self, Form};
use crate::{Json, limits};

/// Texts and lists of more bytes than this are attached. Attaching is already cheaper above about half of it.
pub(crate) const INLINE_LIMIT_BYTES: usize = 256;

/// Bytes reserved after an attachment, so that a short one that follows a long one does not reallocate.
const SPARE_BYTES: usize = 4 << 10;

/// A value that may travel as an attachment.
pub(crate) trait Attach: Sized {
    /// Writes the value, or the number of its attachment.
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// Reads the value, or takes the attachment whose number it has.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

pub(crate) fn serialize<T: Attach, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.write(serializer)
}

pub(crate) fn deserialize<'de, T: Attach, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::read(deserializer)
}

/// An attachment of a JSON text.
#[derive(Debug)]
pub(crate) enum Attachment {
    /// A text.
    Text(String),
    /// A list of JSON values.
    List(Vec<Json>),
}

impl Attachment {
    /// Parses the bytes of a list. Each of its values may nest as deep as a separate text.
    pub(crate) fn list(bytes: &[u8]) -> Result<Self, String> {
        let list: Vec<Json> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        list.iter().try_for_each(Json::check_depth).map_err(|error| error.to_string())?;
        Ok(Self::List(list))
    }
}

/// Runs `write` and appends large values to `frame` as attachments.
pub(crate) fn writing<T>(frame: &mut Vec<u8>, write: impl FnOnce() -> T) -> T {
    let scope = Scope::open(Frame::Written { bytes: std::mem::take(frame), count: 0 });
    let written = write();
    if let Frame::Written { bytes, .. } = scope.close() {
        *frame = bytes;
    }
    written
}

/// Runs `read` with these attachments; also returns how many of them no field used.
pub(crate) fn reading<T>(attachments: Vec<Attachment>, read: impl FnOnce() -> T) -> (T, usize) {
    let scope = Scope::open(Frame::Read(attachments.into_iter().map(Some).collect()));
    let value = read();
    match scope.close() {
        Frame::Read(left) => (value, left.iter().flatten().count()),
        _ => (value, 0),
    }
}

thread_local! {
    static FRAME: RefCell<Frame> = const { RefCell::new(Frame::None) };
}

/// The frame that this thread writes or reads.
enum Frame {
    None,
    Written { bytes: Vec<u8>, count: usize },
    Read(Vec<Option<Attachment>>),
}

/// Clears the thread's frame when dropped, also after a panic.
struct Scope(());

impl Scope {
    fn open(frame: Frame) -> Self {
        FRAME.set(frame);
        Self(())
    }

    fn close(self) -> Frame {
        std::mem::forget(self);
        FRAME.replace(Frame::None)
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        FRAME.set(Frame::None);
    }
}

/// Attaches a value of `length` bytes if it is large, and returns its number.
fn attach(form: Form, length: usize, append: impl FnOnce(&mut Vec<u8>)) -> Option<usize> {
    if length <= INLINE_LIMIT_BYTES {
        return None;
    }
    FRAME.with_borrow_mut(|frame| match frame {
        Frame::Written { bytes, count } if *count < limits::ATTACHMENTS => {
            bytes.reserve(length + SPARE_BYTES);
            envelope::begin_attachment(form, length, bytes).ok()?;
            append(bytes);
            *count += 1;
            Some(*count - 1)
        }
        _ => None,
    })
}

/// Returns whether the JSON that is being read has attachments.
pub(crate) fn is_reading() -> bool {
    FRAME.with_borrow(|frame| matches!(frame, Frame::Read(_)))
}

/// Takes the attachment with this number. Each one can be taken only once.
pub(crate) fn take(number: u64) -> Result<Attachment, String> {
    FRAME.with_borrow_mut(|frame| {
        let Frame::Read(attachments) = frame else { return Err("there are no attachments".into()) };
        let count = attachments.len();
        let place = usize::try_from(number).ok().and_then(|at| attachments.get_mut(at));
        match place {
            None => Err(format!("attachment {number} is named, but there are only {count}")),
            Some(place) => place.take().ok_or_else(|| format!("attachment {number} is named twice")),
        }
    })
}

impl Attach for String {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_text(self, serializer)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if is_reading() { deserializer.deserialize_any(Text) } else { Self::deserialize(deserializer) }
    }
}

/// Writes a text, or the number of its attachment.
pub(crate) fn write_text<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    match attach(Form::Text, text.len(), |bytes| bytes.extend_from_slice(text.as_bytes())) {
        Some(number) => number.serialize(serializer),
        None => serializer.serialize_str(text),
    }
}

impl Attach for Vec<Json> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let separators = self.len().saturating_sub(1);
        let length = 2 + separators + self.iter().map(|value| value.get().len()).sum::<usize>();
        let append = |bytes: &mut Vec<u8>| {
            bytes.push(b'[');
            for (at, value) in self.iter().enumerate() {
                if at > 0 {
                    bytes.push(b',');
                }
                bytes.extend_from_slice(value.get().as_bytes());
            }
            bytes.push(b']');
        };
        match attach(Form::List, length, append) {
            Some(number) => number.serialize(serializer),
            None => self.serialize(serializer),
        }
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if is_reading() { deserializer.deserialize_any(List) } else { Self::deserialize(deserializer) }
    }
}

/// Attaches each text separately.
impl Attach for Vec<String> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Attached))
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Attached<String>>::deserialize(deserializer)?.into_iter().map(|text| text.0).collect())
    }
}

/// Attaches each list separately.
impl Attach for Vec<Vec<Json>> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Attached))
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Attached<Vec<Json>>>::deserialize(deserializer)?.into_iter().map(|list| list.0).collect())
    }
}

impl<T: Attach> Attach for Option<T> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_ref().map(Attached).serialize(serializer)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<Attached<T>>::deserialize(deserializer)?.map(|value| value.0))
    }
}

/// A value inside another one, such as an item of a list.
struct Attached<T>(T);

impl<T: Attach> Serialize for Attached<&T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.write(serializer)
    }
}

impl<'de, T: Attach> Deserialize<'de> for Attached<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::read(deserializer).map(Self)
    }
}

/// A text or its attachment.
struct Text;

impl Visitor<'_> for Text {
    type Value = String;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<String, E> {
        Ok(text)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<String, E> {
        match take(number).map_err(E::custom)? {
            Attachment::Text(text) => Ok(text),
            Attachment::List(_) => Err(E::invalid_type(Unexpected::Other("an attached list"), &self)),
        }
    }
}

/// A list or its attachment.
struct List;

impl<'de> Visitor<'de> for List {
    type Value = Vec<Json>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Vec<Json>, A::Error> {
        Vec::deserialize(de::value::SeqAccessDeserializer::new(list))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Vec<Json>, E> {
        match take(number).map_err(E::custom)? {
            Attachment::List(list) => Ok(list),
            Attachment::Text(_) => Err(E::invalid_type(Unexpected::Other("an attached text"), &self)),
        }
    }
}
