//! One connection. It reads frames, answers at once if that needs no waiting, starts tasks for the other requests, and
//! writes their answers as they come.
//!
//! One task does all of it, so a ping costs one read and one write. It never holds more than its limits allow: above
//! them it stops reading, and it closes the connection of a peer that makes no progress.

mod admission;
mod ask;
mod codec;
mod notification;
mod notify;

mod read;

use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use herma_protocol::frame::{Codec, Decoder, FrameError};
use herma_protocol::{ErrorKind, RpcError, limits};
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use admission::place_wanted;
pub(crate) use admission::{Admission, busy};
use codec::{Parsed, encode_frame, encode_line, parse, parse_taking, unparsable};
use notify::{Subscribed, next_event};

use crate::owners::blocking::on_thread;
use crate::wire::in_flight::{self, Share};
use crate::wire::order::Order;
use crate::wire::services::Services;
use crate::wire::transport::{self, Stream};

/// Lines longer than this are parsed on another thread.
const LINE_INLINE: usize = 256 << 10;

/// Binary frames longer than this are parsed on another thread. In shorter ones, most bytes are only moved.
const FRAME_INLINE: usize = 2 << 20;

/// Larger buffers are not kept if everything in them was copied, because the request needs the same amount again.
const COPIED: usize = 2 << 20;

/// The size of waiting answers at which reading stops, in bytes.
const OUT: usize = 1 << 20;

/// The largest buffer for answers that a connection keeps while it has none, in bytes.
const KEPT: usize = 64 << 10;

/// How often a peer that has sent everything is checked, while its requests are in progress.
const LOOK: Duration = Duration::from_millis(200);

/// How long a peer has to announce its codec.
const HANDSHAKE: Duration = Duration::from_secs(limits::HANDSHAKE_S);

/// Serves one connection until its peer is done or the daemon stops.
pub(crate) async fn serve(services: Arc<Services>, stream: Stream, number: u64, admission: Admission) {
    let mut connection = Connection::new(Arc::clone(&services), stream, number, admission);
    match connection.run().await {
        Ok(()) => tracing::debug!(number, "connection ended"),
        Err(End::Peer(error)) => tracing::debug!(number, "connection lost: {error}"),
        Err(End::Stalled) => tracing::info!(number, "connection closed: no progress for {} s", limits::STALL_S),
        Err(End::GaveWay) => {
            tracing::debug!(number, "connection closed: it said nothing, and another one needs its place")
        }
    }
    services.memory.forget_connection(number);
    services.session_locks.release_all_of(number);
}

/// The reason why a connection ends early.
enum End {
    /// Its peer went away.
    Peer(std::io::Error),
    /// Its peer neither sends the rest of a frame nor reads its answers.
    Stalled,
    /// It never sent anything, and the daemon has no place for other connections.
    GaveWay,
}

impl From<std::io::Error> for End {
    fn from(error: std::io::Error) -> Self {
        Self::Peer(error)
    }
}

/// The state of the incoming direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Incoming {
    /// The peer may send more.
    Open,
    /// The peer has sent everything; frames may wait in the buffer.
    Ended,
    /// No more data is accepted from the peer.
    Closed,
}

/// An encoded answer, and the share of the bytes in flight that its request held.
struct Encoded {
    bytes: Vec<u8>,
    _share: Option<Arc<Share>>,
}

type WaitForShare = Pin<Box<dyn Future<Output = Option<Share>> + Send>>;

struct Connection {
    services: Arc<Services>,
    stream: Stream,
    number: u64,
    admission: Admission,
    began: Instant,
    incoming: Incoming,
    decoder: Decoder,
    /// Whether complete frames may wait in the decoder.
    backlog: bool,
    /// The share of the bytes in flight for the frame that has begun.
    share: Option<Share>,
    /// The time by when a frame with a share must be complete.
    frame_due: Option<Instant>,
    /// Reading stops until this share is granted.
    share_wanted: Option<WaitForShare>,
    order: Order,
    subscription: Option<Subscribed>,
    /// How long a peer may make no progress.
    patience: Duration,
    answers: mpsc::Sender<Encoded>,
    answered: mpsc::Receiver<Encoded>,
    tasks: JoinSet<()>,
    out: Vec<u8>,
    written: usize,
    progress: Instant,
}

impl Connection {
    fn new(services: Arc<Services>, stream: Stream, number: u64, admission: Admission) -> Self {
        let (answers, answered) = mpsc::channel(limits::REQUESTS);
        let decoder = Decoder::new(services.config.limits.frame);
        Self {
            services,
            stream,
            number,
            admission,
            began: Instant::now(),
            incoming: Incoming::Open,
            decoder,
            backlog: false,
            share: None,
            frame_due: None,
            share_wanted: None,
            order: Order::default(),
            subscription: None,
            patience: Duration::from_secs(limits::STALL_S),
            answers,
            answered,
            tasks: JoinSet::new(),
            out: Vec::new(),
            written: 0,
            progress: Instant::now(),
        }
    }

    async fn run(&mut self) -> Result<(), End> {
        let mut stop = self.services.connections.stop.subscribe();
        let mut full = self.services.connections.full.subscribe();
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            if self.backlog && self.has_room() {
                self.take_frames().await;
            }
            if self.incoming == Incoming::Ended && !self.backlog {
                self.incoming = Incoming::Closed;
                self.finish();
            }
            let writing = !self.out.is_empty();
            let is_done = self.tasks.is_empty() && self.answered.is_empty() && self.subscription.is_none();
            if self.incoming == Incoming::Closed && !writing && is_done {
                return Ok(());
            }
            let may_read = self.incoming == Incoming::Open && self.share_wanted.is_none() && self.has_room();
            let waiting = writing || may_read && self.decoder.partial().is_some();
            let patience = if self.decoder.codec().is_none() { HANDSHAKE } else { self.patience };
            let patience = self.progress + patience;
            let patience = self.frame_due.filter(|_| self.share.is_some()).map_or(patience, |due| due.min(patience));
            let is_silent = self.decoder.codec().is_none() && self.decoder.partial().is_none();
            let is_reserved = self.admission == Admission::Reserved && self.incoming != Incoming::Closed;
            let leaves = self.began + admission::longest(is_silent);
            let due = match (is_reserved, waiting) {
                (true, false) => leaves,
                (true, true) => leaves.min(patience),
                (false, _) => patience,
            };
            tokio::select! {
                biased;
                wrote = write(&self.stream, &self.out[self.written..]), if writing => self.wrote(wrote?)?,
                Some(answer) = self.answered.recv(), if self.out.len() < OUT => self.queue(&answer.bytes),
                Some(_) = self.tasks.join_next(), if !self.tasks.is_empty() => {}
                read = read::read(&self.stream, &mut self.decoder, &self.services.connections.buffers), if may_read => {
                    self.progress = Instant::now();
                    self.backlog = true;
                    if read? == 0 {
                        self.incoming = Incoming::Ended;
                    }
                }
                share = wanted(&mut self.share_wanted), if self.share_wanted.is_some() => {
                    (self.share, self.share_wanted) = (share, None);
                    self.progress = Instant::now();
                    self.frame_due = Some(self.progress + Duration::from_secs(limits::FRAME_S));
                }
                () = stopping(&mut stop), if self.incoming == Incoming::Open || self.subscription.is_some() => {
                    self.incoming = Incoming::Closed;
                    self.end_subscription();
                }
                event = next_event(&mut self.subscription), if self.subscription.is_some() && self.out.len() < OUT => {
                    match event {
                        Some(event) => self.notify(event),
                        None => self.subscription = None,
                    }
                }
                () = sleep_until(due), if waiting || is_reserved => if is_reserved && due == leaves { self.turn_away() } else { return Err(End::Stalled) },
                () = place_wanted(&mut full, self.began + HANDSHAKE), if is_silent && may_read => return Err(End::GaveWay),
                _ = look.tick(), if !may_read && self.share_wanted.is_none() => {
                    if transport::hung_up(&self.stream) {
                        return Err(End::Peer(std::io::ErrorKind::BrokenPipe.into()));
                    }
                }
            }
        }
    }

    /// Whether there is room for more requests before some are answered.
    fn has_room(&self) -> bool {
        self.tasks.len() < limits::REQUESTS && self.out.len() < OUT
    }

    fn wrote(&mut self, count: usize) -> Result<(), End> {
        if count == 0 {
            return Err(End::Peer(std::io::ErrorKind::WriteZero.into()));
        }
        self.progress = Instant::now();
        self.written += count;
        if self.written == self.out.len() {
            self.written = 0;
            self.out.clear();
            self.out.shrink_to(KEPT);
        }
        Ok(())
    }

    /// Handles the complete frames while there is room for their requests. Requests a share of the bytes in flight for
    /// an incomplete one.
    async fn take_frames(&mut self) {
        while self.has_room() {
            match self.decoder.next_frame() {
                Ok(Some(frame)) => {
                    let share = self.share.take().map(|share| shrunk(share, frame.len()));
                    let parsed = self.read_frame(&frame).await;
                    self.start(parsed, share);
                }
                Ok(None) => {
                    self.backlog = false;
                    if self.decoder.partial().is_none() {
                        self.share = None;
                    }
                    self.want_share();
                    return;
                }
                Err(error) => {
                    (self.backlog, self.incoming) = (false, Incoming::Closed);
                    return self.refuse(&error);
                }
            }
        }
    }

    /// Parses a frame, on another thread if that takes long.
    async fn read_frame(&mut self, frame: &Range<usize>) -> Parsed {
        let codec = self.decoder.codec();
        if frame.len() <= LINE_INLINE {
            return parse(codec, self.decoder.bytes(frame));
        }
        let (mut bytes, services) = (self.decoder.take(frame), Arc::clone(&self.services));
        let read = move || {
            let parsed = parse_taking(codec, &mut bytes);
            if bytes.len() <= COPIED {
                services.connections.buffers.give(bytes);
            }
            parsed
        };
        if codec == Some(Codec::Bincode) && frame.len() <= FRAME_INLINE {
            return read();
        }
        on_thread(read).await.unwrap_or_else(|| unparsable(codec))
    }

    fn want_share(&mut self) {
        let Some(partial) = self.decoder.partial() else { return };
        let expected = match partial.need {
            Some(need) => need,
            None if partial.have > limits::SMALL_FRAME => self.services.config.limits.frame,
            None => partial.have,
        };
        if self.share.is_none() && expected > limits::SMALL_FRAME && self.incoming == Incoming::Open {
            let in_flight = self.services.connections.in_flight.clone();
            self.share_wanted = Some(Box::pin(async move { in_flight.take(expected).await }));
        }
    }

    /// Handles the end of the peer's data. The last line needs no newline.
    fn finish(&mut self) {
        match self.decoder.finish() {
            Ok(Some(line)) => {
                let parsed = parse(Some(Codec::Json), &self.decoder.take(&line));
                self.start(parsed, None);
            }
            Ok(None) => {}
            Err(error) => tracing::debug!(number = self.number, "{error}"),
        }
    }

    /// Ends a connection over the limit.
    fn turn_away(&mut self) {
        self.incoming = Incoming::Closed;
        let error = busy(self.services.config.limits.connections);
        match self.decoder.codec() {
            Some(Codec::Bincode) => self.answer(|out| encode_frame(0, &Err(error), out)),
            Some(Codec::Json) | None => self.answer(|out| encode_line("null", &Err(error), out)),
        }
    }

    /// Reports an error in a stream that can't be read any further.
    fn refuse(&mut self, error: &FrameError) {
        self.services.connections.metrics.record_unreadable();
        let kind = match error {
            FrameError::TooLarge { .. } => ErrorKind::TooLarge,
            FrameError::Preface | FrameError::CutShort { .. } => ErrorKind::ParseError,
            FrameError::Version { .. } => ErrorKind::InvalidRequest,
        };
        let error = RpcError::new(kind, error.to_string());
        match self.decoder.codec() {
            Some(Codec::Bincode) => self.answer(|out| encode_frame(0, &Err(error), out)),
            // Clients of any version can read a line.
            Some(Codec::Json) | None => self.answer(|out| encode_line("null", &Err(error), out)),
        }
    }

    fn queue(&mut self, bytes: &[u8]) {
        self.answer(|out| out.extend_from_slice(bytes));
    }

    /// Appends an answer to the output.
    fn answer(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        if self.out.is_empty() {
            self.progress = Instant::now();
        }
        encode(&mut self.out);
    }
}

fn shrunk(mut share: Share, bytes: usize) -> Share {
    in_flight::shrink(&mut share, bytes);
    share
}

async fn wanted(share: &mut Option<WaitForShare>) -> Option<Share> {
    match share {
        Some(share) => share.await,
        None => None,
    }
}

async fn stopping(stop: &mut watch::Receiver<Option<Duration>>) {
    drop(stop.wait_for(Option::is_some).await);
}

async fn write(mut stream: &Stream, bytes: &[u8]) -> std::io::Result<usize> {
    stream.write(bytes).await
}
