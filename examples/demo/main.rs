//! The demo: a daemon on a fresh home, and five agents as separate processes, one of them in Python. All work at the
//! same time. At the end, the demo checks that no data is lost.

mod agent;
mod conversation;
mod lossless;
mod report;
mod validity;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::{Parser, Subcommand};
use herma_client::protocol::daemon::{HelloParams, ShutdownParams};
use herma_client::protocol::memory::{AddParams, Target};
use herma_client::{Client, Codec, Place, connect_or_spawn};

use report::{AgentReport, Report};

/// The agents that run in Rust; one more runs in Python.
const RUST_AGENTS: [&str; 4] = ["ada", "bert", "cleo", "dora"];

/// The agent that runs in Python.
const PYTHON_AGENT: &str = "pia";

/// The program of the Python agent, included so that the demo runs from anywhere.
const PYTHON_PROGRAM: &str = include_str!("agent.py");

/// Messages of the conversation that every agent compresses.
const MESSAGES: usize = 1000;

/// How long a stopped daemon may take to end.
const GOODBYE: Duration = Duration::from_secs(10);

/// Several agents share one memory, spill large outputs and compress a
/// conversation through one daemon.
#[derive(Debug, Parser)]
struct Arguments {
    /// Keep the home instead of removing it, and print its path
    #[arg(long)]
    keep: bool,
    #[command(subcommand)]
    role: Option<Role>,
}

#[derive(Debug, Subcommand)]
enum Role {
    /// One agent; the demo starts these by itself
    #[command(hide = true)]
    Agent { name: String, home: PathBuf, socket: PathBuf, conversation: PathBuf },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.role {
        Some(Role::Agent { name, home, socket, conversation }) => {
            let place = Place { home: home.clone(), socket: socket.clone() };
            agent::run(name, &place, conversation).map(|()| true)
        }
        None => demo(&arguments),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            drop(writeln!(std::io::stderr(), "herma-demo: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs the demo. Returns true if every check holds.
fn demo(arguments: &Arguments) -> anyhow::Result<bool> {
    let started = Instant::now();
    let folder = tempfile::Builder::new().prefix("herma-demo-").tempdir().context("no temporary folder")?;
    let home = folder.path().join("home");
    let place = Place { socket: home.join("herma/hermad.sock"), home };
    let daemon = Daemon::start(&place)?;
    let conversation = folder.path().join("conversation.json");
    conversation::write(&conversation, MESSAGES)?;

    let seeds = seed(&place)?;
    let agents = run_agents(&place, &conversation, folder.path())?;
    let before = report::Look::at(&place, &agents)?;
    daemon.kill()?;
    let daemon = Daemon::start(&place)?;
    let after = report::Look::at(&place, &agents)?;
    let report = Report { seeds, agents, before, after, elapsed: started.elapsed() };
    let mut out = std::io::stdout().lock();
    writeln!(out, "{report}")?;
    daemon.stop()?;
    if arguments.keep {
        writeln!(out, "the home is kept: {}", folder.keep().display())?;
    }
    Ok(report.holds())
}

/// Adds entries before any agent begins, so that the snapshots have content.
fn seed(place: &Place) -> anyhow::Result<Vec<String>> {
    let mut client = Client::connect(place)?;
    let seeds =
        [(Target::Memory, "The tests need about two minutes on two cores."), (Target::User, "Prefers metric units.")];
    let mut kept = Vec::new();
    for (target, content) in seeds {
        let written = client.memory_add(AddParams {
            target,
            content: content.into(),
            session: None,
            agent: Some("demo".into()),
            expected_revision: None,
        })?;
        ensure!(written.success, "the first entry was refused: {:?}", written.error);
        kept.push(content.to_owned());
    }
    Ok(kept)
}

#[expect(clippy::disallowed_methods, reason = "a throw-away file of the demo")]
fn run_agents(place: &Place, conversation: &Path, folder: &Path) -> anyhow::Result<Vec<AgentReport>> {
    let own = std::env::current_exe().context("the demo's own program")?;
    let script = folder.join("agent.py");
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(PYTHON_PROGRAM.as_bytes())?;
    file.persist(&script)?;
    let mut running = Vec::new();
    for name in RUST_AGENTS {
        let mut command = Command::new(&own);
        command.arg("agent").arg(name);
        running.push((name, start(command, place, conversation)?));
    }
    let mut command = Command::new("python3");
    command.arg(&script).arg(PYTHON_AGENT);
    running
        .push((PYTHON_AGENT, start(command, place, conversation).context("python3 is needed for one of the agents")?));
    running.into_iter().map(|(name, child)| finish(name, child)).collect()
}

fn start(mut command: Command, place: &Place, conversation: &Path) -> anyhow::Result<Child> {
    command.arg(&place.home).arg(&place.socket).arg(conversation);
    command.stdout(Stdio::piped()).spawn().with_context(|| format!("starting {command:?}"))
}

fn finish(name: &str, child: Child) -> anyhow::Result<AgentReport> {
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("agent {name} ended: {}", output.status);
    }
    serde_json::from_slice(&output.stdout).with_context(|| format!("the report of agent {name}"))
}

/// The daemon of the demo. Dropping this value stops it, so that a failed step leaves no process.
struct Daemon {
    place: Place,
    pid: Option<rustix::process::Pid>,
}

impl Daemon {
    fn start(place: &Place) -> anyhow::Result<Self> {
        let mut client = connect_or_spawn(place, Codec::Bincode)?;
        let hello = client.hello(HelloParams::default())?;
        let pid = i32::try_from(hello.pid).ok().and_then(rustix::process::Pid::from_raw);
        Ok(Self { place: place.clone(), pid })
    }

    /// Kills the daemon, like a power cut.
    fn kill(mut self) -> anyhow::Result<()> {
        let pid = self.pid.take().context("the daemon's process id")?;
        rustix::process::kill_process(pid, rustix::process::Signal::KILL)?;
        gone(pid)
    }

    fn stop(mut self) -> anyhow::Result<()> {
        let pid = self.pid.take().context("the daemon's process id")?;
        Client::connect(&self.place)?.shutdown(ShutdownParams { drain_ms: Some(5_000) })?;
        gone(pid)
    }
}

/// Waits for the process to end. After its socket it still closes its files in the folder that is removed next.
fn gone(pid: rustix::process::Pid) -> anyhow::Result<()> {
    let until = Instant::now() + GOODBYE;
    while rustix::process::test_kill_process(pid).is_ok() {
        if Instant::now() > until {
            bail!("the daemon did not go within {GOODBYE:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if self.pid.is_some()
            && let Ok(mut client) = Client::connect(&self.place)
        {
            drop(client.shutdown(ShutdownParams { drain_ms: Some(1_000) }));
        }
    }
}
