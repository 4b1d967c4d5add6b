//! Splits a byte stream into frames. The first byte decides between JSON lines and length-prefixed binary frames.

use std::ops::Range;

use crate::version::{NAME, PREFACE, PROTOCOL, mismatch};

/// The codec of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// JSON-RPC 2.0, one object or batch per line.
    Json,
    /// Length-prefixed envelopes after the preface.
    Bincode,
}

/// Why a stream can't be split any further. The connection is unusable afterwards.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A frame or line is longer than the limit.
    #[error("a frame of {length} bytes or more is over the limit of {limit} bytes")]
    TooLarge {
        /// The announced length, or the bytes read before the line ended.
        length: usize,
        /// The limit in force.
        limit: usize,
    },
    /// The stream begins like the preface but differs after that.
    #[error("the preface is not HERMA\\0 with protocol version {PROTOCOL} and codec 1")]
    Preface,
    /// The stream begins with the preface of another version.
    #[error("{}", mismatch(*client, PROTOCOL))]
    Version {
        /// The version of the sender.
        client: u32,
    },
    /// The stream ended inside a frame.
    #[error("the connection ended {missing} bytes before the end of a frame")]
    CutShort {
        /// The fewest bytes that were still missing.
        missing: usize,
    },
}

/// The progress of an incomplete frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partial {
    /// Bytes received, without a prefix that was already read.
    pub have: usize,
    /// Bytes of the whole frame without its prefix, if its length is known.
    pub need: Option<usize>,
}

/// Buffers the bytes read and returns them frame by frame.
///
/// Invariant: it never holds more than one frame limit plus one read. It compares an announced
/// length with the limit and never allocates by it.
#[derive(Debug)]
pub struct Decoder {
    buffer: Vec<u8>,
    start: usize,
    scanned: usize,
    codec: Option<Codec>,
    limit: usize,
    /// Length of the current frame, once its prefix was consumed. Without the prefix, a large frame
    /// begins at the front of the buffer and can be moved out.
    announced: Option<usize>,
}

/// Size of the length prefix in bytes.
const PREFIX: usize = 4;

impl Decoder {
    /// Creates a decoder for the daemon's side: the first byte decides the codec.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, scanned: 0, codec: None, limit, announced: None }
    }

    /// Creates a decoder for the client's side, which knows its codec.
    #[must_use]
    pub const fn with_codec(limit: usize, codec: Codec) -> Self {
        Self { buffer: Vec::new(), start: 0, scanned: 0, codec: Some(codec), limit, announced: None }
    }

    /// Returns the codec, once the first byte arrived.
    #[must_use]
    pub const fn codec(&self) -> Option<Codec> {
        self.codec
    }

    /// Returns the buffer to append new bytes to. Ranges returned earlier become invalid.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        if self.start == self.buffer.len() {
            self.buffer.clear();
        } else if self.start > 0 {
            self.buffer.drain(..self.start);
        }
        self.scanned = self.scanned.saturating_sub(self.start);
        self.start = 0;
        &mut self.buffer
    }

    /// Returns the range of the next complete frame, without newline or prefix.
    ///
    /// # Errors
    /// A frame over the limit, or a wrong preface.
    pub fn next_frame(&mut self) -> Result<Option<Range<usize>>, FrameError> {
        match self.choose_codec()? {
            None => Ok(None),
            Some(Codec::Json) => self.next_line(),
            Some(Codec::Bincode) => self.next_prefixed(),
        }
    }

    /// Returns the bytes of a frame.
    #[must_use]
    pub fn bytes(&self, frame: &Range<usize>) -> &[u8] {
        self.buffer.get(frame.clone()).unwrap_or_default()
    }

    /// Moves the bytes of a frame out. Copies them only if the buffer contains more than this frame.
    #[must_use]
    pub fn take(&mut self, frame: &Range<usize>) -> Vec<u8> {
        if self.start < self.buffer.len() {
            return self.bytes(frame).to_vec();
        }
        let mut whole = std::mem::take(&mut self.buffer);
        (self.start, self.scanned) = (0, 0);
        whole.truncate(frame.end);
        whole.drain(..frame.start);
        whole
    }

    /// Returns the progress of an incomplete frame; `None` between frames.
    #[must_use]
    pub fn partial(&self) -> Option<Partial> {
        let have = self.buffer.len() - self.start;
        if have == 0 && self.announced.is_none() {
            return None;
        }
        let need = match self.codec {
            Some(Codec::Bincode) => self.announced,
            Some(Codec::Json) => None,
            None => Some(PREFACE.len()),
        };
        Some(Partial { have, need })
    }

    /// Returns the rest at the end of the stream: a last line without a newline counts as a line.
    ///
    /// # Errors
    /// An incomplete binary frame or preface.
    pub fn finish(&mut self) -> Result<Option<Range<usize>>, FrameError> {
        match self.partial() {
            None => Ok(None),
            Some(_) if self.codec == Some(Codec::Json) => {
                let line = self.start..self.buffer.len();
                self.start = self.buffer.len();
                Ok(Some(self.trimmed(line)).filter(|line| !line.is_empty()))
            }
            Some(Partial { have, need }) => {
                Err(FrameError::CutShort { missing: need.unwrap_or(have + 1).saturating_sub(have) })
            }
        }
    }

    fn choose_codec(&mut self) -> Result<Option<Codec>, FrameError> {
        if self.codec.is_none() {
            let head = &self.buffer[..self.buffer.len().min(PREFACE.len())];
            match head.first() {
                None => {}
                Some(first) if *first != PREFACE[0] => self.codec = Some(Codec::Json),
                Some(_) if !PREFACE.starts_with(head) => {
                    let version = head.get(NAME).copied().map(u32::from);
                    let other = version.filter(|version| PREFACE.starts_with(&head[..NAME]) && *version != PROTOCOL);
                    return Err(other.map_or(FrameError::Preface, |client| FrameError::Version { client }));
                }
                Some(_) if head.len() < PREFACE.len() => {}
                Some(_) => {
                    self.codec = Some(Codec::Bincode);
                    self.start = PREFACE.len();
                }
            }
        }
        Ok(self.codec)
    }

    fn next_line(&mut self) -> Result<Option<Range<usize>>, FrameError> {
        loop {
            let from = self.scanned.max(self.start);
            let Some(newline) = memchr::memchr(b'\n', &self.buffer[from..]).map(|at| from + at) else {
                self.scanned = self.buffer.len();
                let length = self.buffer.len() - self.start;
                return if length > self.limit {
                    Err(FrameError::TooLarge { length, limit: self.limit })
                } else {
                    Ok(None)
                };
            };
            let line = self.start..newline;
            if line.len() > self.limit {
                return Err(FrameError::TooLarge { length: line.len(), limit: self.limit });
            }
            (self.start, self.scanned) = (newline + 1, newline + 1);
            let line = self.trimmed(line);
            if !line.is_empty() {
                return Ok(Some(line));
            }
        }
    }

    fn trimmed(&self, line: Range<usize>) -> Range<usize> {
        let text = &self.buffer[line.clone()];
        let kept = text.trim_ascii_end().len();
        let blank = text.len() - text.trim_ascii_start().len();
        line.start + blank.min(kept)..line.start + kept
    }

    fn next_prefixed(&mut self) -> Result<Option<Range<usize>>, FrameError> {
        let length = match self.announced {
            Some(length) => length,
            None => match self.prefix() {
                None => return Ok(None),
                // The prefix is not consumed: these bytes may not be a frame at all.
                Some(length) if length > self.limit => {
                    return Err(FrameError::TooLarge { length, limit: self.limit });
                }
                Some(length) => {
                    self.start += PREFIX;
                    *self.announced.insert(length)
                }
            },
        };
        let frame = self.start..self.start + length;
        if self.buffer.len() < frame.end {
            return Ok(None);
        }
        (self.start, self.announced) = (frame.end, None);
        Ok(Some(frame))
    }

    /// Returns the length of the frame that begins here, once its prefix is complete.
    fn prefix(&self) -> Option<usize> {
        let prefix = self.buffer.get(self.start..self.start + PREFIX)?;
        usize::try_from(u32::from_le_bytes(prefix.try_into().ok()?)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Cut = (Vec<Vec<u8>>, Result<Option<Vec<u8>>, FrameError>);

    fn frames(limit: usize, stream: &[u8], step: usize) -> Cut {
        let mut decoder = Decoder::new(limit);
        let mut found = Vec::new();
        for piece in stream.chunks(step) {
            decoder.buffer().extend_from_slice(piece);
            loop {
                match decoder.next_frame() {
                    Ok(Some(frame)) => found.push(decoder.take(&frame)),
                    Ok(None) => break,
                    Err(error) => return (found, Err(error)),
                }
            }
        }
        let rest = decoder.finish();
        (found, rest.map(|rest| rest.map(|rest| decoder.take(&rest))))
    }

    fn prefixed(payloads: &[&[u8]]) -> Vec<u8> {
        let mut stream = PREFACE.to_vec();
        for payload in payloads {
            stream.extend(u32::try_from(payload.len()).unwrap_or(0).to_le_bytes());
            stream.extend(*payload);
        }
        stream
    }

    #[test]
    fn streams_are_cut_alike_however_they_arrive() {
        let lines = b"{\"a\":1}\r\n\n  \n[2]\nlast".as_slice();
        let binary = prefixed(&[b"one", b"", b"three"]);
        for step in 1..12 {
            let (found, rest) = frames(100, lines, step);
            assert_eq!(found, [b"{\"a\":1}".to_vec(), b"[2]".to_vec()]);
            assert_eq!(rest, Ok(Some(b"last".to_vec())));
            let (found, rest) = frames(100, &binary, step);
            assert_eq!(found, [b"one".to_vec(), vec![], b"three".to_vec()]);
            assert_eq!(rest, Ok(None));
        }
    }

    #[test]
    fn a_forged_length_is_refused_before_anything_is_allocated() {
        let mut stream = PREFACE.to_vec();
        stream.extend(u32::MAX.to_le_bytes());
        let mut decoder = Decoder::new(1000);
        decoder.buffer().extend_from_slice(&stream);
        for _ in 0..2 {
            assert_eq!(decoder.next_frame(), Err(FrameError::TooLarge { length: 4_294_967_295, limit: 1000 }));
        }
        assert_eq!(decoder.buffer().len(), 4, "a client may look at what came instead of a frame");
        assert!(decoder.buffer().capacity() < 100);
    }

    #[test]
    fn a_large_frame_begins_at_the_front_of_its_buffer() {
        let stream = prefixed(&[b"one", &[7; 5000]]);
        let mut decoder = Decoder::new(10_000);
        let mut taken = Vec::new();
        for piece in stream.chunks(20) {
            decoder.buffer().extend_from_slice(piece);
            while let Some(frame) = decoder.next_frame().unwrap() {
                taken.push((frame.start, frame.len()));
            }
            assert_eq!(decoder.partial().is_some(), taken.len() < 2);
        }
        assert_eq!(taken, [(12, 3), (0, 5000)]);
        assert_eq!(decoder.partial(), None);
    }

    #[test]
    fn a_frame_has_begun_once_its_prefix_is_there() {
        let mut decoder = Decoder::with_codec(100, Codec::Bincode);
        decoder.buffer().extend_from_slice(&[5, 0, 0, 0]);
        assert_eq!(decoder.next_frame(), Ok(None));
        assert_eq!(decoder.partial(), Some(Partial { have: 0, need: Some(5) }));
        assert_eq!(decoder.finish(), Err(FrameError::CutShort { missing: 5 }));
    }

    #[test]
    fn a_line_without_an_end_is_refused_at_the_limit() {
        let (_, rest) = frames(10, &[b'{'; 64], 8);
        assert_eq!(rest, Err(FrameError::TooLarge { length: 16, limit: 10 }));
    }

    #[test]
    fn what_is_cut_short_is_told() {
        let stream = prefixed(&[b"whole", b"broken"]);
        let (found, rest) = frames(100, &stream[..stream.len() - 2], 5);
        assert_eq!(found, [b"whole".to_vec()]);
        assert_eq!(rest, Err(FrameError::CutShort { missing: 2 }));
        assert_eq!(frames(100, b"HER", 3).1, Err(FrameError::CutShort { missing: 5 }));
        assert_eq!(frames(100, b"HELLO THERE", 3).1, Err(FrameError::Preface));
    }

    #[test]
    fn a_preface_of_another_version_is_told_as_soon_as_the_version_is_there() {
        for (stream, error) in [
            (&b"HERMA\0\x01\x01"[..], FrameError::Version { client: 1 }),
            (b"HERMA\0\x01", FrameError::Version { client: 1 }),
            (b"HERMA\0\x03\x07more", FrameError::Version { client: 3 }),
            (b"HERMA\0\x02\x07", FrameError::Preface),
            (b"HERMAN\x01\x01", FrameError::Preface),
        ] {
            for step in 1..12 {
                assert_eq!(frames(100, stream, step).1, Err(error.clone()), "{stream:?}");
            }
        }
        let words = |client| FrameError::Version { client }.to_string();
        assert!(words(1).contains("this client speaks protocol 1, the daemon 2: the client is the older one"));
        assert!(words(3).contains("this client speaks protocol 3, the daemon 2: the daemon is the older one"));
    }
}
