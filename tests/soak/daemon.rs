//! The daemon of a soak, which is restarted many times under different limits.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use herma_tests::{Home, daemon_program};
use rustix::process::{Pid, Signal, kill_process};

/// How long a start may take, including pauses of the whole machine.
const START: Duration = Duration::from_secs(30);
/// Open files of a daemon that must run short of them: enough for its own and some connections.
const FEW_FILES: u32 = 48;

/// The limits of a daemon.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Life {
    /// Whether it may open only a few files.
    pub(crate) few_files: bool,
}

/// A running daemon.
#[derive(Debug)]
pub(crate) struct Daemon {
    child: Child,
}

/// Returns the path of the library that makes a clock jump, if it is installed.
pub(crate) fn faketime() -> Option<PathBuf> {
    let places =
        ["x86_64-linux-gnu", "aarch64-linux-gnu"].map(|host| format!("/usr/lib/{host}/faketime/libfaketimeMT.so.1"));
    places.into_iter().map(PathBuf::from).find(|path| path.is_file())
}

impl Daemon {
    /// Starts a daemon. Returns its standard error if it does not serve.
    pub(crate) fn start(home: &Home, life: Life, clock: &std::path::Path) -> Result<Self, String> {
        let mut command = home.command(daemon_program().as_os_str());
        if life.few_files {
            let inner = command;
            command = Command::new("prlimit");
            command.arg(format!("--nofile={FEW_FILES}")).arg(inner.get_program()).args(inner.get_args());
        }
        if let Some(library) = faketime() {
            command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", clock);
            command.env("FAKETIME_CACHE_DURATION", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
            command.env("FAKETIME_DONT_RESET", "1").env("NO_FAKE_STAT", "1");
        }
        for name in ["HERMA_HOME", "HERMES_HOME", "HERMA_SOCKET", "HERMA_LOG"] {
            command.env_remove(name);
        }
        command.arg("--home").arg(home.path()).arg("--detached").current_dir("/");
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut ready = BufReader::new(child.stdout.take().unwrap());
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            drop(ready.read_line(&mut line));
            drop(tell.send(line));
        });
        let errors = child.stderr.take();
        if told.recv_timeout(START).unwrap_or_default().starts_with("ready ") {
            // The pipe is drained, because the daemon would block on a full one.
            std::thread::spawn(move || errors.map(|mut errors| std::io::copy(&mut errors, &mut std::io::sink())));
            return Ok(Self { child });
        }
        drop(child.kill());
        drop(child.wait());
        let mut words = String::new();
        errors.map(|errors| errors.take(2_000).read_to_string(&mut words));
        Err(words)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the exit status if the daemon ended by itself.
    pub(crate) fn ended(&mut self) -> Option<String> {
        self.child.try_wait().unwrap().map(|status| status.to_string())
    }

    pub(crate) fn kill(mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }

    /// Asks the daemon to stop. Returns false if it took longer than ten seconds and was killed.
    pub(crate) fn terminate(mut self) -> bool {
        signal(self.pid(), Signal::TERM);
        let until = Instant::now() + Duration::from_secs(10);
        while Instant::now() < until {
            if self.ended().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        self.kill();
        false
    }
}

/// Sends a signal to a process that may have ended.
pub(crate) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}
