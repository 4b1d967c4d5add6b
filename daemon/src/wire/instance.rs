//! One daemon for a home: a held lock, and the socket's name under it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use herma_disk::lock::{self, Lock};
use herma_disk::socket::BoundSocket;
use herma_disk::{DiskError, folder, owner, socket};

use crate::data::config::Config;
use crate::wire::transport::{self, Listener};

/// The variable by which a home of another user is allowed, for containers in which root does
/// everything; its value is 1.
const FOREIGN: &str = "HERMA_FOREIGN_HOME";

/// How often it is looked whether the home is still this daemon's.
const LOOK: Duration = Duration::from_secs(1);

/// The lock of a home. While it lives no other daemon serves it; dropped, the
/// socket's name is gone and the home is free.
#[derive(Debug)]
#[must_use = "the home is free again when this is dropped"]
pub struct HomeLock {
    /// The socket, unless it is the service manager's.
    socket: Option<BoundSocket>,
    path: PathBuf,
    lock: Lock,
}

impl HomeLock {
    /// Waits until the home is no more this daemon's: its folder or the lock's file was
    /// removed or replaced, or the socket's name, by which clients would find it. Another
    /// daemon may serve the home then.
    pub async fn lost(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            let gone = if !self.is_signed() {
                self.path.display()
            } else if let Some(socket) = self.socket.as_ref().filter(|socket| !socket.is_in_place()) {
                socket.path().display()
            } else {
                continue;
            };
            return tracing::error!("{gone} was removed or replaced: another daemon may serve the home, this one ends");
        }
    }
}

impl HomeLock {
    /// Whether the lock's file is the one that this daemon holds. Some file systems of virtual
    /// machines give a file another number from time to time; then what it says counts.
    fn is_signed(&self) -> bool {
        self.lock.is_in_place(&self.path)
            || lock::holder(&self.path).is_ok_and(|holder| holder.starts_with(&own_signature()))
    }
}

/// What this process writes into the lock's file, before its socket.
fn own_signature() -> String {
    format!("pid {} on ", std::process::id())
}

impl Drop for HomeLock {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.socket.as_ref().map(BoundSocket::remove) {
            tracing::warn!("{error}");
        }
    }
}

/// Why a home can't be served.
#[derive(Debug, thiserror::Error)]
pub enum HomeLockError {
    /// Another daemon holds the home.
    #[error("the home {} is served already{}", home.display(), by(holder))]
    Taken {
        /// The home.
        home: PathBuf,
        /// What that daemon wrote about itself.
        holder: String,
    },
    /// Somebody else listens on the socket's name.
    #[error("another program listens on {}; name another socket with --socket", path.display())]
    SocketTaken {
        /// The socket.
        path: PathBuf,
    },
    /// The socket can't be made.
    #[error("failed to listen on {}: {source}", path.display())]
    Listen {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder or lock can't be made.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

fn by(holder: &str) -> String {
    if holder.is_empty() { String::new() } else { format!(" by {holder}") }
}

/// Refuses a home of another user, unless the environment allows it.
///
/// # Errors
/// It is one.
pub fn check_owner(home: &Path) -> Result<(), HomeLockError> {
    if std::env::var_os(FOREIGN).is_none_or(|allowed| allowed != "1") {
        owner::check_home(home)?;
    }
    Ok(())
}

/// Takes the lock of the home, then listens. A socket that a dead daemon left
/// is removed only under the lock and only when nobody answers on it. One that the
/// service manager listens on is used, and stays when the daemon ends.
///
/// # Errors
/// Another daemon, or a file system that says no.
pub async fn lock_home(config: &Config, inherited: Option<Listener>) -> Result<(HomeLock, Listener), HomeLockError> {
    check_owner(&config.home)?;
    let private = config.home.join("herma");
    folder::create_private(&private)?;
    let path = private.join("hermad.lock");
    let Some(mut lock) = Lock::try_now(&path)? else {
        let holder = lock::holder(&path).unwrap_or_default();
        return Err(HomeLockError::Taken { home: config.home.clone(), holder });
    };
    // On a full disk nobody can read who holds the lock, but it is held.
    drop(lock.sign(&path, &format!("{}{}\n", own_signature(), config.socket.display())));
    if let Some(listener) = inherited {
        return Ok((HomeLock { socket: None, path, lock }, listener));
    }
    if let Some(folder) = config.socket.parent() {
        folder::create(folder)?;
        if folder.starts_with(&config.home) || folder.starts_with("/tmp") && folder != Path::new("/tmp") {
            folder::create_private(folder)?;
        }
    }
    let listener = listen(&config.socket).await?;
    socket::make_private(&config.socket)?;
    Ok((HomeLock { socket: Some(BoundSocket::at(&config.socket)?), path, lock }, listener))
}

async fn listen(path: &Path) -> Result<Listener, HomeLockError> {
    let failed = |source| HomeLockError::Listen { path: path.to_owned(), source };
    match transport::listen(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
        listener => return listener.map_err(failed),
    }
    if transport::answers(path).await.map_err(failed)? {
        return Err(HomeLockError::SocketTaken { path: path.to_owned() });
    }
    socket::remove_stale(path)?;
    transport::listen(path).map_err(failed)
}
