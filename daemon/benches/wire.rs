//! Measures how many calls per second the daemon answers, compared with a plain tokio server that reads and writes the
//! same number of bytes on the same kind of socket.
//!
//! `cargo bench -p herma-daemon --bench wire`
//!
//! Daemon and floor are separate processes and are measured in turn, pair by pair; the ratio is the median of the
//! pairs' ratios. Below the table is the resident memory of a daemon that has done nothing yet.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints a table and may stop at a surprise")]

#[path = "support/program.rs"]
mod program;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use herma_protocol::daemon::PingParams;
use herma_protocol::frame::Codec;
use herma_protocol::memory::{AddParams, Target};
use herma_protocol::session::{OpenParams, SnapshotParams};
use herma_protocol::version::PREFACE;
use herma_protocol::{Header, Request, binary, jsonrpc};
use program::hermad;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The duration of one measurement.
const SPAN: Duration = Duration::from_millis(400);

/// The number of pairs of measurements per row.
const PAIRS: usize = 7;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, role, socket, request, reply] = arguments.as_slice()
        && role == "echo"
    {
        return echo(socket, request.parse().unwrap(), reply.parse().unwrap());
    }
    let folder = tempfile::Builder::new().prefix("hb").tempdir().unwrap();
    let daemon = Server::daemon(folder.path());
    println!("idle daemon: {:.1} MiB resident (at most 12 wanted)\n", daemon.resident_mib());
    prepare(&daemon.socket);
    println!("{:18} {:8} {:>7} {:>12} {:>12} {:>9}", "method", "codec", "clients", "echo/s", "hermad/s", "time/echo");
    for (name, request) in [
        ("ping", Request::Ping(PingParams {})),
        ("session.snapshot", Request::SessionSnapshot(SnapshotParams { session: "bench".into() })),
    ] {
        for codec in [Codec::Json, Codec::Bincode] {
            let call = Call::new(&daemon.socket, codec, &request);
            let floor = Server::echo(folder.path(), &call);
            for clients in [1, 8, 32] {
                row(name, codec, clients, &floor.socket, &daemon.socket, &call);
            }
        }
    }
}

fn row(name: &str, codec: Codec, clients: usize, floor: &Path, daemon: &Path, call: &Call) {
    let mut pairs: Vec<(f64, f64)> =
        (0..PAIRS).map(|_| (rate(floor, &[], call, clients), rate(daemon, call.preface, call, clients))).collect();
    pairs.sort_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)));
    let (echo, hermad) = pairs[PAIRS / 2];
    let codec = if codec == Codec::Json { "json" } else { "bincode" };
    println!("{name:18} {codec:8} {clients:>7} {echo:>12.0} {hermad:>12.0} {:>8.2}x", echo / hermad);
}

/// A request, and the length of its answer.
struct Call {
    preface: &'static [u8],
    request: Vec<u8>,
    reply: usize,
}

impl Call {
    fn new(socket: &Path, codec: Codec, request: &Request) -> Self {
        let (preface, bytes): (&[u8], _) = match codec {
            Codec::Json => {
                let mut line = jsonrpc::write_request(1, &Header::default(), request).unwrap();
                line.push(b'\n');
                (&[], line)
            }
            Codec::Bincode => {
                let frame = binary::write_request(1, &Header::default(), request).unwrap();
                (&PREFACE, frame)
            }
        };
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.write_all(preface).unwrap();
        stream.write_all(&bytes).unwrap();
        let reply = match codec {
            Codec::Json => BufReader::new(stream).read_until(b'\n', &mut Vec::new()).unwrap(),
            Codec::Bincode => {
                let mut length = [0; 4];
                stream.read_exact(&mut length).unwrap();
                4 + usize::try_from(u32::from_le_bytes(length)).unwrap()
            }
        };
        Self { preface, request: bytes, reply }
    }
}

/// Returns the calls per second of this number of simultaneous connections.
#[expect(clippy::cast_precision_loss, reason = "a rate")]
fn rate(socket: &Path, preface: &[u8], call: &Call, clients: usize) -> f64 {
    let (calls, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let mut streams: Vec<UnixStream> = (0..clients)
        .map(|_| {
            let mut stream = UnixStream::connect(socket).unwrap();
            stream.write_all(preface).unwrap();
            stream
        })
        .collect();
    let started = Instant::now();
    thread::scope(|scope| {
        for stream in &mut streams {
            scope.spawn(|| {
                let mut reply = vec![0; call.reply];
                while !stop.load(Ordering::Relaxed) {
                    stream.write_all(&call.request).unwrap();
                    stream.read_exact(&mut reply).unwrap();
                    calls.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        thread::sleep(SPAN);
        stop.store(true, Ordering::Relaxed);
    });
    calls.into_inner() as f64 / started.elapsed().as_secs_f64()
}

/// Creates a store of usual size and a session with a snapshot.
fn prepare(socket: &Path) {
    let mut stream = BufReader::new(UnixStream::connect(socket).unwrap());
    let mut ask = |request: &Request| {
        let mut line = jsonrpc::write_request(1, &Header::default(), request).unwrap();
        line.push(b'\n');
        stream.get_mut().write_all(&line).unwrap();
        let mut answer = String::new();
        stream.read_line(&mut answer).unwrap();
        assert!(answer.contains("result"), "{answer}");
    };
    for (target, notes) in [(Target::Memory, 26), (Target::User, 16)] {
        for note in 0..notes {
            ask(&Request::MemoryAdd(AddParams {
                target,
                content: format!("note {note:02}: the service listens on a port of its own, at all times"),
                session: None,
                agent: None,
                expected_revision: None,
            }));
        }
    }
    ask(&Request::SessionOpen(OpenParams { session: "bench".into(), ..OpenParams::default() }));
}

/// A process that serves a socket. Dropping it ends it.
struct Server {
    child: Child,
    socket: PathBuf,
}

impl Server {
    fn daemon(folder: &Path) -> Self {
        let socket = folder.join("d.sock");
        let mut command = Command::new(hermad());
        command.arg("--home").arg(folder.join("home")).arg("--socket").arg(&socket).arg("--detached");
        Self::start(command, socket)
    }

    fn echo(folder: &Path, call: &Call) -> Self {
        let socket = folder.join(format!("e{}-{}.sock", call.request.len(), call.reply));
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("echo").arg(&socket).arg(call.request.len().to_string()).arg(call.reply.to_string());
        Self::start(command, socket)
    }

    fn start(mut command: Command, socket: PathBuf) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("ready"), "{line}");
        Self { child, socket }
    }

    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    fn resident_mib(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() as f64 / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Runs the floor, which reads `request` bytes and writes `reply` bytes, again and again.
fn echo(socket: &str, request: usize, reply: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::UnixListener::bind(socket).unwrap();
        println!("ready");
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut inward, outward) = (vec![0; request], vec![b'x'; reply]);
                while stream.read_exact(&mut inward).await.is_ok() && stream.write_all(&outward).await.is_ok() {}
            });
        }
    });
}
