//! The socket. Only this file uses the socket library.

use std::io;
use std::path::Path;
use std::time::Duration;

use interprocess::local_socket::{GenericFilePath, ToFsName, prelude::*};

/// One connection.
pub(crate) type Stream = LocalSocketStream;

pub(crate) fn connect(path: &Path) -> io::Result<Stream> {
    let stream = Stream::connect(path.to_fs_name::<GenericFilePath>()?)?;
    let own = rustix::process::geteuid().as_raw();
    match stream.peer_creds()?.euid() {
        // Root may connect to any user's daemon, and the daemon treats root as its own user.
        Some(user) if user != own && user != 0 && own != 0 => {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "another user listens there"))
        }
        _ => Ok(stream),
    }
}

/// Sets how long one read or write may wait; `None` means forever.
pub(crate) fn set_timeout(stream: &Stream, timeout: Option<Duration>) -> io::Result<()> {
    stream.set_recv_timeout(timeout)?;
    stream.set_send_timeout(timeout)
}
