//! The real `herma` program.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use crate::home::Home;
use crate::wait::PATIENCE;

/// What a command printed and how it ended.
#[derive(Debug)]
pub struct Ran {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Ran {
    /// What it printed, when it did what it should.
    ///
    /// # Panics
    /// It failed, or had something to say on standard error.
    #[must_use]
    pub fn done(self) -> String {
        assert!(self.code == 0 && self.err.is_empty(), "{self:?}");
        self.out
    }

    /// Standard output as JSON.
    ///
    /// # Panics
    /// It is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Runs commands for a home whose daemon is running; none is started by them.
#[derive(Debug)]
pub struct Cli<'a> {
    home: &'a Home,
    environment: Vec<(&'static str, String)>,
}

impl<'a> Cli<'a> {
    /// Commands for a home.
    #[must_use]
    pub const fn new(home: &'a Home) -> Self {
        Self { home, environment: Vec::new() }
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }

    /// Runs a command to its end.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    /// Runs a command with something to read.
    ///
    /// # Panics
    /// It can't be run, or prints what is no UTF-8.
    #[must_use]
    pub fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        let mut child = self.command(arguments).spawn().unwrap();
        // A command that reads nothing may be gone already.
        drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let code = output.status.code().unwrap_or(-1);
        Ran { code, out: text(output.stdout), err: text(output.stderr) }
    }

    /// Starts a command that goes on.
    ///
    /// # Panics
    /// It can't be run.
    #[must_use]
    pub fn start(&self, arguments: &[&str]) -> Running {
        let mut child = self.command(arguments).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                // Nobody reads any more when the test is over.
                drop(tell.send(line));
            }
        });
        Running { child, lines }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        for name in ["HERMA_HOME", "HERMES_HOME", "HERMA_SOCKET", "HERMA_LOG", "VISUAL", "EDITOR"] {
            command.env_remove(name);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.env("TMPDIR", self.home.path()).args(arguments).arg("--no-spawn").arg("--home").arg(self.home.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// A command that goes on. It is killed with this value.
#[derive(Debug)]
pub struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    /// The next line that it prints.
    ///
    /// # Panics
    /// None comes in time.
    #[must_use]
    pub fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    /// A line that has come already.
    #[must_use]
    pub fn line_now(&self) -> Option<String> {
        self.lines.try_recv().ok()
    }

    /// Its exit code, once it ended by itself.
    pub fn ended(&mut self) -> Option<i32> {
        let child = &mut self.child;
        crate::wait::eventually("the command to end", || child.try_wait().unwrap()).code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The program, which is built beside the daemon.
///
/// # Panics
/// It was not built.
#[must_use]
pub fn program() -> PathBuf {
    let program = crate::daemon::program().with_file_name("herma");
    assert!(program.is_file(), "there is no {}; run `cargo build --workspace --bins` first", program.display());
    program
}
