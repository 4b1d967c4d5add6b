//! Finds the home and its socket.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use herma_protocol::rendezvous;
use rustix::fs::{Mode, OFlags};

use crate::ClientError;

/// The most bytes that a daemon writes into its lock file.
const LOCK_TEXT: u64 = 4096;

/// A home and its socket, found by the same rules as in the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The home, absolute.
    pub home: PathBuf,
    /// The socket of the home's daemon.
    pub socket: PathBuf,
}

impl Place {
    /// Returns the place that the environment names.
    ///
    /// # Errors
    /// The environment names no home.
    pub fn from_env() -> Result<Self, ClientError> {
        Self::find(None, None)
    }

    /// Returns the place that the flags name, or else the environment.
    ///
    /// # Errors
    /// Neither names a home.
    pub fn find(home: Option<PathBuf>, socket: Option<PathBuf>) -> Result<Self, ClientError> {
        let env = |name: &str| std::env::var_os(name);
        let home = rendezvous::home(home, env, Path::is_dir).ok_or(ClientError::NoHome)?;
        let home = absolute(&home)?;
        let user = rustix::process::geteuid().as_raw();
        let socket = absolute(&rendezvous::socket(socket, env, &home, user))?;
        Ok(Self { home, socket })
    }

    /// Opens the lock file of the home's daemon for reading.
    ///
    /// # Errors
    /// The file is missing, or is not a regular file.
    pub fn open_lock(&self) -> io::Result<File> {
        // Without NONBLOCK, opening a named pipe would wait.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(self.home.join("herma/hermad.lock"), flags, Mode::empty())?);
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file"))
        }
    }

    /// Returns the same home with the socket in the daemon's lock file, if that differs. The daemon may have been
    /// started with another socket.
    #[must_use]
    pub fn as_locked(&self) -> Option<Self> {
        let mut text = String::new();
        self.open_lock().ok()?.take(LOCK_TEXT).read_to_string(&mut text).ok()?;
        let (_, socket) = text.trim().split_once(" on ")?;
        let socket = PathBuf::from(socket);
        (socket != self.socket).then(|| Self { home: self.home.clone(), socket })
    }
}

/// Returns an absolute path without `.` and without a final slash, so that one place has one name.
fn absolute(path: &Path) -> Result<PathBuf, ClientError> {
    let path = std::path::absolute(path).map_err(|_| ClientError::NoHome)?;
    Ok(path.components().collect())
}
