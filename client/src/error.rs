//! What a client can fail with.

use std::io;
use std::path::PathBuf;

use herma_protocol::RpcError;

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The daemon says no.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// Nobody listens.
    #[error("no daemon answers on {}: {source}", socket.display())]
    Unreachable {
        /// The socket.
        socket: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The connection broke in the middle of a call; whether the daemon did what
    /// was asked is not known, unless the call carried an idempotency key.
    #[error("the connection to the daemon broke: {0}")]
    Lost(#[source] io::Error),
    /// The daemon did not answer in the time that it was given; whether it did
    /// what was asked is not known.
    #[error("the daemon did not answer in time; it may be stopped or overloaded")]
    TimedOut,
    /// The daemon sent something that is no answer.
    #[error("the daemon's answer can't be read: {0}")]
    Answer(String),
    /// Nothing says which home is meant.
    #[error("no home: set HERMA_HOME or HERMES_HOME, or HOME")]
    NoHome,
    /// The daemon could not be started.
    #[error("the daemon could not be started: {0}")]
    Spawn(String),
}
