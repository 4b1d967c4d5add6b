//! Standard input, watched: whoever has something open learns that it ended.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;

/// A reader that tells when it came to its end. rmcp waits some seconds for open
/// requests then, and a subscription is one that never ends by itself.
#[derive(Debug)]
pub(super) struct Input<R> {
    read: R,
    ended: watch::Sender<End>,
}

/// Whether the input goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// There may be more.
    NotYet,
    /// It is over.
    Reached,
}

impl<R> Input<R> {
    /// The reader, and what tells of its end.
    pub(super) fn new(read: R) -> (Self, watch::Receiver<End>) {
        let (ended, told) = watch::channel(End::NotYet);
        (Self { read, ended }, told)
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let polled = Pin::new(&mut this.read).poll_read(context, buffer);
        if let Poll::Ready(read) = &polled
            && (read.is_err() || buffer.filled().len() == before)
        {
            this.ended.send_replace(End::Reached);
        }
        polled
    }
}
