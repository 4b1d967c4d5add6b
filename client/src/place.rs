//! Which home is meant and where its socket is.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use herma_protocol::rendezvous;
use rustix::fs::{Mode, OFlags};

use crate::ClientError;

/// Bytes that a daemon writes about itself at most.
const LOCK_TEXT: u64 = 4096;

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
        let home = absolute(&home)?;
        let user = rustix::process::geteuid().as_raw();
        let socket = absolute(&rendezvous::socket(socket, env, &home, user))?;
        Ok(Self { home, socket })
    }

    /// The file that the home's daemon locks, to be read.
    ///
    /// # Errors
    /// There is none, or what is there is no regular file.
    pub fn open_lock(&self) -> io::Result<File> {
        // A named pipe would be waited for.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(self.home.join("herma/hermad.lock"), flags, Mode::empty())?);
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file"))
        }
    }

    /// The same home on the socket that its daemon wrote into its lock file, if
    /// that is another one: somebody may have started it with a socket of its own.
    #[must_use]
    pub fn as_locked(&self) -> Option<Self> {
        let mut text = String::new();
        self.open_lock().ok()?.take(LOCK_TEXT).read_to_string(&mut text).ok()?;
        let (_, socket) = text.trim().split_once(" on ")?;
        let socket = PathBuf::from(socket);
        (socket != self.socket).then(|| Self { home: self.home.clone(), socket })
    }
}

/// Without `.` and a slash at the end, so that one place has one name.
fn absolute(path: &Path) -> Result<PathBuf, ClientError> {
    let path = std::path::absolute(path).map_err(|_| ClientError::NoHome)?;
    Ok(path.components().collect())
}
