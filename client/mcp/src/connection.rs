//! A connection that outlives its daemon. If it breaks, it is made again and the session is opened on it again.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use herma_base::Settings;
use herma_client::protocol::daemon::HelloParams;
use herma_client::protocol::method::{Call, Effect};
use herma_client::protocol::session::{CloseParams, OpenParams};
use herma_client::protocol::{ErrorKind, Reply, Request, RpcError};
use herma_client::{Client, ClientError, Codec};

use super::identity::{Identity, unique};
use super::{report, written};

/// The most times that one call is sent.
const ATTEMPTS: u32 = 10;

/// How long to wait for a new daemon if one stopped during a call.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The pause between two attempts to connect. The pause between two attempts of a call grows by it.
const PAUSE: Duration = Duration::from_millis(20);

/// The timeout for closing the session.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The connection to the daemon.
#[derive(Debug)]
pub(super) struct Connection {
    settings: Settings,
    identity: Option<Identity>,
    client: Option<Client>,
    /// The process id of the current or the last daemon.
    daemon: Option<u32>,
    /// The prefix of all idempotency keys of this process.
    name: String,
    writes: u64,
}

impl Connection {
    /// Creates a connection that is opened when it is needed.
    pub(super) fn new(settings: Settings) -> Self {
        Self { settings, identity: None, client: None, daemon: None, name: unique(), writes: 0 }
    }

    /// Sets the identity and opens the session at once, so that its snapshot is the current content of the stores. If
    /// this fails, the next call returns the error.
    pub(super) fn introduce(&mut self, identity: Identity) {
        self.identity = Some(identity);
        self.client = None;
        if let Err(error) = self.connected() {
            report(&error.to_string());
        }
    }

    /// Calls a method, on a new connection if the old one broke.
    ///
    /// # Errors
    /// The daemon's error, or no daemon.
    pub(super) fn call<P: Call>(&mut self, params: P) -> Result<P::Output, ClientError> {
        let reply = self.request(params.into_request())?;
        P::output(reply).ok_or_else(|| ClientError::Answer("it belongs to another method".into()))
    }

    /// Sends a request, and sends it again if the connection breaks. A write has an idempotency key, so a daemon that
    /// still runs does it once. If the daemon was killed, the journal shows whether the write was done.
    ///
    /// # Errors
    /// The daemon's error, or no daemon.
    pub(super) fn request(&mut self, request: Request) -> Result<Reply, ClientError> {
        let key = (request.method().effect() == Effect::Write).then(|| self.next_key());
        let since = now();
        let mut outcome = self.attempt(&request, key.as_ref());
        let asked = self.daemon;
        for attempt in 1..ATTEMPTS {
            let Err(ClientError::Lost(error)) = &outcome else { break };
            report(&format!("the connection to the daemon broke ({error}); connecting again"));
            self.client = None;
            // A daemon that is being killed accepts connections until it ends.
            std::thread::sleep(PAUSE * (attempt - 1));
            outcome = self.again(&request, key.as_ref(), asked, since);
        }
        match outcome {
            Err(error) if is_unclear(&error) => self.settled(&request, error, asked, since),
            outcome => outcome,
        }
    }

    /// Returns the result of a write after all daemons that got it were killed. It is an error only if the write was
    /// not done or no daemon can be reached.
    fn settled(
        &mut self,
        request: &Request,
        error: ClientError,
        asked: Option<u32>,
        since: f64,
    ) -> Result<Reply, ClientError> {
        if asked.is_none() || !matches!(request, Request::MemoryTool(_)) {
            return Err(error);
        }
        let until = Instant::now() + TIMEOUT;
        while Instant::now() < until {
            match self.connected().and_then(|client| written::look(client, request, since)) {
                Ok(Some(reply)) => return Ok(reply),
                Ok(None) => {
                    let words = "the daemon ended again and again while it was asked; the write was not done";
                    return Err(RpcError::new(ErrorKind::Unavailable, words).into());
                }
                Err(_) => self.client = None,
            }
            std::thread::sleep(PAUSE);
        }
        Err(error)
    }

    /// Sends a request again that the daemon with the process id `asked` may already have done.
    fn again(
        &mut self,
        request: &Request,
        key: Option<&String>,
        asked: Option<u32>,
        since: f64,
    ) -> Result<Reply, ClientError> {
        let until = Instant::now() + TIMEOUT;
        while let Err(error) = self.connected() {
            if !is_unclear(&error) || Instant::now() >= until {
                return Err(error);
            }
            std::thread::sleep(PAUSE);
        }
        if self.daemon != asked
            && let Some(reply) = written::look(self.connected()?, request, since)?
        {
            return Ok(reply);
        }
        self.attempt(request, key)
    }

    /// Closes the session if a daemon is connected.
    pub(super) fn close(&mut self) {
        let (Some(mut client), Some(identity)) = (self.client.take(), self.identity.take()) else { return };
        let params = CloseParams { session: identity.session, reason: None };
        let closed = client.set_timeout(Some(CLOSE_TIMEOUT)).and_then(|()| client.session_close(params));
        if let Err(error) = closed {
            report(&format!("the session could not be closed: {error}"));
        }
    }

    fn attempt(&mut self, request: &Request, key: Option<&String>) -> Result<Reply, ClientError> {
        let outcome = self.connected().and_then(|client| {
            client.set_idempotency_key(key.cloned());
            let outcome = client.request(request.clone());
            client.set_idempotency_key(None);
            outcome
        });
        // Later data on a connection that was given up must not be taken for an answer.
        if matches!(outcome, Err(ClientError::Lost(_) | ClientError::TimedOut | ClientError::Answer(_))) {
            self.client = None;
        }
        outcome
    }

    fn connected(&mut self) -> Result<&mut Client, ClientError> {
        let client = match self.client.take() {
            Some(client) => client,
            None => {
                let (client, daemon) = self.connect()?;
                self.daemon = Some(daemon);
                client
            }
        };
        Ok(self.client.insert(client))
    }

    /// Connects, and returns the connection and the process id of the daemon.
    fn connect(&self) -> Result<(Client, u32), ClientError> {
        let settings = &self.settings;
        let client = (settings.connect)(&settings.place, Codec::Bincode)?;
        let mut client = client.with_profile(settings.profile.clone());
        client.set_timeout(Some(settings.timeout))?;
        let daemon = client.hello(HelloParams { client: Some("herma mcp".into()), protocol: None })?.pid;
        if let Some(Identity { session, agent }) = self.identity.clone() {
            client.session_open(OpenParams { session, agent: Some(agent), ..OpenParams::default() })?;
        }
        Ok((client, daemon))
    }

    fn next_key(&mut self) -> String {
        self.writes += 1;
        format!("mcp-{}-{}", self.name, self.writes)
    }
}

/// Returns whether the error leaves open whether a request was done: a daemon was killed during the request or during
/// its start.
const fn is_unclear(error: &ClientError) -> bool {
    matches!(error, ClientError::Lost(_) | ClientError::Unreachable { .. } | ClientError::Spawn(_))
}

/// Returns the current time in Unix seconds, the unit of the journal.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
