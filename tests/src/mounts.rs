//! A mount namespace: file systems that only a home and its daemon see.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Prints `ready` once the file system is mounted, and keeps it until its input ends.
const HOLD: &str = r#"mount -t tmpfs -o "size=$2,mode=700" herma "$1" && echo ready && exec cat"#;

/// A process that keeps a mount namespace, in which a folder is a file system of its own. Dropping this value removes
/// both.
#[derive(Debug)]
pub struct Mounts {
    holder: Child,
    has_users: bool,
}

impl Mounts {
    /// Mounts a small file system on the folder. Returns `None` if that is not allowed, neither as root nor in a user
    /// namespace.
    #[must_use]
    pub fn small(folder: &Path, bytes: u64) -> Option<Self> {
        Self::try_with("-m", folder, bytes).or_else(|| Self::try_with("-Urm", folder, bytes))
    }

    fn try_with(namespaces: &str, folder: &Path, bytes: u64) -> Option<Self> {
        let mut command = Command::new("unshare");
        command.args([namespaces, "sh", "-c", HOLD, "sh"]).arg(folder).arg(bytes.to_string());
        let holder = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        let mut mounts = Self { holder, has_users: namespaces != "-m" };
        let mut line = String::new();
        BufReader::new(mounts.holder.stdout.take()?).read_line(&mut line).ok()?;
        (line == "ready\n").then_some(mounts)
    }

    /// Returns the path at which other processes see a path of the namespace.
    #[must_use]
    pub fn seen(&self, path: &Path) -> PathBuf {
        let inside = path.strip_prefix("/").unwrap_or(path);
        Path::new(&format!("/proc/{}/root", self.holder.id())).join(inside)
    }

    /// Builds a command that runs a program in the namespace, under its own process id.
    #[must_use]
    pub fn command(&self, program: &OsStr) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.holder.id().to_string(), "-m"]);
        if self.has_users {
            command.args(["-U", "--preserve-credentials"]);
        }
        command.arg(program);
        command
    }
}

impl Drop for Mounts {
    fn drop(&mut self) {
        // The process may have ended already.
        drop(self.holder.kill());
        drop(self.holder.wait());
    }
}
