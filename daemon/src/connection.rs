//! One connection: reads frames, answers at once what needs no waiting, starts
//! the rest, and writes the answers as they come.
//!
//! One task does it all, so a ping costs one read and one write. It never holds
//! more than it may: past the bounds it stops reading, and a peer that makes no
//! progress is let go.

use std::sync::Arc;
use std::time::Duration;

use herma_protocol::binary::{self, ClientFrame, ServerFrame};
use herma_protocol::frame::{Codec, Decoder, FrameError};
use herma_protocol::jsonrpc::{self, Item, Line, ReplyTo};
use herma_protocol::{ErrorKind, Header, Reply, Request, RpcError, limits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, sleep_until};

use crate::dispatch;
use crate::fail::Outcome;
use crate::in_flight::{self, Share};
use crate::order::Order;
use crate::state::State;
use crate::streaks::Writer;
use crate::transport::{self, Stream};

/// Bytes that are read at one time at least.
const READ: usize = 8 << 10;

/// Bytes that are read at one time at most.
const LARGE_READ: usize = 1 << 20;

/// Frames longer than this are parsed on another thread.
const PARSE_INLINE: usize = 256 << 10;

/// Answers that may wait to be written, in bytes; past it nothing is read.
const OUT: usize = 1 << 20;

/// How often a peer that has sent everything is looked after, while requests of
/// it are under way.
const LOOK: Duration = Duration::from_millis(200);

/// Serves one connection until its peer is done or the daemon stops.
pub(crate) async fn serve(state: Arc<State>, stream: Stream, number: u64) {
    let (answers, answered) = mpsc::channel(limits::REQUESTS);
    let frame = state.config.limits.frame;
    let mut connection = Connection {
        state: Arc::clone(&state),
        stream,
        number,
        decoder: Decoder::new(frame),
        share: None,
        order: Order::default(),
        answers,
        answered,
        tasks: JoinSet::new(),
        out: Vec::new(),
        written: 0,
    };
    match connection.run().await {
        Ok(()) => tracing::debug!(number, "connection ended"),
        Err(End::Peer(error)) => tracing::debug!(number, "connection lost: {error}"),
        Err(End::Stalled) => tracing::info!(number, "connection closed: no progress for {} s", limits::STALL_S),
    }
    state.streaks.forget(&Writer::Connection(number));
}

/// Why a connection ends early.
enum End {
    /// Its peer went away.
    Peer(std::io::Error),
    /// Its peer neither sends the rest of a frame nor reads its answers.
    Stalled,
}

impl From<std::io::Error> for End {
    fn from(error: std::io::Error) -> Self {
        Self::Peer(error)
    }
}

/// An answer, encoded, and what the request held until now.
struct Answer {
    bytes: Vec<u8>,
    _share: Option<Arc<Share>>,
}

struct Connection {
    state: Arc<State>,
    stream: Stream,
    number: u64,
    decoder: Decoder,
    share: Option<Share>,
    order: Order,
    answers: mpsc::Sender<Answer>,
    answered: mpsc::Receiver<Answer>,
    tasks: JoinSet<()>,
    out: Vec<u8>,
    written: usize,
}

impl Connection {
    async fn run(&mut self) -> Result<(), End> {
        let mut stop = self.state.stop.subscribe();
        let mut reading = true;
        let mut progress = Instant::now();
        let mut look = interval(LOOK);
        loop {
            let writing = !self.out.is_empty();
            let may_read = reading && self.out.len() < OUT && self.tasks.len() < limits::REQUESTS;
            let patience = match self.decoder.codec() {
                None => Duration::from_secs(limits::HANDSHAKE_S),
                Some(_) => Duration::from_secs(limits::STALL_S),
            };
            let waiting = writing || may_read && self.decoder.partial().is_some();
            if !reading && !writing && self.tasks.is_empty() {
                return Ok(());
            }
            tokio::select! {
                biased;
                wrote = write(&self.stream, &self.out[self.written..]), if writing => {
                    self.wrote(wrote?)?;
                    progress = Instant::now();
                }
                Some(answer) = self.answered.recv() => self.queue(answer.bytes),
                Some(_) = self.tasks.join_next(), if !self.tasks.is_empty() => {}
                read = read(&self.stream, &mut self.decoder), if may_read => {
                    progress = Instant::now();
                    if read? == 0 {
                        reading = false;
                        self.finish().await;
                    } else if self.take_frames().await.is_err() {
                        reading = false;
                    }
                }
                () = stopping(&mut stop), if reading => reading = false,
                () = sleep_until(progress + patience), if waiting => return Err(End::Stalled),
                _ = look.tick(), if !reading => {
                    if transport::hung_up(&self.stream) {
                        return Err(End::Peer(std::io::ErrorKind::BrokenPipe.into()));
                    }
                }
            }
        }
    }

    fn wrote(&mut self, count: usize) -> Result<(), End> {
        if count == 0 {
            return Err(End::Peer(std::io::ErrorKind::WriteZero.into()));
        }
        self.written += count;
        if self.written == self.out.len() {
            self.written = 0;
            if self.out.capacity() > OUT {
                self.out = Vec::new();
            }
            self.out.clear();
        }
        Ok(())
    }

    /// Handles every frame that is there, and makes room for one that is not
    /// yet.
    async fn take_frames(&mut self) -> Result<(), FrameError> {
        loop {
            match self.decoder.next_frame() {
                Ok(Some(frame)) if frame.len() <= PARSE_INLINE => {
                    let codec = self.decoder.codec();
                    let parsed = parse(codec, self.decoder.bytes(&frame));
                    let share = self.share.take().map(|share| shrunk(share, frame.len()));
                    self.start(parsed, share);
                }
                Ok(Some(frame)) => {
                    let codec = self.decoder.codec();
                    let share = self.share.take().map(|share| shrunk(share, frame.len()));
                    let bytes = self.decoder.take(&frame);
                    let parsed = tokio::task::spawn_blocking(move || parse(codec, &bytes)).await;
                    self.start(parsed.unwrap_or_else(|_| unparsable(codec)), share);
                }
                Ok(None) => break,
                Err(error) => {
                    self.refuse(&error);
                    return Err(error);
                }
            }
        }
        if let Some(partial) = self.decoder.partial() {
            let expected = partial.need.unwrap_or_else(|| {
                if partial.have > limits::SMALL_FRAME { self.state.config.limits.frame } else { partial.have }
            });
            if self.share.is_none() {
                self.share = self.state.in_flight.take(expected).await;
            }
        }
        Ok(())
    }

    /// The peer has sent everything: a last line needs no newline.
    async fn finish(&mut self) {
        match self.decoder.finish() {
            Ok(Some(line)) => {
                let parsed = parse(Some(Codec::Json), &self.decoder.take(&line));
                self.start(parsed, None);
            }
            Ok(None) => {}
            Err(error) => tracing::debug!(number = self.number, "{error}"),
        }
    }

    /// Tells what is wrong with a stream that can't be read any further.
    fn refuse(&mut self, error: &FrameError) {
        self.state.metrics.record_unreadable();
        let kind = match error {
            FrameError::TooLarge { .. } => ErrorKind::TooLarge,
            FrameError::Preface | FrameError::CutShort { .. } => ErrorKind::ParseError,
        };
        let error = RpcError::new(kind, error.to_string());
        let bytes = match self.decoder.codec() {
            Some(Codec::Bincode) => encode_frame(0, Err(error)),
            Some(Codec::Json) | None => encode_line("null", &Err(error)),
        };
        self.queue(bytes);
    }

    fn queue(&mut self, bytes: Vec<u8>) {
        if self.out.is_empty() {
            self.out = bytes;
        } else {
            self.out.extend_from_slice(&bytes);
        }
    }

    fn start(&mut self, parsed: Parsed, share: Option<Share>) {
        let share = share.map(Arc::new);
        match parsed {
            Parsed::Frame(Ok(frame)) => {
                let ClientFrame { id, header, request } = *frame;
                self.ask(header, request, share, move |outcome| encode_frame(id, outcome));
            }
            Parsed::Frame(Err(error)) => {
                self.state.metrics.record_unreadable();
                self.queue(encode_frame(0, Err(error)));
            }
            Parsed::Line(line) => match *line {
                Line::One(item) => self.ask_item(item, share),
                Line::Batch(items) => self.ask_batch(items, share),
            },
        }
    }

    fn ask_item(&mut self, item: Item, share: Option<Arc<Share>>) {
        match (item.reply_to, item.request) {
            (ReplyTo::Id(id), Ok((header, request))) => {
                self.ask(header, request, share, move |outcome| encode_line(&id, &outcome));
            }
            (ReplyTo::Nobody, Ok((header, request))) => self.ask(header, request, share, |_| Vec::new()),
            (ReplyTo::Id(id), Err(error)) => {
                self.state.metrics.record_unreadable();
                self.queue(encode_line(&id, &Err(error)));
            }
            (ReplyTo::Nobody, Err(_)) => self.state.metrics.record_unreadable(),
        }
    }

    /// Answers at once, or starts a task that answers later.
    fn ask(
        &mut self,
        header: Header,
        request: Request,
        share: Option<Arc<Share>>,
        encode: impl FnOnce(Outcome<Reply>) -> Vec<u8> + Send + 'static,
    ) {
        let key = dispatch::order_key(&request);
        if !self.order.is_busy(key)
            && let Some(outcome) = dispatch::at_once(&self.state, &header, &request)
        {
            self.queue(encode(outcome));
            return;
        }
        let place = self.order.queue(key);
        let (state, number, answers) = (Arc::clone(&self.state), self.number, self.answers.clone());
        self.tasks.spawn(async move {
            let outcome = dispatch::in_time(state, number, header, request, place).await;
            let bytes = encode(outcome);
            // The receiver is gone when the connection is.
            drop(answers.send(Answer { bytes, _share: share }).await);
        });
    }

    /// Starts all requests of a batch and joins their answers, in their order.
    fn ask_batch(&mut self, items: Vec<Item>, share: Option<Arc<Share>>) {
        let mut waiting = Vec::new();
        for Item { reply_to, request } in items {
            let (done, answer) = oneshot::channel();
            match (reply_to, request) {
                (ReplyTo::Id(id), Err(error)) => {
                    drop(done.send(jsonrpc::write_reply(&id, &Err(error))));
                    waiting.push(answer);
                }
                (ReplyTo::Nobody, Err(_)) => {}
                (reply_to, Ok((header, request))) => {
                    let key = dispatch::order_key(&request);
                    let place = self.order.queue(key);
                    let (state, number) = (Arc::clone(&self.state), self.number);
                    self.tasks.spawn(async move {
                        let outcome = dispatch::in_time(state, number, header, request, place).await;
                        if let ReplyTo::Id(id) = reply_to {
                            drop(done.send(jsonrpc::write_reply(&id, &outcome)));
                        }
                    });
                    waiting.push(answer);
                }
            }
        }
        let answers = self.answers.clone();
        self.tasks.spawn(async move {
            let mut ready = Vec::new();
            for answer in waiting {
                // A notification drops its sender and has no answer.
                ready.extend(answer.await);
            }
            if let Some(mut bytes) = jsonrpc::join_batch(&ready) {
                bytes.push(b'\n');
                drop(answers.send(Answer { bytes, _share: share }).await);
            }
        });
    }
}

/// What a frame holds.
enum Parsed {
    Frame(Result<Box<ClientFrame>, RpcError>),
    Line(Box<Line>),
}

fn parse(codec: Option<Codec>, bytes: &[u8]) -> Parsed {
    match codec {
        Some(Codec::Bincode) => Parsed::Frame(
            binary::read(bytes).map(Box::new).map_err(|error| RpcError::new(ErrorKind::ParseError, error.to_string())),
        ),
        Some(Codec::Json) | None => Parsed::Line(Box::new(jsonrpc::read_line(bytes))),
    }
}

/// A parser that panicked is herma's fault.
fn unparsable(codec: Option<Codec>) -> Parsed {
    let error = crate::fail::internal("reading a request");
    match codec {
        Some(Codec::Bincode) => Parsed::Frame(Err(error)),
        Some(Codec::Json) | None => {
            Parsed::Line(Box::new(Line::One(Item { reply_to: ReplyTo::Id("null".into()), request: Err(error) })))
        }
    }
}

fn shrunk(mut share: Share, bytes: usize) -> Share {
    in_flight::shrink(&mut share, bytes);
    share
}

async fn stopping(stop: &mut watch::Receiver<Option<Duration>>) {
    drop(stop.wait_for(Option::is_some).await);
}

async fn write(mut stream: &Stream, bytes: &[u8]) -> std::io::Result<usize> {
    stream.write(bytes).await
}

async fn read(mut stream: &Stream, decoder: &mut Decoder) -> std::io::Result<usize> {
    let room = decoder.partial().map_or(READ, |partial| {
        let missing = partial.need.map_or(partial.have, |need| need.saturating_sub(partial.have));
        missing.clamp(READ, LARGE_READ)
    });
    let buffer = decoder.buffer();
    if buffer.is_empty() && buffer.capacity() > LARGE_READ {
        *buffer = Vec::new();
    }
    buffer.reserve(room);
    stream.read_buf(buffer).await
}

fn encode_line(id: &str, outcome: &Outcome<Reply>) -> Vec<u8> {
    let mut line = jsonrpc::write_reply(id, outcome);
    line.push(b'\n');
    line
}

fn encode_frame(id: u64, outcome: Outcome<Reply>) -> Vec<u8> {
    binary::write(&ServerFrame::Reply { id, outcome }).unwrap_or_else(|error| {
        let outcome = Err(RpcError::new(ErrorKind::TooLarge, format!("the result can't be sent: {error}")));
        binary::write(&ServerFrame::Reply { id, outcome }).unwrap_or_default()
    })
}
