//! The daemon, and its reports on its stores, its archive and its outputs.

use herma_base::{CliContext, out};
use herma_client::protocol::daemon::{HelloParams, JournalState, StatusParams, StatusResult, StoreState, StoreStatus};
use herma_client::protocol::memory::Target;
use herma_client::protocol::shared;
use herma_client::{Client, ClientError};

use super::Finding;
use crate::shared::troubles;

/// A daemon that answers.
pub(super) struct Running {
    pub pid: u64,
    pub status: StatusResult,
    /// The state of sharing with other hosts. `None` for a daemon of an earlier version, which can't share.
    shared: Option<shared::StatusResult>,
}

impl Running {
    /// Returns the bytes that outputs may still take.
    pub(super) fn room_needed(&self) -> Option<u64> {
        self.status.outputs.quota.checked_sub(self.status.outputs.bytes)
    }
}

/// Connects to the daemon, and starts it if none runs and the options allow it.
pub(super) fn look(context: &CliContext<'_>, findings: &mut Vec<Finding>) -> Option<Running> {
    let asked = context.connect().and_then(|mut client| ask(&mut client));
    let running = match asked {
        Ok((version, running)) => {
            let own = env!("CARGO_PKG_VERSION");
            let words = format!("herma {version}, pid {}, up {:.0} s", running.pid, running.status.uptime_s);
            findings.push(if version == own {
                Finding::ok("daemon", words)
            } else {
                Finding::warning("daemon", format!("{words}; this is herma {own}"), "herma daemon restart")
            });
            running
        }
        Err(ClientError::Unreachable { .. }) => {
            findings.push(Finding::warning("daemon", "none runs", "herma daemon start, or leave out --no-spawn"));
            return None;
        }
        Err(error) => {
            findings.push(Finding::error("daemon", error.to_string(), "see herma/hermad.log in the home"));
            return None;
        }
    };
    findings.extend(running.status.stores.iter().map(store));
    findings.push(archive(&running.status));
    findings.push(outputs(&running.status));
    findings.extend(running.shared.as_ref().filter(|shared| shared.configured).map(sharing));
    Some(running)
}

fn ask(client: &mut Client) -> Result<(String, Running), ClientError> {
    let hello = client.hello(HelloParams { client: Some("herma doctor".into()), protocol: None })?;
    let version = hello.server.rsplit(' ').next().unwrap_or_default().to_owned();
    let status = client.status(StatusParams {})?;
    let shared = if hello.methods.iter().any(|method| method == "shared.status") {
        Some(client.shared_status(shared::StatusParams {})?)
    } else {
        None
    };
    Ok((version, Running { pid: hello.pid.into(), status, shared }))
}

/// Checks the sharing with other hosts. Reads work despite any trouble.
fn sharing(status: &shared::StatusResult) -> Finding {
    let host = status.host.as_deref().unwrap_or_default();
    let database = status.database.as_deref().unwrap_or("a database");
    let queued: u64 = status.stores.iter().map(|store| store.queued).sum();
    let words = format!("{host} with {database}");
    match troubles(status).as_slice() {
        [] if queued > 0 => {
            let words = format!("{words}; {} writes wait for it", out::thousands(queued));
            Finding::warning("shared", words, "herma memory queued lists them; they are done when it is back")
        }
        [] => Finding::ok("shared", words),
        found => {
            Finding::error("shared", format!("{words}: {}", found.join("; ")), "herma shared status; docs/sharing.md")
        }
    }
}

fn store(store: &StoreStatus) -> Finding {
    let name = match store.target {
        Target::Memory => "memory",
        Target::User => "user",
    };
    let words = format!(
        "{}/{name}: {}/{} chars, revision {}",
        store.profile,
        out::thousands(store.chars),
        out::thousands(store.limit),
        store.revision
    );
    let remedy = |command: &str| format!("herma --profile {} memory {command} {name}", store.profile);
    match (store.state, store.journal) {
        (StoreState::Unreadable, _) => Finding::error(
            "store",
            format!("{words}: it can't be read, and writes are refused"),
            format!("fix its encoding or its mode, or {}", remedy("restore")),
        ),
        (_, JournalState::Damaged) => Finding::warning(
            "store",
            format!("{words}: lines of its journal can't be read"),
            format!("older changes may be missing from {}", remedy("log")),
        ),
        (StoreState::OverLimit, _) => {
            Finding::warning("store", format!("{words}: over its limit"), format!("shorten it: {}", remedy("edit")))
        }
        (StoreState::Drifted, _) => Finding::warning(
            "store",
            format!("{words}: one entry is longer than the whole limit"),
            format!("split it: {}", remedy("edit")),
        ),
        (StoreState::Ok, JournalState::Ok) => Finding::ok("store", words),
    }
}

fn archive(status: &StatusResult) -> Finding {
    let words = format!("{}, {}", status.archive.state, out::size(status.archive.bytes));
    match status.archive.state.as_str() {
        "ok" => Finding::ok("archive", words),
        state if state.starts_with("ok;") => Finding::warning("archive", words, "the old archive is kept next to it"),
        state if state.starts_with("locked") => Finding::warning(
            "archive",
            words,
            "find out which program has archive.db open (fuser, lsof), and end its transaction",
        ),
        _ => Finding::error(
            "archive",
            words,
            "conversations are not archived, and none is compressed, until it can be used",
        ),
    }
}

fn outputs(status: &StatusResult) -> Finding {
    let counts = status.outputs;
    let words =
        format!("{}, {} of {}", out::count_of(counts.files, "file"), out::size(counts.bytes), out::size(counts.quota));
    if counts.bytes > counts.quota / 10 * 9 {
        Finding::warning(
            "outputs",
            words,
            "the oldest of closed sessions go next; set output.quota higher to keep them",
        )
    } else {
        Finding::ok("outputs", words)
    }
}
