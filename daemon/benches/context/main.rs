//! Measures how long a whole call of `context.compress` takes: from the first byte of the request to the last byte of
//! the answer, with the archive written and synced in between. The floor is the minimum for any daemon with that list.
//! It reads the bytes from a socket, parses them with `serde_json` into `Vec<&RawValue>`, writes them to a new file and
//! syncs it.
//!
//! `cargo bench -p herma-daemon --bench context`
//!
//! Call and floor are measured in turn, pair by pair; the ratio is the median of the pairs' ratios. In the rows of
//! `append`, `session.append` sent the messages earlier, and the call names no list. So the turn that crosses the
//! threshold finds a run made in advance. Rows of the lossless engine are marked. Each call has its own session. It
//! begins when the daemon is idle, because the text index still has work after the previous call. Further tables show
//! the memory of a call, and how the time per message depends on the number of messages.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints a table and may stop at a surprise")]

#[path = "../support/daemon.rs"]
mod daemon;
mod floor;
#[path = "../support/program.rs"]
mod program;
mod transcript;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use daemon::Daemon;
use floor::floor;
use herma_protocol::context::check::CheckParams;
use herma_protocol::context::{CompressParams, CompressResult, ConfigureParams, ReplyForm};
use herma_protocol::daemon::PingParams;
use herma_protocol::frame::Codec;
use herma_protocol::session::transcript::AppendParams;
use herma_protocol::version::PREFACE;
use herma_protocol::{Header, Incoming, Json, Method, Reply, Request, binary, jsonrpc};
use transcript::{Scale, USUAL, transcript};

/// The number of messages of the list to which the limits apply.
const MESSAGES: usize = 5_000;

/// The number of messages that one call appends.
const APPENDED: usize = 100;

/// The number of pairs of measurements per row.
const PAIRS: usize = 9;

/// The number of pairs per size of the list.
const SIZE_PAIRS: usize = 3;

/// The number of small calls per round, and of rounds.
const CALLS: usize = 1_000;
const ROUNDS: usize = 9;

/// The model's window, in tokens.
const WINDOW: u64 = 200_000;

/// The lossless engine.
const LOSSLESS: &str = "lossless";

/// The numbers of messages between which the time per message should not change. These messages are small enough for
/// the largest list to fit into a frame.
const SIZES: [usize; 4] = [1_000, 5_000, 20_000, 50_000];
const SMALL: Scale = Scale(300);

/// How long the daemon must use no processor time to count as idle.
const REST: Duration = Duration::from_millis(200);

fn main() {
    let folder = tempfile::Builder::new().prefix("hb").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let list = List::new(MESSAGES, USUAL);
    println!(
        "{} messages, {:.1} MB; floor: received, parsed into raw values, written to a file, synced\n",
        list.messages.len(),
        list.megabytes()
    );
    println!("{:8} {:7} {:9} {:>9} {:>9} {:>8}", "codec", "list", "reply", "floor ms", "herma ms", "ratio");
    for (way, limits) in [(Way::Sent, [2.5, 3.5]), (Way::Appended, [1.6, 1.6])] {
        for (codec, most) in [Codec::Bincode, Codec::Json].into_iter().zip(limits) {
            for form in [ReplyForm::Messages, ReplyForm::Edits] {
                let (floor, took) = median(folder.path(), &list, Call::of(codec, form, way), PAIRS);
                println!(
                    "{:8} {:7} {:9} {:>9.1} {:>9.1} {:>7.2}x (at most {most})",
                    name(codec),
                    way.name(),
                    form_name(form),
                    floor * 1e3,
                    took * 1e3,
                    took / floor
                );
            }
        }
    }
    println!("\n{:8} {:7} {:>9} {:>9} {:>8}   engine lossless", "codec", "list", "floor ms", "herma ms", "ratio");
    for way in [Way::Sent, Way::Appended] {
        for codec in [Codec::Bincode, Codec::Json] {
            let call = Call { engine: LOSSLESS, ..Call::of(codec, ReplyForm::Messages, way) };
            let (floor, took) = median(folder.path(), &list, call, PAIRS);
            let most = if way == Way::Appended { "at most 50 ms" } else { "" };
            let (ratio, floor, took) = (took / floor, floor * 1e3, took * 1e3);
            println!("{:8} {:7} {floor:>9.1} {took:>9.1} {ratio:>7.2}x {most}", name(codec), way.name());
        }
    }
    // `cargo bench … -- calls` runs only these tables.
    if std::env::args().any(|argument| argument == "calls") {
        return;
    }
    println!();
    for codec in [Codec::Bincode, Codec::Json] {
        memory(folder.path(), &list, codec);
    }
    println!("\n{:>8} {:>7} {:>16} {:>16}", "messages", "MB", "bincode us each", "json us each");
    for size in SIZES {
        let list = List::new(size, SMALL);
        let [binary, json] = [Codec::Bincode, Codec::Json].map(|codec| {
            let call = Call::of(codec, ReplyForm::Messages, Way::Sent);
            let (_, took) = median(folder.path(), &list, call, SIZE_PAIRS);
            took * 1e6 / count(size)
        });
        println!("{size:>8} {:>7.1} {binary:>16.1} {json:>16.1}", list.megabytes());
    }
    println!("\n{:8} {:>9} {:>9} {:>8}", "codec", "ping us", "check us", "ratio");
    for codec in [Codec::Bincode, Codec::Json] {
        let (ping, check) = checks(folder.path(), codec);
        println!("{:8} {:>9.1} {:>9.1} {:>7.2}x", name(codec), ping * 1e6, check * 1e6, check / ping);
    }
}

/// Measures a ping and a `context.check` with a known number of tokens, in turn. Returns the median seconds of each.
fn checks(folder: &Path, codec: Codec) -> (f64, f64) {
    let home = tempfile::Builder::new().prefix("home").tempdir_in(folder).unwrap();
    let daemon = Daemon::start(home.path());
    let mut client = Client::connect(&daemon.socket, codec);
    let session = "bench".to_owned();
    let configure =
        ConfigureParams { session: session.clone(), context_length: Some(WINDOW), ..ConfigureParams::default() };
    let configure = client.written(Request::ContextConfigure(configure));
    client.exchange(&configure);
    let ping = client.written(Request::Ping(PingParams::default()));
    let known = CheckParams { session, tokens: Some(WINDOW / 4), ..CheckParams::default() };
    let check = client.written(Request::ContextCheck(known));
    let mut middle = |request: &[u8]| {
        let mut times: Vec<f64> = (0..CALLS).map(|_| timed(|| drop(client.exchange(request)))).collect();
        times.sort_by(f64::total_cmp);
        times[CALLS / 2]
    };
    let mut rounds: Vec<(f64, f64)> = (0..ROUNDS).map(|_| (middle(&ping), middle(&check))).collect();
    rounds.sort_by(|one, other| (one.1 / one.0).total_cmp(&(other.1 / other.0)));
    rounds[ROUNDS / 2]
}

/// A call to measure.
#[derive(Clone, Copy)]
struct Call {
    codec: Codec,
    form: ReplyForm,
    way: Way,
    engine: &'static str,
}

impl Call {
    /// Creates a call with the default engine.
    fn of(codec: Codec, form: ReplyForm, way: Way) -> Self {
        Self { codec, form, way, engine: "compressor" }
    }
}

/// How the daemon gets the list.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// In the call itself.
    Sent,
    /// Message by message, before the call.
    Appended,
}

impl Way {
    fn name(self) -> &'static str {
        if self == Self::Sent { "sent" } else { "append" }
    }
}

/// Returns the pair with the median ratio: the seconds of the floor and of the call.
fn median(folder: &Path, list: &List, call: Call, pairs: usize) -> (f64, f64) {
    let home = tempfile::Builder::new().prefix("home").tempdir_in(folder).unwrap();
    let daemon = Daemon::start(home.path());
    let mut client = Client::connect(&daemon.socket, call.codec);
    let mut pairs: Vec<(f64, f64)> = (0..=pairs)
        .map(|number| {
            let request = client.prepare(list, call, number);
            daemon.rest();
            (floor(home.path(), &list.bytes), client.send(&request))
        })
        .skip(1)
        .collect();
    pairs.sort_by(|one, other| (one.1 / one.0).total_cmp(&(other.1 / other.0)));
    pairs[pairs.len() / 2]
}

/// Prints the peak memory of a daemon's first call.
fn memory(folder: &Path, list: &List, codec: Codec) {
    let home = tempfile::Builder::new().prefix("home").tempdir_in(folder).unwrap();
    let daemon = Daemon::start(home.path());
    let mut client = Client::connect(&daemon.socket, codec);
    let call = Call::of(codec, ReplyForm::Messages, Way::Sent);
    let request = client.prepare(list, call, 0);
    let before = daemon.kilobytes("VmRSS");
    client.send(&request);
    let during = daemon.kilobytes("VmHWM");
    daemon.rest();
    let (grown, indexed) = (megabytes(during - before), megabytes(daemon.kilobytes("VmHWM") - before));
    let ratio = grown / list.megabytes();
    println!(
        "{:8} at most {grown:.1} MB more in memory, {ratio:.1}x the list (at most 3x); {indexed:.1} MB with the indexing after it",
        name(codec)
    );
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn megabytes(kilobytes: u64) -> f64 {
    kilobytes as f64 * 1024.0 / 1e6
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn count(messages: usize) -> f64 {
    messages as f64
}

fn name(codec: Codec) -> &'static str {
    if codec == Codec::Json { "json" } else { "bincode" }
}

fn form_name(form: ReplyForm) -> &'static str {
    if form == ReplyForm::Messages { "messages" } else { "edits" }
}

fn timed(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64()
}

/// A list of messages, and its bytes.
struct List {
    messages: Vec<Json>,
    bytes: Vec<u8>,
}

impl List {
    fn new(messages: usize, scale: Scale) -> Self {
        let texts = transcript(messages, scale);
        let bytes = format!("[{}]", texts.join(",")).into_bytes();
        Self { messages: texts.into_iter().map(|text| Json::parse(text).unwrap()).collect(), bytes }
    }

    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    fn megabytes(&self) -> f64 {
        self.bytes.len() as f64 / 1e6
    }
}

struct Client {
    stream: BufReader<UnixStream>,
    codec: Codec,
}

impl Client {
    fn connect(socket: &Path, codec: Codec) -> Self {
        let mut stream = UnixStream::connect(socket).unwrap();
        if codec == Codec::Bincode {
            stream.write_all(&PREFACE).unwrap();
        }
        Self { stream: BufReader::new(stream), codec }
    }

    /// Opens a session, and returns the request that compresses its list.
    fn prepare(&mut self, list: &List, call: Call, number: usize) -> Vec<u8> {
        let session = format!("bench-{number}");
        let configure = ConfigureParams {
            session: session.clone(),
            context_length: Some(WINDOW),
            engine: Some(call.engine.into()),
            ..ConfigureParams::default()
        };
        let request = self.written(Request::ContextConfigure(configure));
        self.exchange(&request);
        if call.way == Way::Appended {
            self.append(&session, list);
        }
        self.written(Request::ContextCompress(CompressParams {
            session,
            messages: (call.way == Way::Sent).then(|| list.messages.clone()),
            reply: Some(call.form),
            ..CompressParams::default()
        }))
    }

    fn append(&mut self, session: &str, list: &List) {
        for (part, messages) in (0..).zip(list.messages.chunks(APPENDED)) {
            let request = self.written(Request::SessionAppend(AppendParams {
                session: session.to_owned(),
                generation: 0,
                position: part * APPENDED as u64,
                messages: messages.to_vec(),
            }));
            self.exchange(&request);
        }
    }

    /// Sends a request that must compress. Returns the seconds until its answer.
    fn send(&mut self, request: &[u8]) -> f64 {
        let mut reply = Vec::new();
        let took = timed(|| reply = self.exchange(request));
        let reply = match self.codec {
            Codec::Bincode => match binary::read_incoming(reply).unwrap() {
                Incoming::Reply(_, outcome) => outcome.unwrap(),
                Incoming::Notification(_) => panic!("nothing was subscribed to"),
            },
            Codec::Json => jsonrpc::read_reply(&reply, Method::ContextCompress).unwrap().1.unwrap(),
        };
        assert!(matches!(reply, Reply::ContextCompress(CompressResult::Done(done)) if done.report.compressed));
        took
    }

    fn written(&self, request: Request) -> Vec<u8> {
        match self.codec {
            Codec::Bincode => binary::write_request(1, &Header::default(), &request).unwrap(),
            Codec::Json => {
                let mut line = jsonrpc::write_request(1, &Header::default(), &request).unwrap();
                line.push(b'\n');
                line
            }
        }
    }

    fn exchange(&mut self, request: &[u8]) -> Vec<u8> {
        self.stream.get_mut().write_all(request).unwrap();
        match self.codec {
            Codec::Bincode => {
                let mut length = [0; 4];
                self.stream.read_exact(&mut length).unwrap();
                let mut reply = vec![0; usize::try_from(u32::from_le_bytes(length)).unwrap()];
                self.stream.read_exact(&mut reply).unwrap();
                reply
            }
            Codec::Json => {
                let mut line = Vec::new();
                self.stream.read_until(b'\n', &mut line).unwrap();
                line
            }
        }
    }
}

impl Daemon {
    /// Waits until the daemon is idle.
    fn rest(&self) {
        let mut before = None;
        loop {
            let now = Some(self.ticks());
            if now == before {
                return;
            }
            before = now;
            thread::sleep(REST);
        }
    }

    /// Returns the processor time that it used, in ticks of the system's clock.
    fn ticks(&self) -> u64 {
        let text = self.account("stat");
        // After the name: state, ten numbers, then the time in user and in kernel mode.
        let fields = text.rsplit_once(')').unwrap().1.split_whitespace();
        fields.skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum()
    }

    /// Returns a value of the system's status file for the process.
    fn kilobytes(&self, name: &str) -> u64 {
        let text = self.account("status");
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}
