//! Keeps the conversations that pass through a proxy, and answers requests for a summary. One thread does both, so that
//! each request finds what came before it.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use herma_base::Settings;
use herma_base::out::thousands;
use herma_proxy::api::request::Asked;
use herma_proxy::codex::Compaction;
use herma_proxy::summaries::Summary;
use herma_proxy::{Exchange, Watcher};

use super::Report;
use super::sessions::Sessions;
use crate::agent::Agent;
use crate::codex::Codex;
use crate::hook::{self, unix_now};
use crate::known::AGENTS;

/// The most exchanges that wait. Of more than these some are not kept now; the agent sends their messages again with its
/// next request.
const WAITING: usize = 64;

/// How long a request for a summary waits for its answer before the model is asked.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the thread does next.
enum Job {
    Keep(Box<Exchange>),
    Summary(Arc<Asked>, Box<Summary>, SyncSender<Option<String>>),
}

/// The watcher of a proxy.
pub(super) struct Keeper {
    home: PathBuf,
    /// Whether everything passes, and is only counted.
    is_shadow: bool,
    report: Report,
    jobs: Mutex<Option<SyncSender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Keeper {
    /// Starts the thread. `agent` is the name of the agent where its requests don't tell.
    ///
    /// # Errors
    /// The system has no more threads.
    pub(super) fn start(
        settings: &Settings,
        agent: Option<String>,
        is_shadow: bool,
        report: Report,
    ) -> Result<Arc<Self>, String> {
        let (sender, jobs) = sync_channel(WAITING);
        let home = settings.place.home.clone();
        let sessions = Sessions::new(settings.clone(), agent, Arc::clone(&report));
        let reports = Arc::clone(&report);
        let thread = std::thread::Builder::new()
            .name("keeper".into())
            .spawn(move || work(&jobs, sessions, is_shadow, &reports))
            .map_err(|error| format!("no threads: {error}"))?;
        Ok(Arc::new(Self { home, is_shadow, report, jobs: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)) }))
    }

    /// Keeps what still waits, and ends.
    pub(super) fn end(&self) {
        let jobs = self.jobs.lock().map(|mut jobs| jobs.take());
        drop(jobs);
        if let Some(thread) = self.thread.lock().ok().and_then(|mut thread| thread.take()) {
            // If it panicked, that was said already.
            drop(thread.join());
        }
    }

    fn send(&self, job: Job) -> bool {
        let jobs = self.jobs.lock().ok().and_then(|jobs| jobs.clone());
        match jobs.map(|jobs| jobs.try_send(job)) {
            Some(Ok(())) => true,
            Some(Err(TrySendError::Full(_))) => {
                (self.report)("too much waits to be kept; what is missing comes with the next request");
                false
            }
            None | Some(Err(TrySendError::Disconnected(_))) => false,
        }
    }

    /// Returns the text that a hook of Codex has made for a compaction.
    fn of_hook(&self, compaction: &Compaction) -> Option<String> {
        let Compaction { session, window } = compaction;
        let found = hook::proxy::text(&self.home, &Codex, session, window.as_deref(), unix_now());
        let (text, words) = match found {
            Ok(Some(text)) => {
                let words = format!("is answered with {} chars", text.chars().count());
                (Some(text), words)
            }
            Ok(None) => (None, "has no handoff of a hook".to_owned()),
            Err(error) => (None, format!("has no handoff of a hook ({error})")),
        };
        (self.report)(&format!("a compaction of {} {words}", clean(session)));
        text
    }
}

impl Watcher for Keeper {
    fn summary(&self, asked: &Arc<Asked>, request: &Summary) -> Option<String> {
        if self.is_shadow {
            return None;
        }
        if let Some(text) = request.codex.as_ref().and_then(|compaction| self.of_hook(compaction)) {
            return Some(text);
        }
        if is_hooked(&self.home, asked) {
            return None;
        }
        let (sender, answer) = sync_channel(1);
        let sent = self.send(Job::Summary(Arc::clone(asked), Box::new(request.clone()), sender));
        let text = if sent { answer.recv_timeout(PATIENCE).ok().flatten() } else { None };
        let words = match &text {
            Some(text) => format!("is answered with {} chars", text.chars().count()),
            None => "is left to the model".to_owned(),
        };
        (self.report)(&format!("a compaction of {} {words}", request.agent));
        text
    }

    fn passed(&self, exchange: Exchange) {
        // In shadow nothing is kept, so nothing could be kept twice.
        if self.is_shadow || !is_hooked(&self.home, &exchange.asked) {
            // What can't be sent was said.
            let _: bool = self.send(Job::Keep(Box::new(exchange)));
        }
    }
}

/// Does what comes, until nothing can come any more.
fn work(jobs: &Receiver<Job>, mut sessions: Sessions, is_shadow: bool, report: &Report) {
    while let Ok(job) = jobs.recv() {
        match job {
            Job::Keep(exchange) => {
                if let Some(summary) = &exchange.summary {
                    report(&cost(&exchange, summary));
                }
                if !is_shadow {
                    sessions.keep(&exchange).unwrap_or_else(|words| report(&format!("not kept: {words}")));
                }
            }
            Job::Summary(asked, summary, sender) => {
                let text = sessions.summary(&asked, &summary).unwrap_or_else(|words| {
                    report(&words);
                    None
                });
                // Nobody waits any more if it took too long.
                drop(sender.send(text));
            }
        }
    }
    sessions.close();
}

/// Returns what a compaction cost that the model answered.
fn cost(exchange: &Exchange, summary: &Summary) -> String {
    let usage = exchange.said.as_ref().and_then(|said| said.usage.as_ref());
    let count = |names: &[&str]| -> u64 {
        let of = |name: &&str| usage?.get(*name)?.as_u64();
        names.iter().filter_map(of).sum()
    };
    let input = count(&["input_tokens", "prompt_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]);
    let output = count(&["output_tokens", "completion_tokens"]);
    format!(
        "a compaction of {} took the model {:.1} s, {} input and {} output tokens",
        summary.agent,
        exchange.elapsed.as_secs_f64(),
        thousands(input),
        thousands(output)
    )
}

/// Returns whether the hooks of the agent that asks keep its sessions already.
fn is_hooked(home: &Path, asked: &Asked) -> bool {
    let Some(client) = asked.client.as_deref() else { return false };
    let is_of = |agent: &&&dyn Agent| agent.user_agents().iter().any(|name| client.starts_with(name));
    AGENTS.iter().find(is_of).is_some_and(|agent| hook::is_in_use(home, *agent))
}

/// Returns an id of an agent as it may be printed.
fn clean(id: &str) -> String {
    id.chars().filter(|char| !char.is_control()).take(64).collect()
}
