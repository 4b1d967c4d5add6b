//! The hooks of agent clients: whether the program that they start is there, and when an event came last.

use std::path::Path;
use std::time::SystemTime;

use super::Finding;
use crate::cli::hooks::installed;
use crate::cli::out;
use crate::hook::{self, Client};

/// Looks at each client that has hooks of herma, or had an event.
pub(super) fn look(home: &Path, findings: &mut Vec<Finding>) {
    for client in [Client::ClaudeCode, Client::Codex] {
        let name = client.name();
        let programs = installed(client);
        let last = hook::last_event(home, client);
        if programs.is_empty() && last.is_none() {
            continue;
        }
        let dead = programs.iter().find(|program| !is_program(program));
        findings.push(match (dead, &last) {
            (Some(program), _) => Finding::error(
                name,
                format!("its hooks start {program}, and there is no such program: nothing of its sessions is kept"),
                format!("herma hooks install {name}"),
            ),
            (None, _) if programs.is_empty() => Finding::ok(name, format!("no hooks; {}", said(last.as_ref()))),
            (None, _) => Finding::ok(name, format!("hooks are installed; {}", said(last.as_ref()))),
        });
    }
}

/// When an event came last.
fn said(last: Option<&SystemTime>) -> String {
    let seconds = last.and_then(|last| last.duration_since(SystemTime::UNIX_EPOCH).ok()).map(|time| time.as_secs_f64());
    seconds.map_or_else(|| "no event came yet".to_owned(), |at| format!("the last event came {}", out::local_time(at)))
}

/// Whether a shell finds a program of that name or path.
fn is_program(program: &str) -> bool {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(path).is_file())
}
