//! The errors of the client.

use std::io;
use std::path::PathBuf;

use herma_protocol::RpcError;

/// The error of a call.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The daemon answered with an error.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// No daemon listens on the socket.
    #[error("no daemon answers on {}: {source}", socket.display())]
    Unreachable {
        /// The socket.
        socket: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The connection broke during a call. Whether the daemon carried out the call is unknown, unless the call had an
    /// idempotency key.
    #[error("the connection to the daemon broke: {0}")]
    Lost(#[source] io::Error),
    /// The daemon did not answer in time. Whether it carried out the call is unknown.
    #[error("the daemon did not answer in time; it may be stopped or overloaded")]
    TimedOut,
    /// The daemon's answer can't be decoded.
    #[error("the daemon's answer can't be read: {0}")]
    Answer(String),
    /// Neither a flag nor the environment names a home.
    #[error("no home: set HERMA_HOME or HERMES_HOME, or HOME")]
    NoHome,
    /// The daemon could not be started.
    #[error("the daemon could not be started: {0}")]
    Spawn(String),
}
