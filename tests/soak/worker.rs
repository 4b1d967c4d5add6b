//! One of the processes, written in Rust and using binary frames.

pub(crate) mod memory;
pub(crate) mod outputs;
mod reader;
mod sessions;

use std::path::{Path, PathBuf};
use std::time::Duration;

use herma_client::{Client, ClientError, Codec, Place};
use herma_protocol::ErrorKind;
use herma_tests::random::Random;
use rustix::process::Pid;
use serde_json::json;

use crate::ledger::Ledger;

/// Pause between two attempts to connect to a missing daemon.
const AGAIN: Duration = Duration::from_millis(100);
/// Pause between two calls, to leave room for the other processes.
const PACE_MS: u64 = 30;
/// How long a call may take. A daemon is paused for at most a few seconds.
const TIMEOUT: Duration = Duration::from_secs(40);

/// Works according to its kind until the soak stops.
pub(crate) fn run(kind: &str, name: &str, seed: u64, home: &Path, out: &Path) {
    let worker = Worker {
        name: name.to_owned(),
        home: home.to_owned(),
        out: out.to_owned(),
        random: Random::seeded(seed),
        ledger: Ledger::open(out, name),
        client: None,
        parent: rustix::process::getppid(),
    };
    match kind {
        "memory" => memory::run(worker),
        "session" => sessions::run(worker),
        "output" => outputs::run(worker),
        _ => reader::run(worker),
    }
}

/// The shared state of all kinds of workers.
#[derive(Debug)]
pub(crate) struct Worker {
    name: String,
    home: PathBuf,
    out: PathBuf,
    random: Random,
    ledger: Ledger,
    client: Option<Client>,
    /// The process that started the worker. The worker stops when that process ends.
    parent: Option<Pid>,
}

impl Worker {
    fn is_stopped(&self) -> bool {
        self.out.join("stop").exists() || rustix::process::getppid() != self.parent
    }

    fn pace(&mut self) {
        std::thread::sleep(Duration::from_millis(self.random.below(PACE_MS)));
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.random.below(u64::try_from(end).unwrap())).unwrap()
    }

    /// Calls once, on the current connection or on a new one.
    fn once<T>(&mut self, call: impl FnOnce(&mut Client) -> Result<T, ClientError>) -> Result<T, ClientError> {
        if self.client.is_none() {
            let place = Place { home: self.home.clone(), socket: self.home.join("herma/hermad.sock") };
            let mut client = Client::connect_with(&place, Codec::Bincode)?;
            client.set_timeout(Some(TIMEOUT))?;
            self.client = Some(client);
        }
        let Some(client) = &mut self.client else { unreachable!("it was just made") };
        let result = call(client);
        match &result {
            Err(ClientError::Rpc(error)) => self.ledger.note("error", &json!(error.kind)),
            Err(_) => self.client = None,
            Ok(_) => {}
        }
        result
    }

    /// Calls until the answer is final and not a temporary failure. Returns `None` when the soak stops.
    fn until<T>(
        &mut self,
        mut call: impl FnMut(&mut Client) -> Result<T, ClientError>,
    ) -> Option<Result<T, ClientError>> {
        while !self.is_stopped() {
            match self.once(&mut call) {
                Err(ClientError::Rpc(error)) if !is_for_now(error.kind) => return Some(Err(ClientError::Rpc(error))),
                Err(_) => std::thread::sleep(AGAIN),
                Ok(result) => return Some(Ok(result)),
            }
        }
        None
    }

    fn loss(&mut self, words: &str) {
        self.ledger.note("loss", &json!(words));
    }
}

/// Whether the same call may succeed later.
const fn is_for_now(kind: ErrorKind) -> bool {
    !matches!(kind, ErrorKind::NotFound | ErrorKind::Conflict | ErrorKind::InvalidParams | ErrorKind::InvalidRequest)
}
