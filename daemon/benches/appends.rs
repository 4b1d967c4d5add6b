//! Measures how fast `session.append` makes one message durable, compared with two floors. One is a plain append to a
//! file with `fdatasync` in this process. The other is a plain server that does the same with bytes from a socket.
//!
//! `cargo bench -p herma-daemon --bench appends`
//!
//! All three use the same file system and are measured in turn, round by round. Each ratio is the median of the rounds'
//! ratios. The second table shows how many messages per second several clients get, each with its own session, and the
//! ratio to one client.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints a table and may stop at a surprise")]
#![expect(clippy::disallowed_methods, reason = "the floor writes as a bare program does")]

#[expect(dead_code, reason = "other benches look at the process too")]
#[path = "support/daemon.rs"]
mod daemon;
#[path = "support/program.rs"]
mod program;

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use daemon::Daemon;
use herma_protocol::session::OpenParams;
use herma_protocol::session::transcript::AppendParams;
use herma_protocol::{Header, Json, Request, jsonrpc};

/// The number of messages per round, and of rounds.
const MESSAGES: u64 = 300;
const ROUNDS: usize = 9;

/// The numbers of clients in the second table.
const CLIENTS: [usize; 3] = [1, 8, 32];

/// The size of a message's text, in bytes.
const TEXT: usize = 1_000;

/// A pause, so that the indexing of earlier appends is not measured too.
const REST: Duration = Duration::from_millis(300);

fn main() {
    let folder = tempfile::Builder::new().prefix("hb").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let daemon = Daemon::start(&folder.path().join("home"));
    let mut rounds: Vec<[f64; 3]> = (0..ROUNDS)
        .map(|round| {
            thread::sleep(REST);
            let bare = middle(bare(&folder.path().join("bare")));
            let served = middle(served(&folder.path().join("served")));
            [bare, served, middle(appended(&daemon.socket, &format!("one-{round}")))]
        })
        .collect();
    println!("{:>12} {:>12} {:>12} {:>10} {:>10}", "bare us", "served us", "herma us", "of bare", "of served");
    rounds.sort_by(|one, other| (one[2] / one[0]).total_cmp(&(other[2] / other[0])));
    let [bare, served, herma] = rounds[ROUNDS / 2];
    println!(
        "{:>12.0} {:>12.0} {:>12.0} {:>9.2}x {:>9.2}x (of bare at most 1.3)\n",
        bare * 1e6,
        served * 1e6,
        herma * 1e6,
        herma / bare,
        herma / served
    );
    println!("{:>8} {:>12} {:>12}", "clients", "messages/s", "of one");
    let mut rates: Vec<[f64; CLIENTS.len()]> =
        (0..ROUNDS).map(|round| CLIENTS.map(|clients| rate(&daemon.socket, clients, round))).collect();
    for (at, clients) in CLIENTS.into_iter().enumerate() {
        rates.sort_by(|one, other| (one[at] / one[0]).total_cmp(&(other[at] / other[0])));
        let rate = rates[ROUNDS / 2];
        println!("{clients:>8} {:>12.0} {:>11.2}x (8 at least 3)", rate[at], rate[at] / rate[0]);
    }
}

/// Returns the messages per second of this number of clients together.
fn rate(socket: &Path, clients: usize, round: usize) -> f64 {
    thread::sleep(REST);
    let started = Instant::now();
    thread::scope(|scope| {
        for client in 0..clients {
            scope.spawn(move || appended(socket, &format!("{clients}-{client}-{round}")));
        }
    });
    let all = u32::try_from(clients).unwrap() * u32::try_from(MESSAGES).unwrap();
    f64::from(all) / started.elapsed().as_secs_f64()
}

fn middle(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Returns the seconds of each append to a session.
fn appended(socket: &Path, session: &str) -> Vec<f64> {
    let mut stream = BufReader::new(UnixStream::connect(socket).unwrap());
    let open = Request::SessionOpen(OpenParams { session: session.to_owned(), ..OpenParams::default() });
    exchange(&mut stream, &written(&open));
    let one = |position| {
        let message = format!(r#"{{"role":"user","content":"{position} {}"}}"#, "x".repeat(TEXT));
        let params = AppendParams {
            session: session.to_owned(),
            generation: 0,
            position,
            messages: vec![Json::parse(message).unwrap()],
        };
        let request = written(&Request::SessionAppend(params));
        timed(|| exchange(&mut stream, &request))
    };
    (0..MESSAGES).map(one).collect()
}

fn written(request: &Request) -> Vec<u8> {
    let mut line = jsonrpc::write_request(1, &Header::default(), request).unwrap();
    line.push(b'\n');
    line
}

fn exchange(stream: &mut BufReader<UnixStream>, request: &[u8]) {
    stream.get_mut().write_all(request).unwrap();
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert!(line.contains("\"result\""), "{line}");
}

/// Returns the seconds of each append to a file.
fn bare(path: &Path) -> Vec<f64> {
    let mut file = fresh(path);
    let text = [b'x'; TEXT];
    (0..MESSAGES).map(|_| timed(|| append(&mut file, &text))).collect()
}

/// Returns the seconds of each append by a server that does nothing else.
fn served(path: &Path) -> Vec<f64> {
    let mut file = fresh(path);
    let (mut client, mut server) = UnixStream::pair().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut text = [0; TEXT];
            while server.read_exact(&mut text).is_ok() {
                append(&mut file, &text);
                server.write_all(b"k").unwrap();
            }
        });
        let times = (0..MESSAGES).map(|_| {
            timed(|| {
                client.write_all(&[b'x'; TEXT]).unwrap();
                client.read_exact(&mut [0]).unwrap();
            })
        });
        let times = times.collect();
        drop(client);
        times
    })
}

fn fresh(path: &Path) -> File {
    drop(std::fs::remove_file(path));
    OpenOptions::new().create(true).append(true).open(path).unwrap()
}

fn append(file: &mut File, text: &[u8]) {
    file.write_all(text).unwrap();
    file.sync_data().unwrap();
}

fn timed(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64()
}
