//! A real PostgreSQL for one test, and a connection to it that can be cut.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::needs::Need;
use crate::wait::eventually;

/// The owner of the tables.
pub const OWNER: &str = "owner";

/// A server on a free port of the loopback interface. Dropping this value stops it.
#[derive(Debug)]
pub struct Postgres {
    folder: TempDir,
    /// Its port.
    pub port: u16,
}

impl Postgres {
    /// Starts a server with a database `herma` and a role `agents` without any rights. Returns `None` if the machine
    /// has no PostgreSQL, and adds the test to the list of skipped tests.
    ///
    /// # Panics
    /// The server doesn't start.
    #[must_use]
    #[track_caller]
    pub fn start() -> Option<Self> {
        if !Need::Postgres.is_met() {
            return None;
        }
        let folder = tempfile::Builder::new().prefix("p").tempdir_in("/tmp").unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Self { folder, port };
        if rustix::process::geteuid().is_root() {
            let owned = Command::new("chown").arg("postgres").arg(server.folder.path()).status().unwrap();
            assert!(owned.success());
        }
        let data = server.data();
        server.run("initdb", &["-D", &data, "-U", OWNER, "-A", "trust", "--no-sync", "--no-instructions"]);
        server.go_on();
        server.sql("postgres", "CREATE DATABASE herma");
        server.sql("postgres", "CREATE ROLE agents LOGIN");
        Some(server)
    }

    /// Starts the server again after a crash.
    pub fn go_on(&self) {
        let options = format!("-p {} -k {} -c listen_addresses=127.0.0.1", self.port, self.folder.path().display());
        let log = format!("{}/log", self.folder.path().display());
        self.run("pg_ctl", &["-D", &self.data(), "-o", &options, "-l", &log, "-w", "start"]);
    }

    /// Enables TLS with a self-signed certificate for `localhost`, and returns the certificate's path.
    ///
    /// # Panics
    /// There is no openssl.
    #[must_use]
    pub fn speak_tls(&self) -> PathBuf {
        let (key, certificate) = (format!("{}/server.key", self.data()), format!("{}/server.crt", self.data()));
        let arguments = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"];
        let names = [
            "-addext",
            "subjectAltName=DNS:localhost",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
            "-keyout",
            &key,
            "-out",
            &certificate,
        ];
        let made = Command::new("openssl").args(arguments).args(names).stderr(Stdio::null()).status().unwrap();
        assert!(made.success());
        if rustix::process::geteuid().is_root() {
            let owned = Command::new("chown").args(["postgres", &key, &certificate]).status().unwrap();
            assert!(owned.success());
        }
        self.sql("postgres", "ALTER SYSTEM SET ssl = on");
        self.crash();
        self.go_on();
        let ca = self.folder.path().join("ca.pem");
        std::fs::copy(certificate, &ca).unwrap();
        ca
    }

    /// Makes the role `agents` log in with a method of `pg_hba.conf` and a password. The server stores the password as
    /// that method needs it.
    ///
    /// # Panics
    /// The method or the password can't be set.
    pub fn ask_for_password(&self, method: &str, password: &str) {
        let stored = if method == "md5" { "md5" } else { "scram-sha-256" };
        let role = format!("SET password_encryption = '{stored}'; ALTER ROLE agents PASSWORD '{password}'");
        self.sql("postgres", &role);
        let lines = format!(
            "host all agents 127.0.0.1/32 {method}\nlocal all agents {method}\nhost all all all trust\nlocal all all trust\n"
        );
        std::fs::write(format!("{}/pg_hba.conf", self.data()), lines).unwrap();
        self.sql("postgres", "SELECT pg_reload_conf()");
    }

    /// Returns the folder of its socket.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Stops the server immediately, like a crash.
    pub fn crash(&self) {
        self.run("pg_ctl", &["-D", &self.data(), "-m", "immediate", "-w", "stop"]);
    }

    /// Stops all its processes with SIGSTOP, or resumes them.
    pub fn freeze(&self, is_frozen: bool) {
        let first: i32 = std::fs::read_to_string(format!("{}/postmaster.pid", self.data()))
            .unwrap()
            .lines()
            .next()
            .unwrap()
            .parse()
            .unwrap();
        let children = Command::new("ps").args(["-o", "pid=", "--ppid", &first.to_string()]).output().unwrap();
        let children = String::from_utf8(children.stdout).unwrap();
        let signal = if is_frozen { Signal::STOP } else { Signal::CONT };
        for pid in std::iter::once(first).chain(children.split_whitespace().map(|pid| pid.parse().unwrap())) {
            // A process that has ended needs no signal.
            let _ = kill_process(Pid::from_raw(pid).unwrap(), signal);
        }
    }

    /// Runs a statement and returns its result, one line for each row.
    ///
    /// # Panics
    /// The statement fails.
    pub fn sql(&self, database: &str, statement: &str) -> String {
        self.sql_as(OWNER, database, statement).unwrap()
    }

    /// Runs a statement as another role.
    ///
    /// # Errors
    /// The server's error message.
    pub fn sql_as(&self, role: &str, database: &str, statement: &str) -> Result<String, String> {
        let port = self.port.to_string();
        let arguments = ["-h", "127.0.0.1", "-p", &port, "-U", role, "-v", "ON_ERROR_STOP=1", "-AtX", "-c", statement];
        let output = Command::new(program("psql")).args(arguments).arg(database).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    /// Restores a dump.
    ///
    /// # Panics
    /// The dump can't be restored.
    pub fn restore(&self, database: &str, dump: &[u8]) {
        let mut psql = self.tool("psql");
        psql.args(["-v", "ON_ERROR_STOP=1", "-qX", database]).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut running = psql.spawn().unwrap();
        running.stdin.take().unwrap().write_all(dump).unwrap();
        assert!(running.wait().unwrap().success());
    }

    /// Builds a command for a PostgreSQL program, with the arguments to reach this server.
    #[must_use]
    pub fn tool(&self, name: &str) -> Command {
        let mut command = Command::new(program(name));
        command.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", OWNER]);
        command
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    fn run(&self, name: &str, arguments: &[&str]) -> Output {
        let mut command = if rustix::process::geteuid().is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]).arg(program(name));
            command
        } else {
            Command::new(program(name))
        };
        // The started server keeps its output open, so the output goes to a file.
        let log = std::fs::File::create(self.folder.path().join(format!("{name}.log"))).unwrap();
        let status = command
            .args(arguments)
            .current_dir("/tmp")
            .env("PGCTLTIMEOUT", "300")
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .status()
            .unwrap();
        let said = std::fs::read_to_string(self.folder.path().join(format!("{name}.log"))).unwrap();
        assert!(status.success(), "{name} {arguments:?}: {said}");
        Output { status, stdout: said.into_bytes(), stderr: Vec::new() }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if Path::new(&self.data()).join("postmaster.pid").exists() {
            self.freeze(false);
            self.crash();
        }
    }
}

/// Returns the path of a PostgreSQL program. Debian has those of the server in a separate folder.
fn program(name: &str) -> PathBuf {
    let found = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = found.map(|version| version.path().join("bin").join(name)).collect();
    found.retain(|path| path.exists());
    found.sort();
    found.pop().unwrap_or_else(|| name.into())
}

/// Data passes.
const OPEN: u8 = 0;
/// Data is held back, and the peers get no error.
const SILENT: u8 = 1;
/// Connections break, and new ones are closed.
const BROKEN: u8 = 2;

/// A TCP proxy to a port of the loopback interface.
#[derive(Debug)]
pub struct Line {
    /// The port to connect to instead.
    pub port: u16,
    state: Arc<AtomicU8>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Line {
    /// Starts an open proxy.
    ///
    /// # Panics
    /// No port is free.
    #[must_use]
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (state, open) = (Arc::new(AtomicU8::new(OPEN)), Arc::new(Mutex::new(Vec::new())));
        let line = Self { port: listener.local_addr().unwrap().port(), state, open };
        let (state, open) = (Arc::clone(&line.state), Arc::clone(&line.open));
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                if state.load(Ordering::Acquire) == BROKEN {
                    continue;
                }
                let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (from, to, state) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(&state));
                    open.lock().unwrap().push(from.try_clone().unwrap());
                    thread::spawn(move || pass(from, to, &state));
                }
            }
        });
        line
    }

    /// Holds back all data from now on, without an error for the peers.
    pub fn silence(&self) {
        self.state.store(SILENT, Ordering::Release);
    }

    /// Breaks all connections, and closes new ones.
    pub fn cut(&self) {
        self.state.store(BROKEN, Ordering::Release);
        for stream in self.open.lock().unwrap().drain(..) {
            drop(stream.shutdown(Shutdown::Both));
        }
    }

    /// Lets data pass again.
    pub fn mend(&self) {
        self.state.store(OPEN, Ordering::Release);
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, state: &AtomicU8) {
    let mut bytes = [0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if state.load(Ordering::Acquire) == SILENT {
            eventually_open(state);
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    drop(to.shutdown(Shutdown::Both));
}

fn eventually_open(state: &AtomicU8) {
    eventually("a silent line speaks again", || (state.load(Ordering::Acquire) != SILENT).then_some(()));
}
