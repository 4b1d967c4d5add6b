//! Starts the daemon when it is not running.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Client, ClientError, Codec, Place};

/// How long a daemon may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(10);

/// The pause between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(10);

/// The exit code of a daemon whose home another daemon serves.
const TAKEN: i32 = 3;

/// Connects, and starts the daemon first if none listens. If a daemon serves the home on another socket, that socket is
/// used. If a daemon is stopping, the call waits for its end and starts a new one.
///
/// # Errors
/// The daemon can't be started, or doesn't answer.
pub fn connect_or_spawn(place: &Place, codec: Codec) -> Result<Client, ClientError> {
    let until = Instant::now() + PATIENCE;
    loop {
        match connect(place, codec) {
            Err(ClientError::Unreachable { .. }) if Instant::now() < until => match spawn(place)? {
                Spawned::Started => {}
                Spawned::Taken => std::thread::sleep(PAUSE),
            },
            connected => return connected,
        }
    }
}

/// Connects to the home's daemon, on whatever socket it listens.
///
/// # Errors
/// No daemon listens.
pub fn connect(place: &Place, codec: Codec) -> Result<Client, ClientError> {
    match Client::connect_with(place, codec) {
        Err(ClientError::Unreachable { socket, source }) => match place.as_locked() {
            Some(other) => Client::connect_with(&other, codec).map_err(|_| ClientError::Unreachable { socket, source }),
            None => Err(ClientError::Unreachable { socket, source }),
        },
        connected => connected,
    }
}

/// The result of starting a daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spawned {
    /// The new daemon listens.
    Started,
    /// Another daemon has the home. It may be starting or stopping.
    Taken,
}

/// Starts a daemon for the place and returns once it listens.
///
/// # Errors
/// The program is missing, or it ends with an error, which is repeated here.
pub fn spawn(place: &Place) -> Result<Spawned, ClientError> {
    let program = find_daemon();
    let mut child = Command::new(&program)
        .arg("--home")
        .arg(&place.home)
        .arg("--socket")
        .arg(&place.socket)
        .arg("--detached")
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| {
            let where_to = "put hermad next to herma or on PATH, or set HERMAD";
            ClientError::Spawn(format!("{}: {error}; {where_to}", program.display()))
        })?;
    let mut line = String::new();
    if let Some(out) = child.stdout.take() {
        BufReader::new(out).read_line(&mut line).map_err(|error| ClientError::Spawn(error.to_string()))?;
    }
    if line.starts_with("ready") {
        // Nobody reads the daemon's standard error from now on. The thread reaps the daemon, in case this program
        // outlives it.
        drop(child.stderr.take());
        drop(std::thread::Builder::new().spawn(move || child.wait()));
        return Ok(Spawned::Started);
    }
    let mut words = String::new();
    if let Some(mut errors) = child.stderr.take() {
        errors.read_to_string(&mut words).map_err(|error| ClientError::Spawn(error.to_string()))?;
    }
    match child.wait() {
        Ok(status) if status.code() == Some(TAKEN) => Ok(Spawned::Taken),
        Ok(status) if words.trim().is_empty() => {
            Err(ClientError::Spawn(format!("{} ended: {status}", program.display())))
        }
        Ok(_) => Err(ClientError::Spawn(words.trim().to_owned())),
        Err(error) => Err(ClientError::Spawn(error.to_string())),
    }
}

/// Returns the daemon's program: `HERMAD`, else the one next to this program, else the name for the search path.
#[must_use]
pub fn find_daemon() -> PathBuf {
    if let Some(named) = std::env::var_os("HERMAD").filter(|named| !named.is_empty()) {
        return absolute(named.into());
    }
    std::env::current_exe()
        .ok()
        .map(|own| own.with_file_name("hermad"))
        .filter(|beside| beside.is_file())
        .unwrap_or_else(|| "hermad".into())
}

/// Returns a path that is valid in any folder. A bare name is left for the search path.
fn absolute(program: PathBuf) -> PathBuf {
    match program.components().count() {
        0 | 1 => program,
        _ => std::path::absolute(&program).unwrap_or(program),
    }
}
