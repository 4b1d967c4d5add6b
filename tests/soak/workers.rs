//! The sixteen worker processes.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;

use crate::daemon::signal;

/// Language, kind and name of each process.
pub(crate) const CAST: [(Language, &str, &str); 16] = [
    (Language::Rust, "memory", "r1"),
    (Language::Rust, "memory", "r2"),
    (Language::Rust, "memory", "r3user"),
    (Language::Rust, "session", "r4"),
    (Language::Rust, "session", "r5"),
    (Language::Rust, "output", "r6"),
    (Language::Rust, "output", "r7"),
    (Language::Rust, "reader", "r8"),
    (Language::Python, "memory", "p1"),
    (Language::Python, "hermes", "p2"),
    (Language::Python, "session", "p3"),
    (Language::Python, "output", "p4"),
    (Language::Python, "memory", "p5"),
    (Language::JavaScript, "memory", "j1user"),
    (Language::JavaScript, "session", "j2"),
    (Language::JavaScript, "output", "j3"),
];

/// The programming language of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    Python,
    JavaScript,
}

/// The processes. A killed one is started again.
#[derive(Debug)]
pub(crate) struct Workers {
    home: PathBuf,
    out: PathBuf,
    children: Vec<Child>,
    starts: u64,
    /// Processes that ended by themselves, and their exit status.
    pub(crate) ended: Vec<String>,
}

impl Workers {
    pub(crate) fn start(home: &Path, out: &Path) -> Self {
        let (home, out) = (home.to_owned(), out.to_owned());
        let mut workers = Self { home, out, children: Vec::new(), starts: 0, ended: Vec::new() };
        for at in 0..CAST.len() {
            let child = workers.spawn(at);
            workers.children.push(child);
        }
        workers
    }

    fn spawn(&mut self, at: usize) -> Child {
        let (language, kind, name) = CAST[at];
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        self.starts += 1;
        let mut command = match language {
            Language::Rust => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.arg("worker");
                command
            }
            Language::Python => {
                let mut command = Command::new("python3");
                command.env("PYTHONPATH", folder.join("../client/python/src")).env("PYTHONDONTWRITEBYTECODE", "1");
                command.arg(folder.join("soak/worker.py"));
                command
            }
            Language::JavaScript => {
                let mut command = Command::new("node");
                command.arg(folder.join("soak/worker.mjs"));
                command
            }
        };
        let errors =
            std::fs::File::options().create(true).append(true).open(self.out.join(format!("{name}.err"))).unwrap();
        command.args([kind, name, &self.starts.to_string()]).arg(&self.home).arg(&self.out);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors).spawn().unwrap()
    }

    pub(crate) fn count(&self) -> usize {
        self.children.len()
    }

    pub(crate) fn kill(&mut self, at: usize) {
        drop(self.children[at].kill());
        drop(self.children[at].wait());
        self.children[at] = self.spawn(at);
    }

    pub(crate) fn signal(&self, at: usize, wanted: Signal) {
        signal(self.children[at].id(), wanted);
    }

    /// Restarts processes that ended by themselves, which none should.
    pub(crate) fn look(&mut self) {
        for (at, (_, _, name)) in CAST.into_iter().enumerate() {
            if let Some(status) = self.children[at].try_wait().unwrap() {
                self.ended.push(format!("{name} ended by itself: {status}"));
                self.children[at] = self.spawn(at);
            }
        }
    }

    /// Waits for all processes to end after the stop.
    pub(crate) fn finish(&mut self) {
        for (child, (_, _, name)) in self.children.iter_mut().zip(CAST) {
            signal(child.id(), Signal::CONT);
            let status = child.wait().unwrap();
            if !status.success() {
                self.ended.push(format!("{name} ended: {status}"));
            }
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for child in &mut self.children {
            drop(child.kill());
            drop(child.wait());
        }
    }
}
