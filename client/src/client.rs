//! A connection to the daemon that makes one call at a time.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use herma_protocol::binary;
use herma_protocol::frame::{Codec, Decoder, FrameError};
use herma_protocol::jsonrpc;
use herma_protocol::method::Call;
use herma_protocol::version::{self, OLDEST, PREFACE, PROTOCOL};
use herma_protocol::{ErrorKind, Header, Incoming, Method, Notification, Reply, Request, RpcError, limits};
use herma_protocol::{
    constraint, context, daemon, files, for_each_method, guard, ledger, memory, output, profile, recall, session,
    shared, trajectory,
};

use crate::transport::{self, Stream};
use crate::{ClientError, Place};

/// The bytes read from the socket at one time.
const READ: usize = 64 << 10;

/// The notifications that are kept until `next_notification` returns them. If there are more, the oldest are dropped.
const MAX_QUEUED: usize = 10_000;

/// A connection to the daemon.
#[derive(Debug)]
pub struct Client {
    stream: Stream,
    codec: Codec,
    decoder: Decoder,
    header: Header,
    last_id: u64,
    notifications: VecDeque<Notification>,
    observer: Option<fn(Method, Duration)>,
}

impl Client {
    /// Connects with the binary codec.
    ///
    /// # Errors
    /// No daemon listens on the socket.
    pub fn connect(place: &Place) -> Result<Self, ClientError> {
        Self::connect_with(place, Codec::Bincode)
    }

    /// Connects with the given codec.
    ///
    /// # Errors
    /// No daemon listens on the socket.
    pub fn connect_with(place: &Place, codec: Codec) -> Result<Self, ClientError> {
        let unreachable = |source| ClientError::Unreachable { socket: place.socket.clone(), source };
        let stream = transport::connect(&place.socket).map_err(unreachable)?;
        let decoder = Decoder::with_codec(limits::FRAME_CEILING, codec);
        let (header, notifications) = (Header::default(), VecDeque::new());
        let mut client = Self { stream, codec, decoder, header, last_id: 0, notifications, observer: None };
        if codec == Codec::Bincode
            && let Err(error) = client.stream.write_all(&PREFACE)
        {
            // A daemon with too many connections has sent its refusal and closed the connection.
            return Err(match client.refused() {
                ClientError::Rpc(refusal) => refusal.into(),
                _ => unreachable(error),
            });
        }
        Ok(client)
    }

    /// Sets the profile of all later calls.
    #[must_use]
    pub fn with_profile(mut self, profile: Option<String>) -> Self {
        self.header.profile = profile;
        self
    }

    /// Sets how long each later call may take, on both sides. The daemon answers `deadline_exceeded`; if it doesn't
    /// answer at all, the client gives up a second later.
    ///
    /// # Errors
    /// The system rejects the timeout.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), ClientError> {
        self.header.deadline_ms =
            timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX).min(limits::DEADLINE_MS));
        let patience = timeout.map(|timeout| timeout.saturating_add(Duration::from_secs(1)));
        transport::set_timeout(&self.stream, patience).map_err(ClientError::Lost)
    }

    /// Calls a function after each later request with its method and the time until its answer, errors included.
    pub fn observe(&mut self, observer: fn(Method, Duration)) {
        self.observer = Some(observer);
    }

    /// Sets the idempotency key of the next mutation. After a lost connection the mutation can be repeated with the
    /// same key, and the daemon does it once.
    pub fn set_idempotency_key(&mut self, key: Option<String>) {
        self.header.idempotency_key = key;
    }

    /// Calls the method of these params.
    ///
    /// # Errors
    /// The daemon's error, or a broken connection.
    pub fn call<P: Call>(&mut self, params: P) -> Result<P::Output, ClientError> {
        let reply = self.request(params.into_request())?;
        P::output(reply).ok_or_else(|| ClientError::Answer("it belongs to another method".into()))
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// The daemon's error, or a broken connection.
    pub fn request(&mut self, request: Request) -> Result<Reply, ClientError> {
        self.last_id += 1;
        let (id, method) = (self.last_id, request.method());
        let negotiates = matches!(&request, Request::Hello(asked) if asked.protocol.is_some());
        let bytes = self.encode(id, &request)?;
        drop(request);
        let began = Instant::now();
        let sent = self.stream.write_all(&bytes);
        // A daemon that refuses a request closes its end. Its reason can be read even if the request was not written to
        // the end.
        let answer = match self.read_answer(id, method) {
            Err(ClientError::Lost(error)) => Err(ClientError::Lost(sent.err().unwrap_or(error))),
            answer => answer,
        };
        if let Some(observe) = self.observer {
            observe(method, began.elapsed());
        }
        let reply = answer?;
        if let Reply::Hello(agreed) = &reply
            && negotiates
        {
            check_version(agreed.protocol)?;
        }
        Ok(reply)
    }

    fn encode(&self, id: u64, request: &Request) -> Result<Vec<u8>, ClientError> {
        let unsendable = |words: String| ClientError::Answer(format!("the request can't be sent: {words}"));
        match self.codec {
            Codec::Bincode => {
                binary::write_request(id, &self.header, request).map_err(|error| unsendable(error.to_string()))
            }
            Codec::Json => {
                let mut line =
                    jsonrpc::write_request(id, &self.header, request).map_err(|error| unsendable(error.to_string()))?;
                line.push(b'\n');
                Ok(line)
            }
        }
    }

    /// Waits for the next notification. `subscribe` sets the topics.
    ///
    /// # Errors
    /// No notification came within the timeout of a call plus a second, or the connection broke.
    pub fn next_notification(&mut self) -> Result<Notification, ClientError> {
        loop {
            if let Some(notification) = self.notifications.pop_front() {
                return Ok(notification);
            }
            let bytes = self.read_frame()?;
            if let Incoming::Reply(None | Some(0), Err(error)) = self.decode(bytes, Method::Ping)? {
                return Err(error.into());
            }
        }
    }

    fn read_answer(&mut self, id: u64, method: Method) -> Result<Reply, ClientError> {
        loop {
            let bytes = self.read_frame()?;
            match self.decode(bytes, method)? {
                Incoming::Notification(_) => {}
                Incoming::Reply(Some(answered), outcome) if answered == id => return Ok(outcome?),
                Incoming::Reply(None | Some(0), Err(error)) => return Err(error.into()),
                // The answer to an earlier call that timed out.
                Incoming::Reply(Some(_), _) => {}
                Incoming::Reply(None, Ok(_)) => return Err(ClientError::Answer("it has no id".into())),
            }
        }
    }

    /// Decodes a frame. A notification is also queued for `next_notification`.
    fn decode(&mut self, bytes: Vec<u8>, method: Method) -> Result<Incoming, ClientError> {
        let unreadable = |words: String| ClientError::Answer(words);
        let incoming = match self.codec {
            Codec::Bincode => binary::read_incoming(bytes).map_err(|error| unreadable(error.to_string()))?,
            Codec::Json => jsonrpc::read_incoming(&bytes, method).map_err(|error| unreadable(error.to_string()))?,
        };
        if let Incoming::Notification(Some(notification)) = &incoming {
            if self.notifications.len() >= MAX_QUEUED {
                self.notifications.pop_front();
            }
            self.notifications.push_back(notification.clone());
        }
        Ok(incoming)
    }

    fn read_frame(&mut self) -> Result<Vec<u8>, ClientError> {
        loop {
            match self.decoder.next_frame() {
                Ok(Some(frame)) => return Ok(self.decoder.take(&frame)),
                Ok(None) => {}
                Err(FrameError::TooLarge { .. }) if self.codec == Codec::Bincode => return Err(self.refused()),
                Err(error) => return Err(ClientError::Answer(error.to_string())),
            }
            let missing = self.decoder.partial().and_then(|partial| partial.need).unwrap_or(READ);
            let buffer = self.decoder.buffer();
            let from = buffer.len();
            buffer.resize(from + missing.clamp(READ, 16 * READ), 0);
            let read = self.stream.read(&mut buffer[from..]);
            buffer.truncate(from + read.as_ref().map_or(0, |count| *count));
            match read {
                Ok(0) => return Err(ClientError::Lost(io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    return Err(ClientError::TimedOut);
                }
                Err(error) => return Err(ClientError::Lost(error)),
            }
        }
    }

    /// Reads the error of a daemon that refuses the connection. A daemon with too many connections answers with a JSON
    /// line, because it doesn't wait to see the client's codec. So does a daemon of another version.
    fn refused(&mut self) -> ClientError {
        let mut line = std::mem::take(self.decoder.buffer());
        let mut rest = Vec::new();
        if (&mut self.stream).take(limits::SMALL_FRAME as u64).read_to_end(&mut rest).is_ok() {
            line.extend(rest);
        }
        match jsonrpc::read_reply(&line, Method::Ping) {
            Ok((_, Err(error))) => error.into(),
            _ => ClientError::Answer("it is no frame".into()),
        }
    }
}

/// Checks the version that a daemon offers in answer to this build's version.
fn check_version(offered: u32) -> Result<(), RpcError> {
    if (OLDEST..=PROTOCOL).contains(&offered) { Ok(()) } else { Err(mismatch(offered)) }
}

fn mismatch(daemon: u32) -> RpcError {
    RpcError::new(ErrorKind::InvalidRequest, version::mismatch(PROTOCOL, daemon))
}

macro_rules! functions {
    ($($(#[doc = $doc:literal])+ $variant:ident $function:ident $name:literal $effect:ident $order:ident $params:ty => $result:ty;)*) => {
        impl Client {
            $(
                $(#[doc = $doc])+
                ///
                #[doc = concat!("Calls `", $name, "`.")]
                ///
                /// # Errors
                /// The daemon's error, or a broken connection.
                pub fn $function(&mut self, params: $params) -> Result<$result, ClientError> {
                    self.call(params)
                }
            )*
        }
    };
}

for_each_method!(functions);
