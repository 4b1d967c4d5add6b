//! Measures how fast a memory write is durable, compared with a plain program that replaces a file of the same size. It
//! does so safely: temporary file, write, fsync, rename and fsync of the folder, in sequence.
//!
//! `cargo bench -p herma-daemon --bench memory`
//!
//! Daemon and floor use the same file system and are measured in turn, pair by pair; a ratio is the median of the
//! pairs' ratios. Every client adds its own entry and removes it again, so that the store keeps its size. The latency
//! is that of the adds; the rate counts both, because both are durable. The last lines show how often reading accessed
//! the store's file, by the system's own count.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints a table and may stop at a surprise")]
#![expect(clippy::disallowed_methods, reason = "the floor writes as a bare program does")]

#[path = "support/daemon.rs"]
mod daemon;
#[path = "support/program.rs"]
mod program;

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use daemon::Daemon;
use herma_protocol::memory::{AddParams, ListParams, RemoveParams, Target};
use herma_protocol::version::PREFACE;
use herma_protocol::{Header, Incoming, Reply, Request, binary};

/// The duration of one measurement.
const SPAN: Duration = Duration::from_millis(500);

/// The number of pairs of measurements per row.
const PAIRS: usize = 9;

/// The number of notes that are always in the store.
const NOTES: usize = 20;

fn main() {
    let folder = tempfile::Builder::new().prefix("hb").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let home = folder.path().join("home");
    std::fs::create_dir_all(home.join("herma")).unwrap();
    std::fs::write(home.join("herma/config.toml"), "[memory]\nmemory_limit = 10_000\n").unwrap();
    let daemon = Daemon::start(&home);
    let mut client = Client::connect(&daemon.socket);
    for note in 0..NOTES {
        client.add(&format!("note {note:02}: the service listens on a port of its own, at all times"));
    }
    let text = std::fs::read(home.join("memories/MEMORY.md")).unwrap();
    println!("a store of {} bytes; floor: temp, write, fsync, rename, fsync of the folder\n", text.len());
    println!(
        "{:>7} {:>12} {:>12} {:>10} {:>10} {:>12}",
        "clients", "floor p50", "add p50", "floor/s", "writes/s", "of the floor"
    );
    for (clients, wanted) in [(1, "p50 at most 1.00x"), (8, "rate at least 3x"), (32, "rate at least 6x")] {
        let pairs: Vec<(Sample, Sample)> =
            (0..PAIRS).map(|_| (floor(folder.path(), &text), writes(&daemon.socket, clients))).collect();
        let middle = |value: &dyn Fn(&(Sample, Sample)) -> f64| median(pairs.iter().map(value).collect());
        let latency = middle(&|(floor, own)| own.p50_us / floor.p50_us);
        let rate = middle(&|(floor, own)| own.rate / floor.rate);
        println!(
            "{clients:>7} {:>9.0} us {:>9.0} us {:>10.0} {:>10.0}   p50 {latency:.2}x, rate {rate:.2}x ({wanted})",
            middle(&|(floor, _)| floor.p50_us),
            middle(&|(_, own)| own.p50_us),
            middle(&|(floor, _)| floor.rate),
            middle(&|(_, own)| own.rate),
        );
    }
    reads(&daemon, &mut client);
}

/// The result of a measurement.
struct Sample {
    p50_us: f64,
    rate: f64,
}

impl Sample {
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    fn of(latencies: Vec<f64>, count: usize, span: Duration) -> Self {
        Self { p50_us: median(latencies), rate: count as f64 / span.as_secs_f64() }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Measures a careful program without a daemon.
fn floor(folder: &Path, text: &[u8]) -> Sample {
    let (temporary, target) = (folder.join(".floor.tmp"), folder.join("floor.md"));
    let mut latencies = Vec::new();
    let started = Instant::now();
    while started.elapsed() < SPAN {
        let begun = Instant::now();
        let mut file = File::create(&temporary).unwrap();
        file.write_all(text).unwrap();
        file.sync_all().unwrap();
        std::fs::rename(&temporary, &target).unwrap();
        File::open(folder).unwrap().sync_all().unwrap();
        latencies.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    let count = latencies.len();
    Sample::of(latencies, count, started.elapsed())
}

/// Measures this number of clients that write at the same time.
fn writes(socket: &Path, clients: usize) -> Sample {
    let stop = AtomicBool::new(false);
    let mut connected: Vec<Client> = (0..clients).map(|_| Client::connect(socket)).collect();
    let started = Instant::now();
    let mut latencies = Vec::new();
    thread::scope(|scope| {
        let threads: Vec<_> = connected
            .iter_mut()
            .enumerate()
            .map(|(number, client)| {
                let stop = &stop;
                scope.spawn(move || {
                    let mut latencies = Vec::new();
                    let content = format!("client {number:02} wrote this note of its own while the others did");
                    while !stop.load(Ordering::Relaxed) {
                        let begun = Instant::now();
                        client.add(&content);
                        latencies.push(begun.elapsed().as_secs_f64() * 1e6);
                        client.remove(&content);
                    }
                    latencies
                })
            })
            .collect();
        thread::sleep(SPAN);
        stop.store(true, Ordering::Relaxed);
        latencies = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    });
    let count = 2 * latencies.len();
    Sample::of(latencies, count, started.elapsed())
}

/// Prints whether reads of an unchanged store read a file.
fn reads(daemon: &Daemon, client: &mut Client) {
    thread::sleep(Duration::from_millis(200));
    client.list();
    let before = daemon.read_calls();
    let rounds = 1000;
    for _ in 0..rounds {
        client.list();
    }
    let after = daemon.read_calls();
    println!("\n{rounds} times memory.list of an unchanged store:");
    println!("  {} bytes read from the disk by the daemon", after.1 - before.1);
    println!("  {} reads of a file", after.0 - before.0);
}

struct Client {
    stream: UnixStream,
}

impl Client {
    fn connect(socket: &Path) -> Self {
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.write_all(&PREFACE).unwrap();
        Self { stream }
    }

    fn add(&mut self, content: &str) {
        let params = AddParams {
            target: Target::Memory,
            content: content.to_owned(),
            session: None,
            agent: None,
            expected_revision: None,
        };
        self.ask(Request::MemoryAdd(params));
    }

    fn remove(&mut self, old_text: &str) {
        let params = RemoveParams {
            target: Target::Memory,
            old_text: old_text.to_owned(),
            session: None,
            agent: None,
            expected_revision: None,
            allow_drift: None,
        };
        self.ask(Request::MemoryRemove(params));
    }

    fn list(&mut self) {
        self.ask(Request::MemoryList(ListParams::default()));
    }

    fn ask(&mut self, request: Request) {
        let frame = binary::write_request(1, &Header::default(), &request).unwrap();
        self.stream.write_all(&frame).unwrap();
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).unwrap();
        let mut reply = vec![0; usize::try_from(u32::from_le_bytes(length)).unwrap()];
        self.stream.read_exact(&mut reply).unwrap();
        match binary::read_incoming(reply).unwrap() {
            Incoming::Reply(_, Ok(Reply::MemoryAdd(result) | Reply::MemoryRemove(result))) => {
                assert!(result.success, "{result:?}");
            }
            Incoming::Reply(_, Ok(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

impl Daemon {
    /// Returns the daemon's read calls so far, without those on sockets, and the bytes that it read from the disk.
    fn read_calls(&self) -> (u64, u64) {
        let text = self.account("io");
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            line.and_then(|value| value.parse().ok()).unwrap_or(0)
        };
        (value("syscr"), value("read_bytes"))
    }
}
