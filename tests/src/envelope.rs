//! Writes and reads the envelope of a binary frame as docs/protocol.md describes it, without herma's code, like a
//! client in another language.

/// The kind of a frame's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The params of a method.
    Request = 0,
    /// The result of one.
    Result = 1,
    /// An error object.
    Error = 2,
    /// The params of a notification.
    Notification = 3,
}

/// The kind of an attachment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A text.
    Text = 1,
    /// A JSON array.
    List = 2,
}

/// A frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The id of the request.
    pub id: u64,
    /// The kind of the body.
    pub kind: Kind,
    /// The method or the topic, or empty.
    pub method: String,
    /// The attachments next to the body.
    pub attachments: Vec<(Form, Vec<u8>)>,
    /// The body as JSON.
    pub body: String,
}

impl Envelope {
    /// Creates a frame without attachments.
    #[must_use]
    pub fn new(id: u64, kind: Kind, method: &str, body: &str) -> Self {
        Self { id, kind, method: method.into(), attachments: Vec::new(), body: body.into() }
    }

    /// Returns the payload, without the frame's length.
    #[must_use]
    pub fn payload(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        put_number(self.id, &mut payload);
        payload.push(self.kind as u8);
        put_bytes(self.method.as_bytes(), &mut payload);
        for (form, bytes) in &self.attachments {
            payload.push(*form as u8);
            put_bytes(bytes, &mut payload);
        }
        payload.push(0);
        put_bytes(self.body.as_bytes(), &mut payload);
        payload
    }

    /// Returns the whole frame.
    ///
    /// # Panics
    /// The payload has more than 4 GiB.
    #[must_use]
    pub fn frame(&self) -> Vec<u8> {
        let payload = self.payload();
        [&u32::try_from(payload.len()).unwrap().to_le_bytes(), payload.as_slice()].concat()
    }

    /// Removes the first frame from some bytes and returns it.
    ///
    /// # Panics
    /// The bytes don't begin with a whole frame.
    #[must_use]
    pub fn take(bytes: &mut &[u8]) -> Self {
        let length = u32::from_le_bytes(cut(bytes, 4).try_into().unwrap());
        let mut payload = cut(bytes, length.into());
        let rest = &mut payload;
        let id = number(rest);
        let kind = match cut(rest, 1)[0] {
            0 => Kind::Request,
            1 => Kind::Result,
            2 => Kind::Error,
            3 => Kind::Notification,
            other => panic!("kind {other}"),
        };
        let method = text(rest);
        let mut attachments = Vec::new();
        loop {
            match cut(rest, 1)[0] {
                0 => break,
                1 => attachments.push((Form::Text, long(rest))),
                2 => attachments.push((Form::List, long(rest))),
                other => panic!("mark {other}"),
            }
        }
        let body = text(rest);
        assert!(payload.is_empty(), "{} bytes are left over", payload.len());
        Self { id, kind, method, attachments, body }
    }
}

fn put_number(number: u64, bytes: &mut Vec<u8>) {
    match number {
        0..=250 => bytes.push(u8::try_from(number).unwrap()),
        251..=0xffff => {
            bytes.push(251);
            bytes.extend(u16::try_from(number).unwrap().to_le_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            bytes.push(252);
            bytes.extend(u32::try_from(number).unwrap().to_le_bytes());
        }
        _ => {
            bytes.push(253);
            bytes.extend(number.to_le_bytes());
        }
    }
}

fn put_bytes(part: &[u8], bytes: &mut Vec<u8>) {
    put_number(part.len().try_into().unwrap(), bytes);
    bytes.extend(part);
}

fn number(bytes: &mut &[u8]) -> u64 {
    match cut(bytes, 1)[0] {
        251 => u16::from_le_bytes(cut(bytes, 2).try_into().unwrap()).into(),
        252 => u32::from_le_bytes(cut(bytes, 4).try_into().unwrap()).into(),
        253 => u64::from_le_bytes(cut(bytes, 8).try_into().unwrap()),
        small => {
            assert!(small < 251, "a number of 128 bits");
            small.into()
        }
    }
}

fn long(bytes: &mut &[u8]) -> Vec<u8> {
    let length = number(bytes);
    cut(bytes, length).to_vec()
}

fn text(bytes: &mut &[u8]) -> String {
    String::from_utf8(long(bytes)).unwrap()
}

fn cut<'a>(bytes: &mut &'a [u8], length: u64) -> &'a [u8] {
    let (part, rest) = bytes.split_at(length.try_into().unwrap());
    *bytes = rest;
    part
}
