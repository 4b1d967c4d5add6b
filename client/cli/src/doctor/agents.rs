//! Checks the hooks of agents: whether their program exists, and the time of the last event.

use std::path::Path;
use std::time::SystemTime;

use herma_agents::hook;
use herma_agents::known::AGENTS;
use herma_agents::programs::{installed, missing};
use herma_base::out;

use super::Finding;

/// Checks each agent that has hooks of herma or sent an event.
pub(super) fn look(home: &Path, findings: &mut Vec<Finding>) {
    for agent in AGENTS {
        let name = agent.name();
        let programs = installed(agent);
        let last = hook::last_event(home, agent);
        if programs.is_empty() && last.is_none() {
            continue;
        }
        findings.push(match (missing(agent), &last) {
            (Some(program), _) => Finding::error(
                name,
                format!("its hooks start {program}, and there is no such program: nothing of its sessions is kept"),
                format!("herma hooks install {name}"),
            ),
            (None, _) if programs.is_empty() => Finding::ok(name, format!("no hooks; {}", described(last.as_ref()))),
            (None, _) => Finding::ok(name, format!("hooks are installed; {}", described(last.as_ref()))),
        });
    }
}

/// Describes the time of the last event.
fn described(last: Option<&SystemTime>) -> String {
    let seconds = last.and_then(|last| last.duration_since(SystemTime::UNIX_EPOCH).ok()).map(|time| time.as_secs_f64());
    seconds.map_or_else(|| "no event came yet".to_owned(), |at| format!("the last event came {}", out::local_time(at)))
}
