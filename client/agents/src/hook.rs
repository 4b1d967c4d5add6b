//! `herma hook`: the program that agents call at the events of a session, with JSON in and JSON out.
//!
//! A hook never fails its agent. If anything goes wrong, the exit code is 0, there is no output, and herma's log has a
//! line. The one exception is the beginning of a session, when the output has a message for the user.
//!
//! * `event` parses the agent's message, `answer` builds the answers. Both do no I/O.
//! * `input` reads the event. `session` maps the agent's session to one of herma's. `follow` continues to read its transcript at the
//!   position in `state`.
//! * `context` builds the text for the model at the beginning and after a compaction. It does no I/O.
//! * `facts` is what a transcript says about its session, such as the model and the branch.
//! * `nearest` decides whether the hooks of a project serve the session instead.
//! * `gap` finds out whether the agent worked while no event came.
//! * `earlier` builds the text for the first prompt of a session, from earlier sessions. `receipts` keeps what was added.
//! * `outputs` stores large outputs of tools. It opens files without blocking on a pipe.
//! * `ledger` records herma's changes to the window, with `definitions` of the MCP server. `process` has the
//!   notes that hooks and server leave for each other, in a `folder`.
//! * `proxy` is the data that hooks and the proxy for Codex exchange. `handover` builds its text without I/O.

mod context;
mod definitions;
mod earlier;
mod facts;
mod folder;
mod follow;
mod gap;
mod handover;
mod input;
mod ledger;
mod nearest;
mod outputs;
mod process;
pub(crate) mod proxy;
pub mod receipts;
mod session;
mod state;

use std::os::unix::process::parent_id;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, SystemTime};

use herma_base::{Settings, out};
use herma_client::protocol::limits;
use serde_json::Value;

use crate::agent::Agent;
use crate::event::EventName;
use crate::programs::installed;
use crate::{answer, event, known};

pub(crate) use context::standing;
pub(crate) use definitions::note as note_definitions;
pub(crate) use follow::place;
pub use gap::BEHIND;
pub(crate) use handover::{ends, text as handover};
pub(crate) use ledger::handover_change;
pub(crate) use session::{of_id, of_process};
pub(crate) use state::{events, forget_runs, is_in_use, log, unix_now};
pub use state::{last_event, last_run, left_out};

use process::{Kind, ProcessSession};

/// How the ids of sessions begin that are only tests of the hooks. They don't count as events of the agent.
pub(crate) const TEST_SESSION: &str = "herma-setup-";

/// The variable with an agent and the session of another one that its session continues. Agents that this one starts
/// inherit it, but only the named agent is meant.
pub const CONTINUES: &str = "HERMA_CONTINUES";

/// Returns the value of [`CONTINUES`].
#[must_use]
pub fn continued_in(agent: &dyn Agent, session: &str) -> String {
    format!("{}={session}", agent.name())
}

/// The timeout for the daemon's first answer, and for every event except a compaction.
const SHORT: Duration = Duration::from_millis(900);

/// The variable with a timeout in milliseconds instead of [`SHORT`], for slow machines.
const TIMEOUT: &str = "HERMA_HOOK_TIMEOUT_MS";

/// The timeout of a compaction.
const LONG: Duration = Duration::from_secs(20);

// Answers an event of an agent: the event on standard input as JSON, the answer on standard output.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Clients call it; `herma hooks install` sets them up for it. If anything goes wrong, the exit code is 0, there is no output, and herma/hermad.log in the home has a line. When a session begins, the output has a message for the user then.\n\nExample:\n  echo '{\"session_id\":\"1\",\"hook_event_name\":\"SessionStart\",\"source\":\"startup\"}' | herma hook claude-code session-start"
)]
#[expect(missing_docs, reason = "clap would show it in the place of the command's description")]
pub struct Arguments {
    /// The agent
    #[arg(value_parser = known::parser())]
    agent: &'static dyn Agent,
    /// The event
    event: EventName,
}

/// A message from the thread that answers the event.
enum HookMessage {
    /// The daemon answers.
    Alive,
    /// A line for the agent.
    Line(String),
    /// An answer for the agent, as JSON.
    Answer(Value),
    /// A text for the user. It becomes part of the answer.
    Note(String),
    /// A line for the log.
    Log(String),
    /// The reason why the event has no answer.
    Failure(String),
}

/// Sends the messages of the thread that answers the event.
struct HookSender(Sender<HookMessage>);

impl HookSender {
    fn send(&self, message: HookMessage) {
        // After the timeout the receiver is gone.
        drop(self.0.send(message));
    }

    fn answer(&self, answer: Value) {
        self.send(HookMessage::Answer(answer));
    }

    fn log(&self, words: impl Into<String>) {
        self.send(HookMessage::Log(words.into()));
    }
}

/// Answers an event.
pub fn run(settings: &Settings, arguments: &Arguments) {
    let home = settings.place.home.as_path();
    // The next event reads what this one skips. Only the context of a window, a compaction and the last event of a
    // session can't wait.
    let is_urgent =
        matches!(arguments.event, EventName::SessionStart | EventName::SessionEnd) || arguments.event.is_compaction();
    if !is_urgent && state::is_frozen(home) {
        return;
    }
    let (sender, receiver) = channel();
    let (work, agent, name) = (settings.clone(), arguments.agent, arguments.event);
    let started = std::thread::Builder::new().name("hook".into()).spawn(move || {
        let sender = HookSender(sender);
        if let Err(words) = serve(&work, agent, name, &sender) {
            sender.send(HookMessage::Failure(words));
        }
    });
    let log = |words: &str| log(&settings.place.home, &format!("{} {}: {words}", agent.name(), name.name()));
    match started {
        Ok(_) => listen(&receiver, name, |answers| state::note_answer(home, answers), log),
        Err(error) => log(&format!("no thread can be started: {error}")),
    }
}

/// Returns the timeout of every event except a compaction: 0.1 to 30 seconds.
fn short() -> Duration {
    let set = std::env::var(TIMEOUT).ok().and_then(|text| text.parse().ok());
    set.map_or(SHORT, |ms: u64| Duration::from_millis(ms.clamp(100, 30_000)))
}

/// Handles the messages until the timeout.
fn listen(receiver: &Receiver<HookMessage>, name: EventName, note_answer: impl Fn(bool), log: impl Fn(&str)) {
    let (began, short) = (Instant::now(), short());
    let limit = if name.is_compaction() { LONG.max(short) } else { short };
    let (mut until, mut answers) = (began + short, false);
    let mut answer = Answer::default();
    loop {
        match receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(HookMessage::Alive) => {
                (until, answers) = (began + limit, true);
                note_answer(true);
            }
            Ok(HookMessage::Line(line)) => out::say(&line),
            Ok(HookMessage::Answer(value)) => answer.say(value),
            Ok(HookMessage::Note(words)) => answer.notes.push(words),
            Ok(HookMessage::Log(words)) => log(&words),
            Ok(HookMessage::Failure(words)) => {
                log(&words);
                answer.fail(name, &words);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                if !answers {
                    note_answer(false);
                }
                let words = format!("it was given up after {} ms", began.elapsed().as_millis());
                log(&words);
                answer.fail(name, &words);
                break;
            }
        }
    }
    answer.end();
}

/// The answer of an event, which is one line.
#[derive(Debug, Default)]
struct Answer {
    is_said: bool,
    /// The texts for the user.
    notes: Vec<String>,
}

impl Answer {
    /// Prints the answer at once, with the notes so far.
    fn say(&mut self, mut value: Value) {
        if !self.notes.is_empty() {
            value[answer::NOTE] = std::mem::take(&mut self.notes).join("\n").into();
        }
        out::say(&value.to_string());
        self.is_said = true;
    }

    /// Handles a failure. At the beginning of a session the user sees the reason, because nothing else shows it.
    fn fail(&mut self, name: EventName, words: &str) {
        if name == EventName::SessionStart && !self.is_said {
            self.notes.push(format!(
                "herma can't serve this session now ({words}). It keeps the session as soon as it can; `herma doctor` says \
what is wrong."
            ));
        }
    }

    /// Prints the notes if there was no answer to carry them.
    fn end(self) {
        if !self.is_said && !self.notes.is_empty() {
            out::say(&answer::note(&self.notes.join("\n")).to_string());
        }
    }
}

/// Returns when the newest transcript of an agent changed.
pub fn newest_transcript(agent: &dyn Agent) -> Option<SystemTime> {
    gap::newest(&agent.transcripts(), None)
}

/// Shows the user that the agent worked while none of its events came. Hooks of a single project know nothing of others.
fn note_gap(agent: &dyn Agent, event: &event::Event, last_event: Option<SystemTime>, sender: &HookSender) {
    let Some(last) = last_event.filter(|_| !installed(agent).is_empty()) else { return };
    let Some(newest) = gap::after(last, &agent.transcripts(), event.transcript.as_deref()) else { return };
    let seconds = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let [last, newest] = [last, newest].map(|time| out::local_time(seconds(time)));
    let (title, name) = (agent.title(), agent.name());
    sender.send(HookMessage::Note(format!(
        "herma: {title} worked until {newest}, and its last event came {last}. `herma import {name}` reads what was missed; \
`herma hooks status {name}` says whether the hooks run."
    )));
}

fn serve(settings: &Settings, agent: &'static dyn Agent, name: EventName, sender: &HookSender) -> Result<(), String> {
    let text =
        input::read(std::io::stdin().lock(), limits::FRAME).map_err(|error| format!("standard input: {error}"))?;
    let home = &settings.place.home;
    let before: Option<ProcessSession> = process::read(home, agent, parent_id(), Kind::Session);
    let current = before.as_ref().filter(|_| name == EventName::Compact);
    let event = event::read(&text, current.map(|current| (&*current.id, current.transcript.as_deref())))?;
    if nearest::is_other(agent, settings, (name, &event)) {
        return Ok(());
    }
    if matches!(name, EventName::SessionStart | EventName::UserPromptSubmit) {
        let current = ProcessSession { id: event.id.clone(), transcript: event.transcript.clone() };
        process::write(home, agent, parent_id(), Kind::Session, current);
    }
    let is_beginning = name == EventName::SessionStart && event.reason.as_deref() != Some(state::COMPACT);
    let last_event = last_event(home, agent).filter(|_| is_beginning);
    if !event.id.starts_with(TEST_SESSION) {
        state::ran(home, agent, name);
        note_gap(agent, &event, last_event, sender);
        if let Some(profile) = settings.profile.as_ref().filter(|_| is_beginning) {
            sender.send(HookMessage::Note(format!("herma keeps this session in the profile {profile}.")));
        }
    }
    session::Session::begin(settings, (agent, name), &event, before, sender)?.serve(name, &event)
}
