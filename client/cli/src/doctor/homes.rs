//! Checks whether another home of the user has data of herma, too.

use std::path::Path;

use herma_client::protocol::rendezvous::{DATA, usual_homes};

use super::{Finding, word};

/// Warns of data in another of the usual homes. Agents that use it have another memory than those that use this one.
pub(super) fn look(home: &Path, findings: &mut Vec<Finding>) {
    let others = usual_homes(|name| std::env::var_os(name)).into_iter().flatten();
    let is_same = |other: &Path| {
        std::fs::canonicalize(other).is_ok_and(|other| std::fs::canonicalize(home).is_ok_and(|home| home == other))
    };
    for other in others.filter(|other| other.join(DATA).is_dir() && !is_same(other)) {
        findings.push(Finding::warning(
            "home",
            format!("{} has data of herma, too, and is another memory than {}", other.display(), home.display()),
            format!("herma --home {} status; HERMA_HOME chooses one for all programs", word(&other)),
        ));
    }
}
