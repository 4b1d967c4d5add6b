//! Passes the daemon's notifications on to the browser, as server-sent events with a line of text.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use herma_base::out;
use herma_client::protocol::daemon::SubscribeParams;
use herma_client::protocol::notification::{Notification, SessionChange, Topic};
use herma_client::{Client, ClientError};
use http::{Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::answer::{self, Body};
use crate::daemon::Daemon;
use crate::memory;

/// The events that wait for a slow browser. Later ones wait in the daemon.
const WAITING: usize = 64;

/// The streams at the same time. A browser closes that of a page that nobody sees.
const STREAMS: usize = 8;

/// The open streams.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// Counts a stream for as long as it lives.
struct Counted;

impl Counted {
    fn new() -> Option<Self> {
        (OPEN.fetch_add(1, Ordering::Relaxed) < STREAMS).then_some(Self).or_else(|| {
            OPEN.fetch_sub(1, Ordering::Relaxed);
            None
        })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns an answer that goes on until the browser or the daemon ends it.
pub(crate) fn stream(daemon: &Arc<Daemon>) -> Response<Body> {
    let Some(_counted) = Counted::new() else {
        return answer::text(StatusCode::SERVICE_UNAVAILABLE, "text/plain; charset=utf-8", "too many pages are open");
    };
    let (sender, pieces) = channel(WAITING);
    let daemon = Arc::clone(daemon);
    // The client blocks, so it has a thread of its own, which ends with the browser.
    drop(std::thread::Builder::new().name("events".into()).spawn(move || drop(pass_on(&daemon, &sender))));
    answer::of(StatusCode::OK, "text/event-stream; charset=utf-8", Events { pieces, _counted }.boxed())
}

fn pass_on(daemon: &Daemon, sender: &Sender<Bytes>) -> Result<(), ClientError> {
    // A page that nobody looks at must not start a daemon that was stopped.
    let mut client: Client = daemon.connect_only()?;
    let topics = Topic::ALL.iter().map(|topic| topic.name().to_owned()).collect();
    client.subscribe(SubscribeParams { topics })?;
    // The first event tells the page that it is connected.
    let mut sent = sender.blocking_send(Bytes::from_static(b": connected\n\n"));
    while sent.is_ok() {
        sent = match client.next_notification() {
            Ok(notification) => match words(&notification) {
                Some(words) => sender.blocking_send(event(&words)),
                None => Ok(()),
            },
            // A quiet time. The comment finds out whether the browser is still there.
            Err(ClientError::TimedOut) => {
                client = daemon.connect_only()?;
                let topics = Topic::ALL.iter().map(|topic| topic.name().to_owned()).collect();
                client.subscribe(SubscribeParams { topics })?;
                sender.blocking_send(Bytes::from_static(b": quiet\n\n"))
            }
            Err(error) => return Err(error),
        };
    }
    Ok(())
}

/// Returns an event with a text on one line.
fn event(words: &str) -> Bytes {
    let line: String = words.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    format!("data: {} {line}\n\n", out::clock()).into()
}

/// Returns what happened, for a person.
fn words(notification: &Notification) -> Option<String> {
    Some(match notification {
        Notification::MemoryChanged(one) => {
            let who = one.agent.as_deref().map(|agent| format!(" by {agent}")).unwrap_or_default();
            format!("{} has revision {}{who}", memory::name(one.target), one.revision)
        }
        Notification::FilesChanged(one) => format!("{} memory files changed", one.paths.len()),
        Notification::MemoryRefused(one) => one.target.map_or_else(
            || "a write was refused".into(),
            |target| format!("a write of {} was refused", memory::name(target)),
        ),
        Notification::SessionChanged(one) => {
            let done = match one.change {
                SessionChange::Opened => "began",
                SessionChange::Resumed => "goes on",
                SessionChange::Closed => "ended",
                SessionChange::Updated => return None,
            };
            format!("{} {done}", one.session)
        }
        Notification::MessagesAppended(one) => format!("{} has {} messages", one.session, one.position),
        Notification::CompressionDone(one) => format!("{} was compacted", one.session),
        Notification::OutputSpilled(one) => format!("a large output of {} in {} is kept", one.tool, one.session),
        Notification::OutputExpired(one) => format!("an output of {} was removed", one.session),
        Notification::SessionExpired(one) => format!("{} was removed", one.session),
        Notification::CompressionProgress(_) | Notification::WindowChanged(_) => return None,
    })
}

/// The body of an answer that goes on.
struct Events {
    pieces: Receiver<Bytes>,
    _counted: Counted,
}

impl HttpBody for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.pieces.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_breaks_out_of_its_line() {
        let sent = event("a\n\ndata: b\r\0c");
        let text = String::from_utf8(sent.to_vec()).unwrap();
        assert!(text.ends_with(" a  data: b  c\n\n") && text.matches('\n').count() == 2, "{text:?}");
    }
}
