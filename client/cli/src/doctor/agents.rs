//! Checks the hooks of agents: whether their program exists, whether their events come, and what was kept of them.

use herma_base::CliContext;

use super::Finding;
use crate::capture;

/// Checks each agent that has hooks of herma or sent an event.
pub(super) fn look(context: &CliContext<'_>, findings: &mut Vec<Finding>) {
    for capture in capture::all(context) {
        let name = capture.agent;
        let (state, described) = (capture.state(), capture.described());
        findings.push(match &capture.missing_program {
            Some(program) => Finding::error(
                name,
                format!("its hooks start {program}, and there is no such program: nothing of its sessions is kept"),
                format!("herma hooks install {name}"),
            ),
            None if capture.has_hooks && capture.is_dead() => Finding::warning(
                name,
                format!("{state}; {described}"),
                format!("herma hooks status {name}; `herma import {name}` reads what was missed"),
            ),
            None => Finding::ok(name, format!("{state}; {described}")),
        });
    }
}
