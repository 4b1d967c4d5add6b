//! Makes sure that a home has one daemon: holds a lock, and under it the name of the socket.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use herma_disk::lock::{self, Lock};
use herma_disk::socket::BoundSocket;
use herma_disk::{DiskError, folder, owner, socket};

use crate::data::config::Config;
use crate::wire::transport::{self, Listener};

/// The variable that allows a home of another user, for containers in which root does everything. Its value is 1.
const FOREIGN: &str = "HERMA_FOREIGN_HOME";

/// How often the daemon checks whether it still owns the home.
const LOOK: Duration = Duration::from_secs(1);

/// The lock of a home. While it exists, no other daemon serves the home. Dropping it removes the name of the socket and
/// frees the home.
#[derive(Debug)]
#[must_use = "the home is free again when this is dropped"]
pub struct HomeLock {
    /// The socket, unless it belongs to the service manager.
    socket: Option<BoundSocket>,
    path: PathBuf,
    lock: Lock,
}

impl HomeLock {
    /// Waits until this daemon no longer owns the home: its folder, the file of the lock, or the name of the socket
    /// with which clients find it was removed or replaced. Then another daemon may serve the home.
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
    /// Whether the file of the lock is the one that this daemon holds. Some file systems of virtual machines change a
    /// file's inode number from time to time, so the content of the file counts too.
    fn is_signed(&self) -> bool {
        self.lock.is_in_place(&self.path)
            || lock::holder(&self.path).is_ok_and(|holder| holder.starts_with(&own_signature()))
    }
}

/// Returns the text that this process writes into the file of the lock, before its socket.
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

/// The error for a home that can't be served.
#[derive(Debug, thiserror::Error)]
pub enum HomeLockError {
    /// Another daemon holds the home.
    #[error("the home {} is served already{}", home.display(), by(holder))]
    Taken {
        /// The home.
        home: PathBuf,
        /// The text that the other daemon wrote about itself.
        holder: String,
    },
    /// Another program listens on the name of the socket.
    #[error("another program listens on {}; name another socket with --socket", path.display())]
    SocketTaken {
        /// The socket.
        path: PathBuf,
    },
    /// The socket can't be created.
    #[error("failed to listen on {}: {source}", path.display())]
    Listen {
        /// The socket.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A folder or the lock can't be created.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

fn by(holder: &str) -> String {
    if holder.is_empty() { String::new() } else { format!(" by {holder}") }
}

/// Refuses a home of another user, unless the environment allows it.
///
/// # Errors
/// The home belongs to another user.
pub fn check_owner(home: &Path) -> Result<(), HomeLockError> {
    if std::env::var_os(FOREIGN).is_none_or(|allowed| allowed != "1") {
        owner::check_home(home)?;
    }
    Ok(())
}

/// Takes the lock of the home, then listens. A socket that a dead daemon left is only removed under the lock, and only
/// if no program answers on it. A socket of the service manager is used, and stays when the daemon ends.
///
/// # Errors
/// Another daemon serves the home, or the file system refuses the operation.
pub async fn lock_home(config: &Config, inherited: Option<Listener>) -> Result<(HomeLock, Listener), HomeLockError> {
    check_owner(&config.home)?;
    let private = config.home.join("herma");
    folder::create_private(&private)?;
    let path = private.join("hermad.lock");
    let Some(mut lock) = Lock::try_now(&path)? else {
        let holder = lock::holder(&path).unwrap_or_default();
        return Err(HomeLockError::Taken { home: config.home.clone(), holder });
    };
    // On a full disk, others can't read who holds the lock, but it is held.
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
