//! `herma status`, `herma daemon …`.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

use clap::Subcommand;
use herma_base::{CliContext, Failure, out};
use herma_client::protocol::daemon::{HelloParams, ShutdownParams, StatusParams, StatusResult, StoreState};
use herma_client::{Client, ClientError, Place, find_daemon};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::Serialize;
use serde_json::json;

use super::capture::{self, Capture};
use super::{config, orphans};

/// The cells of a bar.
const BAR: usize = 10;

/// The pause between two checks of a daemon that is stopping.
const PAUSE: Duration = Duration::from_millis(20);

/// The seconds that a daemon may take to close its files after its requests are done or cut off.
const LEAVE_S: u64 = 15;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// Run the daemon in the foreground; its log goes to standard error
    Run,
    /// Start the daemon in the background; its log goes to herma/hermad.log
    Start,
    /// Stop the daemon after its running requests are done
    Stop {
        /// The seconds that requests have to finish
        #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=3600))]
        drain: u64,
    },
    /// Stop the daemon and start it again, so that a changed config.toml counts
    Restart {
        /// The seconds that requests have to finish
        #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=3600))]
        drain: u64,
    },
    /// Show whether the daemon runs; exit code 3 if it doesn't
    Status,
}

pub(super) fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Run => {
            let program = find_daemon();
            let error = std::process::Command::new(&program)
                .arg("--home")
                .arg(&context.place.home)
                .arg("--socket")
                .arg(&context.place.socket)
                .exec();
            Err(ClientError::Spawn(format!("{}: {error}", program.display())).into())
        }
        Command::Start => {
            if let Ok(client) = context.connect_only() {
                return say(context, client, "runs already");
            }
            say(context, context.connect()?, "started")
        }
        Command::Stop { drain } => stop(context, *drain),
        Command::Restart { drain } => restart(context, *drain),
        Command::Status => say(context, context.connect_only()?, "runs"),
    }
}

fn say(context: &CliContext<'_>, mut client: Client, what: &str) -> Result<(), Failure> {
    let hello = client.hello(HelloParams { client: Some(own_name()), protocol: None })?;
    out::show(context.common, &hello, |hello| {
        format!(
            "{} {what}: pid {}, home {}, socket {}",
            hello.server,
            hello.pid,
            hello.home,
            context.place.socket.display()
        )
    })
}

fn stop(context: &CliContext<'_>, drain: u64) -> Result<(), Failure> {
    let stopped = stop_serving(context, drain)?;
    let orphans = orphans::find(&context.place.home);
    orphans::end(&orphans)?;
    out::show(context.common, &json!({ "stopped": stopped, "orphans": orphans }), |_| {
        let mut words = if stopped { "stopped" } else { "no daemon was running" }.to_owned();
        for pid in &orphans {
            words.push_str(&format!("; ended {pid} too, whose lock file had been removed"));
        }
        words
    })
}

/// Stops the daemon and starts it again. A configuration with a mistake leaves the running daemon alone.
fn restart(context: &CliContext<'_>, drain: u64) -> Result<(), Failure> {
    if context.common.no_spawn {
        return Err(Failure::Usage("--no-spawn keeps a restart from starting the daemon; leave it out".into()));
    }
    drop(config::ask(context, None, &["--check"])?);
    let stopped = stop_serving(context, drain)?;
    say(context, context.connect()?, if stopped { "restarted" } else { "started" })
}

/// Stops the running daemon. Returns false if none runs.
pub(super) fn stop_serving(context: &CliContext<'_>, drain: u64) -> Result<bool, Failure> {
    let mut client = match context.connect_in_lines() {
        Err(ClientError::Unreachable { .. }) => return Ok(false),
        connected => connected?,
    };
    let hello = client.hello(HelloParams { client: Some(own_name()), protocol: None })?;
    client.shutdown(ShutdownParams { drain_ms: Some(drain.saturating_mul(1000)) })?;
    drop(client);
    let place = Place { home: hello.home.into(), socket: context.place.socket.clone() };
    let until = Instant::now() + Duration::from_secs(drain.saturating_add(LEAVE_S));
    while context.connect_in_lines().is_ok() || holds(hello.pid, &place) {
        if Instant::now() > until {
            return Err(Failure::File("the daemon was asked to stop but still runs".into()));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(true)
}

/// Returns whether the daemon with this process id still has its home. A daemon stops listening before it closes its
/// files, and releases the lock after it has closed them. Returns false if the lock can't be read.
fn holds(pid: u32, place: &Place) -> bool {
    let Ok(mut file) = place.open_lock() else { return false };
    let mut holder = String::new();
    // With a full disk, a daemon can't write its process id.
    let is_another =
        file.read_to_string(&mut holder).is_ok_and(|length| length > 0) && !holder.starts_with(&format!("pid {pid} "));
    !is_another && flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
}

fn own_name() -> String {
    concat!("herma ", env!("CARGO_PKG_VERSION")).into()
}

pub(super) fn status(context: &CliContext<'_>, mut client: Client) -> Result<(), Failure> {
    let status = StatusOfAll { status: client.status(StatusParams {})?, agents: capture::all(context) };
    out::show(context.common, &status, |all| format!("{}{}", table(&all.status), agents(&all.agents)))
}

/// The daemon's status, and the captures of agents.
#[derive(Debug, Serialize)]
struct StatusOfAll {
    #[serde(flatten)]
    status: StatusResult,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agents: Vec<Capture>,
}

/// Returns a line for each agent.
fn agents(captures: &[Capture]) -> String {
    let line = |capture: &Capture| (capture.agent, format!("{}; {}", capture.state(), capture.described()));
    let rows: Vec<(&str, String)> = captures.iter().map(line).collect();
    if rows.is_empty() { String::new() } else { format!("\n{}", out::columns(&rows)) }
}

fn table(status: &StatusResult) -> String {
    let mut rows = vec![
        ("uptime", format!("{:.0} s", status.uptime_s)),
        ("memory", out::size(status.rss_bytes)),
        ("connections", status.connections.to_string()),
        ("requests", format!("{}, {} failed", out::thousands(status.requests.total), status.requests.errors)),
        ("sessions", format!("{} open of {}", status.sessions.open, status.sessions.total)),
    ];
    for store in &status.stores {
        let state = match store.state {
            StoreState::Ok => "",
            StoreState::OverLimit => ", over its limit",
            StoreState::Unreadable => ", UNREADABLE",
            StoreState::Drifted => ", drifted: an entry is longer than the limit",
        };
        rows.push((
            "store",
            format!(
                "{} {}/{}: {}, {}/{} chars, revision {}{state}",
                out::bar(out::share(store.chars, store.limit), BAR),
                store.profile,
                match store.target {
                    herma_client::protocol::memory::Target::Memory => "memory",
                    herma_client::protocol::memory::Target::User => "user",
                },
                out::count_noun(usize::try_from(store.entries).unwrap_or(usize::MAX), "entry", "entries"),
                out::thousands(store.chars),
                out::thousands(store.limit),
                store.revision
            ),
        ));
    }
    rows.push((
        "outputs",
        format!(
            "{} {}, {} of {}",
            out::bar(out::share(status.outputs.bytes, status.outputs.quota), BAR),
            out::count_of(status.outputs.files, "file"),
            out::size(status.outputs.bytes),
            out::size(status.outputs.quota)
        ),
    ));
    rows.push(("archive", format!("{}, {}", status.archive.state, out::size(status.archive.bytes))));
    rows.push(("summarizer", format!("{}, {}", status.summarizer.kind, status.summarizer.state)));
    let mut text = out::columns(&rows);
    if !status.requests.by_method.is_empty() {
        text.push_str(&format!("\n{:22} {:>10} {:>12} {:>12}\n", "method", "count", "p50", "p99"));
        for (method, counts) in &status.requests.by_method {
            text.push_str(&format!(
                "{method:22} {:>10} {:>12} {:>12}\n",
                out::thousands(counts.count),
                out::microseconds(counts.p50_us),
                out::microseconds(counts.p99_us)
            ));
        }
    }
    text
}
