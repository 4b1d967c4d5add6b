//! The binary codec: the only module that calls bincode, so that a successor
//! with the same bytes can take its place.

use bincode::config::{Configuration, Limit, LittleEndian, Varint, standard};
use bincode::{Decode, Encode};

use crate::output::{AdmitParams, BudgetConfig};
use crate::value::{Content, Size};
use crate::{Header, Method, Notification, Reply, Request, RpcError};

/// Bytes of a frame's length prefix.
const PREFIX: usize = 4;

/// What a client sends.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct ClientFrame {
    /// Chosen by the client; comes back with the reply. 0 is the daemon's.
    pub id: u64,
    /// What every request may carry.
    pub header: Header,
    /// The request.
    pub request: Request,
}

/// What the daemon sends.
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum ServerFrame {
    /// The answer to a request.
    Reply {
        /// The request's id; 0 when the frame was not readable.
        id: u64,
        /// The result or the error.
        outcome: Result<Reply, RpcError>,
    },
    /// What a connection has subscribed to.
    Notification(Notification),
}

/// A frame that is not what it should be. Its words don't repeat its bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a frame of this protocol: {0}")]
pub struct BinaryError(String);

/// Writes a value as a frame, prefix included.
///
/// # Errors
/// A payload of more than 4 GiB.
pub fn write(value: &impl Encode) -> Result<Vec<u8>, BinaryError> {
    let mut frame = Vec::new();
    append(value, &mut frame)?;
    Ok(frame)
}

/// Appends a value as a frame, prefix included; after an error `bytes` are as
/// they were.
///
/// # Errors
/// A payload of more than 4 GiB.
pub fn append(value: &impl Encode, bytes: &mut Vec<u8>) -> Result<(), BinaryError> {
    let from = bytes.len();
    bytes.extend_from_slice(&[0; PREFIX]);
    let written = bincode::encode_into_std_write(value, bytes, standard())
        .map_err(|error| BinaryError(error.to_string()))
        .and_then(|length| u32::try_from(length).map_err(|error| BinaryError(error.to_string())));
    match written {
        Ok(length) => {
            bytes[from..from + PREFIX].copy_from_slice(&length.to_le_bytes());
            Ok(())
        }
        Err(error) => {
            bytes.truncate(from);
            Err(error)
        }
    }
}

/// Writes a value without a prefix, to be kept and read again.
///
/// # Errors
/// None that is known; bincode's signature has one.
pub fn pack(value: &impl Encode) -> Result<Vec<u8>, BinaryError> {
    bincode::encode_to_vec(value, standard()).map_err(|error| BinaryError(error.to_string()))
}

/// Reads a payload; every byte of it must be used.
///
/// A length that stands inside the payload can make the reader reserve at most
/// a multiple of the payload's own size (the smallest of the limits below that is
/// 32 times as large), because bincode checks its limit first.
///
/// # Errors
/// A payload that is cut short, too long, or of another shape.
pub fn read<T: Decode<()>>(payload: &[u8]) -> Result<T, BinaryError> {
    let decoded = match payload.len() {
        0..=0x0800 => decode(payload, limited::<{ 1 << 16 }>()),
        0x0801..=0x8000 => decode(payload, limited::<{ 1 << 20 }>()),
        0x8001..=0x8_0000 => decode(payload, limited::<{ 1 << 24 }>()),
        0x8_0001..=0x80_0000 => decode(payload, limited::<{ 1 << 28 }>()),
        0x80_0001..=0x200_0000 => decode(payload, limited::<{ 1 << 30 }>()),
        _ => decode(payload, limited::<{ 1 << 32 }>()),
    };
    let (value, used) = decoded.map_err(|error| BinaryError(words(&error)))?;
    if used == payload.len() {
        Ok(value)
    } else {
        Err(BinaryError(format!("{} bytes are left over", payload.len() - used)))
    }
}

/// Payloads from this many bytes on are looked at for a text that need not be copied.
const LARGE: usize = 256 << 10;

/// Reads a client's payload as [`read`] does. The text of a large `output.admit` is not
/// copied: the payload becomes that text, and is empty then.
///
/// # Errors
/// As [`read`].
pub fn read_taking(payload: &mut Vec<u8>) -> Result<ClientFrame, BinaryError> {
    match large_text(payload) {
        Some(place) => place.take(std::mem::take(payload)),
        None => read(payload),
    }
}

/// What stands before the text of an `output.admit`, in the order of the fields.
#[derive(Decode)]
struct BeforeText {
    id: u64,
    header: Header,
    method: u32,
    session: String,
    tool: String,
    call: String,
    content: u32,
    length: u64,
}

/// Where the text of an `output.admit` is, and what is around it.
struct LargeText {
    before: BeforeText,
    text: std::ops::Range<usize>,
    after: (Option<Size>, Option<BudgetConfig>),
}

/// The place of a large text; `None` when there is none, or anything is wrong.
fn large_text(payload: &[u8]) -> Option<LargeText> {
    let method = Method::ALL.iter().position(|method| *method == Method::OutputAdmit)?;
    if payload.len() < LARGE {
        return None;
    }
    let (before, from): (BeforeText, usize) = decode(payload, limited::<{ 1 << 16 }>()).ok()?;
    if usize::try_from(before.method).ok()? != method || before.content != 0 {
        return None;
    }
    let to = from.checked_add(usize::try_from(before.length).ok()?)?;
    let rest = payload.get(to..)?;
    let (after, used) = decode(rest, limited::<{ 1 << 20 }>()).ok()?;
    (used == rest.len()).then_some(LargeText { before, text: from..to, after })
}

impl LargeText {
    fn take(self, mut payload: Vec<u8>) -> Result<ClientFrame, BinaryError> {
        payload.truncate(self.text.end);
        payload.drain(..self.text.start);
        let text = String::from_utf8(payload).map_err(|_| BinaryError("a text in it is not UTF-8".into()))?;
        let BeforeText { id, header, session, tool, call, .. } = self.before;
        let (threshold, config) = self.after;
        let params = AdmitParams { session, tool, id: call, content: Content::Text(text), threshold, config };
        Ok(ClientFrame { id, header, request: Request::OutputAdmit(params) })
    }
}

type Limited<const N: usize> = Configuration<LittleEndian, Varint, Limit<N>>;

const fn limited<const N: usize>() -> Limited<N> {
    standard().with_limit::<N>()
}

fn decode<T: Decode<()>, const N: usize>(
    payload: &[u8],
    config: Limited<N>,
) -> Result<(T, usize), bincode::error::DecodeError> {
    bincode::decode_from_slice(payload, config)
}

fn words(error: &bincode::error::DecodeError) -> String {
    use bincode::error::DecodeError;
    match error {
        DecodeError::UnexpectedEnd { .. } => "it is cut short".into(),
        DecodeError::LimitExceeded => "it announces more than it can hold".into(),
        DecodeError::Utf8 { .. } => "a text in it is not UTF-8".into(),
        DecodeError::UnexpectedVariant { type_name, .. } => format!("unknown variant of {type_name}"),
        DecodeError::OtherString(words) => words.clone(),
        _ => "a value in it is out of its range".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::PingParams;
    use crate::memory::{AddParams, Target};

    fn add() -> ClientFrame {
        ClientFrame {
            id: 7,
            header: Header { deadline_ms: Some(250), ..Header::default() },
            request: Request::MemoryAdd(AddParams {
                target: Target::User,
                content: "prefers metric units §".into(),
                session: None,
                agent: Some("a".into()),
                expected_revision: Some(300),
            }),
        }
    }

    #[test]
    fn a_frame_comes_back() -> Result<(), BinaryError> {
        let frame = write(&add())?;
        assert_eq!(read::<ClientFrame>(&frame[4..])?, add());
        Ok(())
    }

    #[test]
    fn every_cut_and_every_flip_is_an_error_or_another_value() -> Result<(), BinaryError> {
        let payload = pack(&add())?;
        for end in 0..payload.len() {
            assert!(read::<ClientFrame>(&payload[..end]).is_err());
        }
        for at in 0..payload.len() {
            let mut forged = payload.clone();
            forged[at] ^= 0xff;
            drop(read::<ClientFrame>(&forged));
        }
        Ok(())
    }

    fn admit(text: String) -> ClientFrame {
        let params = AdmitParams {
            session: "s".into(),
            tool: "terminal".into(),
            id: "call_1".into(),
            content: Content::Text(text),
            threshold: Some(Size::Infinite),
            config: Some(BudgetConfig { preview_size: Some(70_000), ..BudgetConfig::default() }),
        };
        ClientFrame { id: 9, header: Header::default(), request: Request::OutputAdmit(params) }
    }

    #[test]
    fn a_large_text_is_taken_without_a_copy_and_is_the_same() -> Result<(), BinaryError> {
        for length in [0, LARGE - 40, LARGE, 70_000 + LARGE] {
            let frame = admit("é".repeat(length / 2));
            let mut payload = pack(&frame)?;
            assert_eq!(large_text(&payload).is_some(), payload.len() >= LARGE, "{length}");
            assert_eq!(read_taking(&mut payload)?, frame, "{length}");
        }
        Ok(())
    }

    #[test]
    fn a_forged_large_frame_is_what_the_ordinary_reader_says() -> Result<(), BinaryError> {
        let payload = pack(&admit("x".repeat(LARGE)))?;
        let ends = (0..40).chain(payload.len() - 20..payload.len());
        for at in ends {
            for forged_byte in [0, 1, 7, 250, 251, 252, 253, 255] {
                let mut forged = payload.clone();
                forged[at] = forged_byte;
                assert_eq!(read_taking(&mut forged.clone()).ok(), read::<ClientFrame>(&forged).ok(), "{at}");
            }
        }
        let mut longer = payload;
        longer.push(0);
        assert!(read_taking(&mut longer).is_err());
        Ok(())
    }

    #[test]
    fn a_forged_text_length_allocates_nothing() {
        let mut payload = vec![1, 0, 0, 0, 4, 0];
        payload.extend([253, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
        assert!(read::<ClientFrame>(&payload).is_err());
    }

    #[test]
    fn bytes_that_are_left_over_are_an_error() -> Result<(), BinaryError> {
        let ping = ClientFrame { id: 1, header: Header::default(), request: Request::Ping(PingParams {}) };
        let mut payload = pack(&ping)?;
        payload.push(0);
        assert!(read::<ClientFrame>(&payload).is_err());
        Ok(())
    }
}
