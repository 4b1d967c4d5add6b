//! The socket: the only file that knows which library speaks to it.

use std::io;
use std::path::Path;
use std::time::Duration;

use interprocess::local_socket::{GenericFilePath, ToFsName, prelude::*};

/// One connection.
pub(crate) type Stream = LocalSocketStream;

pub(crate) fn connect(path: &Path) -> io::Result<Stream> {
    Stream::connect(path.to_fs_name::<GenericFilePath>()?)
}

/// How long one read may wait; `None` for ever.
pub(crate) fn set_timeout(stream: &Stream, timeout: Option<Duration>) -> io::Result<()> {
    stream.set_recv_timeout(timeout)
}
