//! A connection without TLS whose first messages are checked: a server that requests the password in clear gets an
//! error instead.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::error::CleartextPasswordError;

/// Bytes of a message's kind, its length, and the requested kind of authentication.
const HEAD: usize = 9;

/// The kind of a message about authentication, and some kinds of authentication. See "Message Formats" in PostgreSQL's
/// documentation.
const AUTHENTICATION: u8 = b'R';
const DONE: u32 = 0;
const CLEARTEXT: u32 = 3;
const MD5: u32 = 5;

/// A parser of the server's first messages.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch {
    /// The beginning of a message.
    head: Vec<u8>,
    /// Bytes left of a message that is being skipped.
    rest: u64,
}

impl Watch {
    /// Parses the next bytes. Returns true once the server has accepted the client; nothing needs a check after that.
    ///
    /// # Errors
    /// The server requests the password in clear or as an MD5 digest.
    pub(super) fn see(&mut self, mut bytes: &[u8]) -> Result<bool, CleartextPasswordError> {
        while let Some((byte, behind)) = bytes.split_first() {
            if self.rest > 0 {
                let passed = usize::try_from(self.rest).unwrap_or(usize::MAX).min(bytes.len());
                self.rest -= passed as u64;
                bytes = bytes.get(passed..).unwrap_or_default();
                continue;
            }
            self.head.push(*byte);
            bytes = behind;
            match self.head[..] {
                [AUTHENTICATION, _, _, _, _, a, b, c, d] => match u32::from_be_bytes([a, b, c, d]) {
                    DONE => return Ok(true),
                    CLEARTEXT | MD5 => return Err(CleartextPasswordError),
                    _ => self.skip(HEAD - 5),
                },
                [kind, _, _, _, _] if kind != AUTHENTICATION => self.skip(0),
                _ => {}
            }
        }
        Ok(false)
    }

    /// Skips the rest of the current message, of which `seen` bytes after the length were parsed.
    fn skip(&mut self, seen: usize) {
        let length = self.head.get(1..5).and_then(|length| length.try_into().ok()).map_or(0, u32::from_be_bytes);
        self.rest = u64::from(length).saturating_sub(4 + seen as u64);
        self.head.clear();
    }
}

/// A stream whose first messages are checked.
#[derive(Debug)]
pub(super) struct Watched<S> {
    line: S,
    /// `None` once the check is over.
    watch: Option<Watch>,
}

impl<S> Watched<S> {
    /// Wraps a stream. With `allows_clear` nothing is checked.
    pub(super) fn new(line: S, allows_clear: bool) -> Self {
        Self { line, watch: (!allows_clear).then(Watch::default) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(Pin::new(&mut self.line).poll_read(context, into))?;
        let came = into.filled().get(before..).unwrap_or_default();
        if let Some(watch) = &mut self.watch
            && watch.see(came).map_err(io::Error::other)?
        {
            self.watch = None;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.line).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.line).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.line).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a message of a server.
    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap_or(0).to_be_bytes();
        [&[kind][..], &length, body].concat()
    }

    fn asks(what: u32, more: &[u8]) -> Vec<u8> {
        message(AUTHENTICATION, &[&what.to_be_bytes()[..], more].concat())
    }

    #[test]
    fn a_password_in_clear_is_seen_wherever_the_bytes_are_cut() {
        let notice = message(b'N', b"SNOTICE\0\0");
        let scram = [asks(10, b"SCRAM-SHA-256\0\0"), asks(11, b"r=x"), asks(12, b"v=x")].concat();
        // Messages after the server has accepted the client are not checked.
        let behind = asks(CLEARTEXT, b"");
        for (bytes, seen) in [
            (asks(CLEARTEXT, b""), Err(CleartextPasswordError)),
            (asks(MD5, b"salt"), Err(CleartextPasswordError)),
            ([notice.clone(), asks(CLEARTEXT, b"")].concat(), Err(CleartextPasswordError)),
            ([scram.clone(), asks(CLEARTEXT, b"")].concat(), Err(CleartextPasswordError)),
            ([notice, scram, asks(DONE, b""), behind].concat(), Ok(true)),
            (asks(DONE, b""), Ok(true)),
            (message(b'E', b"SFATAL\0R\0\0\0\x08\0\0\0\x03\0\0"), Ok(false)),
            (message(b'v', b"\0\0\0\0"), Ok(false)),
            (vec![AUTHENTICATION, 0, 0, 0, 0, 0, 0, 0, 3], Err(CleartextPasswordError)),
            (vec![b'Z', 0, 0, 0, 0, b'R', 0, 0, 0, 8, 0, 0, 0, 3], Err(CleartextPasswordError)),
            (Vec::new(), Ok(false)),
        ] {
            for size in 1..=bytes.len().max(1) {
                let mut watch = Watch::default();
                let mut all = bytes.chunks(size).map(|bytes| watch.see(bytes));
                let found = all.find(|seen| *seen != Ok(false)).unwrap_or(Ok(false));
                assert_eq!(found, seen, "{bytes:?} by {size}");
            }
        }
    }
}
