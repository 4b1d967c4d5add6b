//! Measures how fast a large tool output is kept, compared with a plain program that copies the same bytes from a
//! socket into a file. It does so safely: temporary file, write on arrival, fsync, rename, fsync of the folder, one
//! byte back.
//!
//! `cargo bench -p herma-daemon --bench outputs`
//!
//! Daemon and floor use the same file system and are measured in turn, pair by pair, with either one first; the ratio
//! is the median of the pairs' ratios. Both keep every file. Before each pair, a file of six times the size is written
//! and removed. In a virtual machine a page that the host must provide costs ten times the copy into it. Otherwise the
//! second of the pair would pay for both. The floor writes the bytes as they arrive. herma writes the text in the
//! request, and its answer has the hash, chars and lines. The second table has the same floor without syncs. The last
//! lines show the memory use.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints a table and may stop at a surprise")]
#![expect(clippy::disallowed_methods, reason = "the floor writes as a bare program does")]

#[path = "support/daemon.rs"]
mod daemon;
#[path = "support/program.rs"]
mod program;

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use daemon::Daemon;
use herma_protocol::frame::Codec;
use herma_protocol::output::AdmitParams;
use herma_protocol::value::Content;
use herma_protocol::version::PREFACE;
use herma_protocol::{Header, Request, binary, jsonrpc};

/// The number of pairs of measurements per row.
const PAIRS: usize = 21;

/// The size of the floor's reads, in bytes.
const READ: usize = 1 << 20;

fn main() {
    let folder = tempfile::Builder::new().prefix("hb").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for synced in [true, false] {
        println!("floor: socket to file{}\n", if synced { ", synced as herma's are" } else { ", not synced" });
        println!("{:8} {:>6} {:>12} {:>12} {:>16}", "codec", "size", "floor MB/s", "herma MB/s", "of the floor");
        for megabytes in [1, 10] {
            let binary = if megabytes == 10 { 0.8 } else { 0.6 };
            for (codec, least) in [(Codec::Bincode, binary), (Codec::Json, 0.25)] {
                let limit = if synced { format!(" (at least {least})") } else { String::new() };
                row(folder.path(), codec, megabytes, synced, &limit);
            }
        }
        println!();
    }
    for codec in [Codec::Bincode, Codec::Json] {
        memory(folder.path(), codec);
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate")]
fn row(folder: &Path, codec: Codec, megabytes: usize, synced: bool, limit: &str) {
    let home = tempfile::Builder::new().prefix("home").tempdir_in(folder).unwrap();
    let daemon = Daemon::start(home.path());
    let floor = Floor::start(folder, synced);
    let (mut own, mut bare) = (Client::connect(&daemon.socket, codec), UnixStream::connect(&floor).unwrap());
    let mut pairs: Vec<(f64, f64)> = (0..PAIRS)
        .map(|number| {
            let text = text(megabytes, number);
            let request = own.request(&text, number);
            touch_pages(folder, &text);
            if number % 2 == 0 {
                let floor = timed(|| copy(&mut bare, text.as_bytes()));
                (floor, timed(|| own.send(&request)))
            } else {
                let took = timed(|| own.send(&request));
                (timed(|| copy(&mut bare, text.as_bytes())), took)
            }
        })
        .skip(2)
        .collect();
    pairs.sort_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)));
    let (floor, took) = pairs[pairs.len() / 2];
    let rate = |seconds: f64| megabytes as f64 / seconds;
    println!(
        "{:8} {:>3} MB {:>12.0} {:>12.0} {:>15.2}x{limit}",
        name(codec),
        megabytes,
        rate(floor),
        rate(took),
        floor / took
    );
}

/// Leaves recently used pages of memory free, enough for both writers.
fn touch_pages(folder: &Path, text: &str) {
    let path = folder.join(".touched");
    let mut file = File::create(&path).unwrap();
    for _ in 0..6 {
        file.write_all(text.as_bytes()).unwrap();
    }
    std::fs::remove_file(path).unwrap();
}

/// Prints the memory use of admits: the peak while outputs of 10 MB arrive, and whether it stays stable after many of 1
/// MB.
#[expect(clippy::cast_precision_loss, reason = "a ratio")]
fn memory(folder: &Path, codec: Codec) {
    let home = tempfile::Builder::new().prefix("home").tempdir_in(folder).unwrap();
    let daemon = Daemon::start(home.path());
    let mut client = Client::connect(&daemon.socket, codec);
    let before = daemon.kilobytes("VmRSS");
    for number in 0..5 {
        let request = client.request(&text(10, number), number);
        client.send(&request);
    }
    let grown = (daemon.kilobytes("VmHWM") - before) as f64 / 1024.0;
    let mut marks = Vec::new();
    for number in 5..1005 {
        let request = client.request(&text(1, number), number);
        client.send(&request);
        if number % 100 == 4 {
            marks.push(daemon.kilobytes("VmRSS") / 1024);
        }
    }
    println!(
        "{}: at most {grown:.0} MiB more while outputs of 10 MB came, {:.1}x (at most 2x); MiB in use after each 100 of 1,000 of 1 MB: {marks:?}",
        name(codec),
        grown / (10e6 / 1_048_576.0)
    );
}

fn name(codec: Codec) -> &'static str {
    if codec == Codec::Json { "json" } else { "bincode" }
}

/// Returns lines of a log. Each number gives another text.
fn text(megabytes: usize, number: usize) -> String {
    let mut text = format!("run {}\n", "x".repeat(number));
    let mut line = 0_u64;
    while text.len() < megabytes * 1_000_000 {
        text.push_str(&format!(
            "2026-01-01T00:00:{:02}Z INFO request {line:08} \"GET /v1/items\" served in {} ms\n",
            line % 60,
            line * 7919 % 997
        ));
        line += 1;
    }
    text
}

fn timed(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64()
}

fn copy(stream: &mut UnixStream, bytes: &[u8]) {
    stream.write_all(&u64::try_from(bytes.len()).unwrap().to_le_bytes()).unwrap();
    stream.write_all(bytes).unwrap();
    stream.read_exact(&mut [0]).unwrap();
}

/// Returns a name for the files of one floor.
fn started() -> String {
    static FLOORS: AtomicUsize = AtomicUsize::new(0);
    format!("floor-{}", FLOORS.fetch_add(1, Ordering::Relaxed))
}

/// The plain program, on its own thread.
struct Floor;

impl Floor {
    fn start(folder: &Path, synced: bool) -> PathBuf {
        let socket = std::env::temp_dir().join(format!("hbf-{}-{}.sock", std::process::id(), synced));
        drop(std::fs::remove_file(&socket));
        let listener = UnixListener::bind(&socket).unwrap();
        let (folder, name) = (folder.to_owned(), started());
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = vec![0; READ];
            let mut length = [0; 8];
            for number in 0.. {
                if stream.read_exact(&mut length).is_err() {
                    return;
                }
                let mut left = usize::try_from(u64::from_le_bytes(length)).unwrap();
                let (temporary, target) = (folder.join(".floor.tmp"), folder.join(format!("{name}-{number}.txt")));
                let mut file = File::create(&temporary).unwrap();
                while left > 0 {
                    let room = left.min(READ);
                    let read = stream.read(&mut buffer[..room]).unwrap();
                    file.write_all(&buffer[..read]).unwrap();
                    left -= read;
                }
                if synced {
                    file.sync_all().unwrap();
                }
                std::fs::rename(&temporary, &target).unwrap();
                if synced {
                    File::open(&folder).unwrap().sync_all().unwrap();
                }
                stream.write_all(&[1]).unwrap();
            }
        });
        socket
    }
}

struct Client {
    stream: UnixStream,
    codec: Codec,
}

impl Client {
    fn connect(socket: &Path, codec: Codec) -> Self {
        let mut stream = UnixStream::connect(socket).unwrap();
        if codec == Codec::Bincode {
            stream.write_all(&PREFACE).unwrap();
        }
        Self { stream, codec }
    }

    fn request(&self, text: &str, number: usize) -> Vec<u8> {
        let request = Request::OutputAdmit(AdmitParams {
            session: "bench".into(),
            tool: "terminal".into(),
            id: format!("call_{number}"),
            content: Content::Text(text.to_owned()),
            threshold: None,
            config: None,
        });
        match self.codec {
            Codec::Bincode => binary::write_request(1, &Header::default(), &request).unwrap(),
            Codec::Json => {
                let mut line = jsonrpc::write_request(1, &Header::default(), &request).unwrap();
                line.push(b'\n');
                line
            }
        }
    }

    fn send(&mut self, request: &[u8]) {
        self.stream.write_all(request).unwrap();
        let reply = match self.codec {
            Codec::Bincode => {
                let mut length = [0; 4];
                self.stream.read_exact(&mut length).unwrap();
                let mut reply = vec![0; usize::try_from(u32::from_le_bytes(length)).unwrap()];
                self.stream.read_exact(&mut reply).unwrap();
                reply
            }
            Codec::Json => {
                let mut line = Vec::new();
                BufReader::new(&self.stream).read_until(b'\n', &mut line).unwrap();
                line
            }
        };
        assert!(memchr::memmem::find(&reply, b"<persisted-output>").is_some(), "not spilled");
    }
}

impl Daemon {
    /// Returns a value of the system's status file for the process.
    fn kilobytes(&self, name: &str) -> u64 {
        let text = self.account("status");
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}
