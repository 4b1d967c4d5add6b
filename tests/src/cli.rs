//! The real `herma` program.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::home::Home;
use crate::wait::PATIENCE;

/// The output and exit code of a command.
#[derive(Debug)]
pub struct CommandOutput {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl CommandOutput {
    /// Returns the output of a successful command.
    ///
    /// # Panics
    /// The command failed, or wrote to standard error.
    #[must_use]
    pub fn done(self) -> String {
        assert!(self.code == 0 && self.err.is_empty(), "{self:?}");
        self.out
    }

    /// Parses standard output as JSON.
    ///
    /// # Panics
    /// The output is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Runs commands for a home whose daemon is already running. The commands never start a daemon.
#[derive(Debug)]
pub struct Cli<'a> {
    home: &'a Home,
    environment: Vec<(&'static str, String)>,
    folder: Option<PathBuf>,
    prefix: Vec<String>,
}

impl<'a> Cli<'a> {
    /// Creates a runner for a home.
    #[must_use]
    pub const fn new(home: &'a Home) -> Self {
        Self { home, environment: Vec::new(), folder: None, prefix: Vec::new() }
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }

    /// Sets the current folder.
    #[must_use]
    pub fn within(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Runs the command by another program, which gets these arguments before it.
    #[must_use]
    pub fn under(mut self, prefix: &[&str]) -> Self {
        self.prefix = prefix.iter().map(ToString::to_string).collect();
        self
    }

    /// Runs a command to its end.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.run_with(arguments, "")
    }

    /// Runs a command under strace, where call `number` of `calls` does what `fault` says (see `inject=` in strace(1)).
    /// Each process counts its own calls. Returns `None` if the command has fewer of them.
    ///
    /// # Panics
    /// strace can't be run. `Need::Strace` detects that before.
    #[must_use]
    pub fn run_with_fault(self, arguments: &[&str], calls: &str, fault: &str, number: usize) -> Option<CommandOutput> {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("strace.log");
        let rule = format!("inject={calls}:{fault}:when={number}");
        let ran = self.under(&["strace", "-f", "-o", log.to_str().unwrap(), "-e", &rule]).run(arguments);
        let log = std::fs::read_to_string(log).unwrap();
        (log.contains("INJECTED") || log.contains("killed by SIGKILL")).then_some(ran)
    }

    /// Runs a command with text on standard input.
    ///
    /// # Panics
    /// The command can't be run, or its output is not UTF-8.
    #[must_use]
    pub fn run_with(&self, arguments: &[&str], input: &str) -> CommandOutput {
        let mut child = self.command(arguments).spawn().unwrap();
        // A command that reads nothing may have ended already.
        drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let code = output.status.code().unwrap_or(-1);
        CommandOutput { code, out: text(output.stdout), err: text(output.stderr) }
    }

    /// Starts a command that keeps running.
    ///
    /// # Panics
    /// The command can't be run.
    #[must_use]
    pub fn start(&self, arguments: &[&str]) -> Running {
        let mut child = self.command(arguments).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                // The receiver is gone when the test is over.
                drop(tell.send(line));
            }
        });
        Running { child, lines }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = match self.prefix.split_first() {
            None => Command::new(program()),
            Some((outer, arguments)) => {
                let mut command = Command::new(outer);
                command.args(arguments).arg(program());
                command
            }
        };
        for name in ["HERMA_HOME", "HERMES_HOME", "HERMA_SOCKET", "HERMA_LOG", "VISUAL", "EDITOR"] {
            command.env_remove(name);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.env("TMPDIR", self.home.path()).args(arguments).arg("--no-spawn").arg("--home").arg(self.home.path());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// A running command. Dropping this value kills it.
#[derive(Debug)]
pub struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    /// Waits for the next line of output.
    ///
    /// # Panics
    /// No line arrives in time.
    #[must_use]
    pub fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    /// Returns a line that has already arrived.
    #[must_use]
    pub fn line_now(&self) -> Option<String> {
        self.lines.try_recv().ok()
    }

    /// Sends SIGTERM.
    ///
    /// # Panics
    /// The command has ended.
    pub fn terminate(&self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
    }

    /// Waits until the command ends by itself, and returns its exit code.
    pub fn ended(&mut self) -> Option<i32> {
        let child = &mut self.child;
        crate::wait::eventually("the command to end", || child.try_wait().unwrap()).code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the path of `herma`, which is built next to the daemon.
///
/// # Panics
/// `herma` was not built.
#[must_use]
pub fn program() -> PathBuf {
    let program = crate::daemon::program().with_file_name("herma");
    assert!(program.is_file(), "there is no {}; run `cargo build --workspace --bins` first", program.display());
    program
}
