//! Which home is meant and where its socket is.

use std::path::PathBuf;

use herma_protocol::rendezvous;

use crate::ClientError;

/// A home and its socket, found by the same rules as the daemon's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The home, absolute.
    pub home: PathBuf,
    /// Its socket.
    pub socket: PathBuf,
}

impl Place {
    /// The place that the environment names.
    ///
    /// # Errors
    /// An environment that names no home.
    pub fn from_env() -> Result<Self, ClientError> {
        Self::find(None, None)
    }

    /// The place that flags name, or else the environment.
    ///
    /// # Errors
    /// Neither names a home.
    pub fn find(home: Option<PathBuf>, socket: Option<PathBuf>) -> Result<Self, ClientError> {
        let env = |name: &str| std::env::var_os(name);
        let home = rendezvous::home(home, env).ok_or(ClientError::NoHome)?;
        let home = std::path::absolute(home).map_err(|_| ClientError::NoHome)?;
        let user = rustix::process::geteuid().as_raw();
        let socket = rendezvous::socket(socket, env, &home, user);
        Ok(Self { home, socket })
    }
}
