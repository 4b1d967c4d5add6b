//! A real `hermad` process.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;

use herma_client::{Client, Codec};
use herma_protocol::daemon::StatusParams;
use rustix::process::{Pid, Signal, kill_process};

use crate::home::Home;
use crate::raw::Raw;
use crate::wait::{PATIENCE, eventually};

/// A daemon that serves a home. Dropping this value kills it.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    socket: PathBuf,
}

/// The end of a daemon that refused to serve.
#[derive(Debug)]
pub struct Exit {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard error.
    pub words: String,
}

impl Daemon {
    /// Starts a daemon and returns when it listens.
    ///
    /// # Panics
    /// The daemon doesn't serve.
    #[must_use]
    pub fn start(home: &Home) -> Self {
        Self::ready(home, command(home).spawn().unwrap())
    }

    /// Starts a daemon as another user, who owns the home. The test must run as root.
    ///
    /// # Panics
    /// The daemon doesn't serve.
    #[must_use]
    pub fn start_as(home: &Home, user: u32) -> Self {
        // The user may have no access to the folder of the program.
        let program = home.path().join("hermad");
        fs::copy(self::program(), &program).unwrap();
        let mut command = prepared(Command::new(program), home);
        Self::ready(home, command.uid(user).gid(user).spawn().unwrap())
    }

    /// Starts a daemon with this limit of open files.
    ///
    /// # Panics
    /// The daemon doesn't serve.
    #[must_use]
    pub fn start_with_files(home: &Home, files: u32) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n \"$1\" && shift && exec \"$@\"", "sh", &files.to_string()]).arg(program());
        Self::ready(home, prepared(command, home).spawn().unwrap())
    }

    /// Starts a daemon whose standard error is closed.
    ///
    /// # Panics
    /// The daemon doesn't serve.
    #[must_use]
    pub fn start_with_closed_stderr(home: &Home) -> Self {
        let mut child = command(home).spawn().unwrap();
        drop(child.stderr.take());
        Self::ready(home, child)
    }

    fn ready(home: &Home, mut child: Child) -> Self {
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            drop(out.read_line(&mut line));
            // The receiver is gone if the test gave up.
            drop(tell.send(line));
        });
        let line = told.recv_timeout(PATIENCE).unwrap_or_default();
        if !line.starts_with("ready ") {
            child.kill().unwrap();
            panic!("the daemon would not serve: {:?}", exit(child));
        }
        Self { child, socket: home.socket() }
    }

    /// Starts a daemon that is expected to refuse, and returns how it ended.
    ///
    /// # Panics
    /// The daemon does not end.
    #[must_use]
    pub fn refused(home: &Home) -> Exit {
        let mut child = command(home).spawn().unwrap();
        eventually("the daemon to end", || child.try_wait().unwrap());
        exit(child)
    }

    /// Returns its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Connects a client with the binary codec.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client_with(Codec::Bincode)
    }

    /// Connects a client with a codec. All its calls have a timeout.
    ///
    /// # Panics
    /// The daemon doesn't listen.
    #[must_use]
    pub fn client_with(&self, codec: Codec) -> Client {
        let place = herma_client::Place { home: PathBuf::new(), socket: self.socket.clone() };
        let mut client = Client::connect_with(&place, codec).unwrap();
        client.set_timeout(Some(PATIENCE)).unwrap();
        client
    }

    /// Opens a connection for arbitrary bytes.
    #[must_use]
    pub fn raw(&self) -> Raw {
        Raw::connect(&self.socket)
    }

    /// Kills the daemon, like a crash.
    ///
    /// # Panics
    /// The daemon ended before.
    pub fn kill(mut self) {
        assert_eq!(self.child.try_wait().unwrap(), None, "the daemon ended by itself");
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends SIGTERM, as a service manager does.
    pub fn terminate(&self) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
    }

    /// Waits until the daemon ends by itself.
    ///
    /// # Panics
    /// The daemon doesn't end.
    pub fn ended(&mut self) -> ExitStatus {
        eventually("the daemon to end", || self.child.try_wait().unwrap())
    }

    /// Returns the resident memory in bytes: the current value, and the maximum since the start.
    ///
    /// # Panics
    /// The process is gone.
    #[must_use]
    pub fn memory(&self) -> (u64, u64) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
        };
        (field("VmRSS:"), field("VmHWM:"))
    }

    /// Returns [`Self::memory`] after every thread has worked.
    #[must_use]
    pub fn memory_when_warm(&self) -> (u64, u64) {
        let mut clients: Vec<Client> =
            (0..32).map(|at| self.client_with(if at % 2 == 0 { Codec::Json } else { Codec::Bincode })).collect();
        std::thread::scope(|scope| {
            for client in &mut clients {
                scope.spawn(|| {
                    for _ in 0..20 {
                        client.status(StatusParams {}).unwrap();
                    }
                });
            }
        });
        self.memory()
    }

    /// Whether the daemon accepts another connection. The connection is then closed.
    #[must_use]
    pub fn has_room(&self) -> bool {
        let mut raw = self.raw();
        // A daemon at its limit answers and closes before it reads anything.
        drop(raw.send_while_taken(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", PATIENCE));
        raw.read()["error"].is_null()
    }

    /// Checks that the daemon answers on a new connection.
    ///
    /// # Panics
    /// The daemon doesn't answer.
    pub fn assert_serves(&self) {
        let reply = self.raw().call("ping", &serde_json::json!({}));
        assert_eq!(reply["result"], serde_json::json!({}), "{reply}");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // The process may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the path of `hermad`, which is built next to the test's own program.
///
/// # Panics
/// `hermad` was not built.
#[must_use]
pub fn program() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let found = own.ancestors().skip(1).take(3).map(|folder| folder.join("hermad")).find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!("there is no hermad beside {}; run `cargo build --workspace --bins` first", own.display())
    })
}

fn command(home: &Home) -> Command {
    prepared(home.command(program().as_os_str()), home)
}

fn prepared(mut command: Command, home: &Home) -> Command {
    for name in ["HERMA_HOME", "HERMES_HOME", "HERMA_SOCKET", "HERMA_LOG"] {
        command.env_remove(name);
    }
    command.arg("--home").arg(home.path()).arg("--detached").current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn exit(mut child: Child) -> Exit {
    let status = child.wait().unwrap();
    let mut words = String::new();
    if let Some(mut errors) = child.stderr.take() {
        errors.read_to_string(&mut words).unwrap();
    }
    Exit { code: status.code(), words }
}
