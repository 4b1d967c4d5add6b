//! Checks the hooks of agents: whether their program exists, whether their events come, and what was kept of them.

use herma_base::CliContext;

use super::Finding;
use crate::{capture, setup};

/// Checks each agent that has hooks of herma or sent an event.
pub(super) fn look(context: &CliContext<'_>, findings: &mut Vec<Finding>) {
    let captures = capture::all(context);
    if captures.is_empty() {
        findings.push(Finding::ok("agents", "none has hooks of herma; `herma setup` looks for agents"));
    }
    for name in setup::unfinished(&context.place.home) {
        let words = format!("the import of the sessions of {name} was stopped");
        findings.push(Finding::warning("import", words, "herma setup goes on"));
    }
    for capture in captures {
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
