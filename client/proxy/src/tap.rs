//! A body that is copied while it passes.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

use crate::forward::Body;

/// The most bytes of an answer that are copied. Of a longer one nothing is kept.
const LARGEST: usize = 32 << 20;

/// What is done with the copy.
type Then = Box<dyn FnOnce(Option<Vec<u8>>) + Send + Sync>;

/// A body that passes, and is given to a function once it is over, or broke off: the bytes that passed, or `None` if
/// there were too many.
pub(crate) struct Tap {
    body: Body,
    copy: Option<Vec<u8>>,
    then: Option<Then>,
}

impl Tap {
    pub(crate) fn new(body: Body, then: impl FnOnce(Option<Vec<u8>>) + Send + Sync + 'static) -> Self {
        Self { body, copy: Some(Vec::new()), then: Some(Box::new(then)) }
    }

    fn copy(&mut self, data: &Bytes) {
        match &mut self.copy {
            Some(copy) if copy.len() + data.len() <= LARGEST => copy.extend_from_slice(data),
            copy => *copy = None,
        }
    }

    fn end(&mut self) {
        if let Some(then) = self.then.take() {
            then(self.copy.take());
        }
    }
}

impl hyper::body::Body for Tap {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let tap = self.get_mut();
        let polled = Pin::new(&mut tap.body).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref() {
                    tap.copy(data);
                }
                // The server asks no more for a body of a known length.
                if tap.body.is_end_stream() {
                    tap.end();
                }
            }
            Poll::Ready(Some(Err(_)) | None) => tap.end(),
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        // Some clients close the connection right after the last event.
        self.end();
    }
}
