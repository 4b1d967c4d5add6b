//! The socket. Only this file knows the library for it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use interprocess::TryClone;
use interprocess::local_socket::tokio::prelude::*;
use interprocess::local_socket::{GenericFilePath, ListenerOptions, ToFsName};
use interprocess::os::unix::local_socket::ListenerOptionsExt;
use listenfd::ListenFd;

/// A listening socket.
pub type Listener = interprocess::local_socket::tokio::Listener;

/// One connection. Reads and writes go through a shared reference.
pub type Stream = interprocess::local_socket::tokio::Stream;

/// Listens on `path`, for this user only. The listener neither reclaims nor removes the name: [`crate::wire::instance`]
/// does that under its lock.
///
/// # Errors
/// The name is in use or can't be created.
pub fn listen(path: &Path) -> io::Result<Listener> {
    let options = ListenerOptions::new().name(path.to_fs_name::<GenericFilePath>()?).reclaim_name(false);
    match options.try_clone()?.mode(0o600).create_tokio() {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => options.create_tokio(),
        listener => listener,
    }
}

/// Returns the socket on which the service manager already listens and which it passed to this process, with its path;
/// `None` if there is none (systemd's socket activation, `LISTEN_FDS`).
///
/// # Errors
/// The passed file descriptor is not a Unix socket, or can't be used.
pub fn inherited() -> io::Result<Option<(Listener, PathBuf)>> {
    let Some(listener) = ListenFd::from_env().take_unix_listener(0)? else { return Ok(None) };
    listener.set_nonblocking(true)?;
    // Programs started by this process must not inherit it.
    rustix::io::fcntl_setfd(&listener, rustix::io::FdFlags::CLOEXEC)?;
    let path = listener.local_addr()?.as_pathname().map(Path::to_owned);
    let path = path.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the socket has no path"))?;
    Ok(Some((Listener::UdSocket(OwnedFd::from(listener).try_into()?), path)))
}

/// Whether a program answers on `path`.
///
/// # Errors
/// Any error except a refused connection.
pub async fn answers(path: &Path) -> io::Result<bool> {
    match Stream::connect(path.to_fs_name::<GenericFilePath>()?).await {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(false),
        Err(error) => Err(error),
    }
}

/// Waits for the next connection.
///
/// # Errors
/// The error of the system. The listener stays usable.
pub async fn accept(listener: &Listener) -> io::Result<Stream> {
    listener.accept().await
}

/// Whether the peer may use this daemon: it must have the same user, or be root.
#[must_use]
pub fn may_use(stream: &Stream) -> bool {
    match stream.peer_creds().map(|peer| peer.euid()) {
        Ok(Some(user)) => user == herma_disk::process::user() || user == 0,
        Ok(None) | Err(_) => false,
    }
}

/// Whether the peer has hung up completely, and not only finished sending.
#[must_use]
pub fn hung_up(stream: &Stream) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    let Stream::UdSocket(socket) = stream;
    let mut polled = [PollFd::new(socket, PollFlags::empty())];
    poll(&mut polled, Some(&rustix::event::Timespec::default())).is_ok() && polled[0].revents().contains(PollFlags::HUP)
}
