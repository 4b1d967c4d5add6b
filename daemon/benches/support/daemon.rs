//! The daemon that a bench uses.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::program::hermad;

/// A daemon. Dropping it ends it.
pub(crate) struct Daemon {
    pub(crate) child: Child,
    pub(crate) socket: PathBuf,
}

impl Daemon {
    pub(crate) fn start(home: &Path) -> Self {
        // The path is short, because the path of a socket is limited.
        let socket = std::env::temp_dir().join(format!("hb-{}.sock", std::process::id()));
        let mut command = Command::new(hermad());
        command.arg("--home").arg(home).arg("--socket").arg(&socket).arg("--detached");
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("ready"), "{line}");
        Self { child, socket }
    }

    /// Returns the system's file with this name about the process.
    pub(crate) fn account(&self, name: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{name}", self.child.id())).unwrap_or_default()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
