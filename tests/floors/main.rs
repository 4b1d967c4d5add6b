//! Checks the allowed imports between crates, the floors of the daemon, and the modules of every crate.
//!
//! The modules below one parent form a graph in which a subtree counts as one node. The graph must have no cycle. A
//! parent and its own child files may import each other.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod crates;
mod imports;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use imports::{code_of, find_cycle, imports, modules};

/// The floors of the daemon, lowest first.
const FLOORS: [&str; 4] = ["data", "owners", "service", "wire"];

/// Modules of the protocol crate that a lower floor may import: limits, the nearest name, the socket's path, and the
/// report of a compression, which services fill in.
const KNOWN_BELOW: [&str; 4] = ["limits", "nearest", "rendezvous", "context::report"];

/// The daemon's sources.
const DAEMON: &str = "daemon/src";

/// Modules of the command line that start agents or the MCP server, or inspect agents.
const STARTERS: [&str; 9] = [
    "capture",
    "continuation",
    "log",
    "memory::adopt",
    "program",
    "setup",
    "setup::carry_out",
    "setup::plan",
    "setup::undo",
];

/// Modules that may name an agent: its folder, the list of agents, and the proxy, which only Codex has.
const NAMING_AGENTS: [&str; 5] = ["claude_code", "codex", "known", "proxy", "qwen_code"];

#[test]
fn the_floors_of_the_daemon_lead_downward_only() {
    let mut upward = Vec::new();
    for (module, imports) in imports(&folder(DAEMON)) {
        let Some(floor) = floor_of(&module) else { continue };
        for import in imports {
            if floor_of(&import).is_some_and(|other| other > floor) {
                upward.push(format!("{} imports {}", module.join("::"), import.join("::")));
            }
        }
    }
    assert!(upward.is_empty(), "{}", upward.join("\n"));
}

#[test]
fn wire_types_are_known_to_the_wire_alone() {
    let mut wrong = Vec::new();
    for (module, file) in modules(&folder(DAEMON)) {
        if module.first().is_none_or(|floor| floor == "wire" || !FLOORS.contains(&floor.as_str())) {
            continue;
        }
        let text = code_of(&file);
        for part in text.split("herma_protocol").skip(1) {
            let path = part.trim_start_matches("::").trim_start_matches('{');
            if !KNOWN_BELOW.iter().any(|known| path.starts_with(known)) {
                wrong.push(format!("{}: herma_protocol{}", module.join("::"), part.lines().next().unwrap_or_default()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_daemon_knows_engines_by_their_seam_alone() {
    assert_eq!(naming(DAEMON, &["compressor"]), BTreeSet::new());
}

#[test]
fn the_command_line_only_starts_the_other_front_ends() {
    let starters = STARTERS.map(str::to_owned).into_iter().collect();
    assert_eq!(naming("client/cli/src", &["herma_agents", "herma_mcp"]), starters);
}

#[test]
fn only_the_folder_of_an_agent_knows_which_agent_it_is() {
    let naming = naming("client/agents/src", &["ClaudeCode", "codex::Codex", "&Codex", "QwenCode"]);
    let outside: Vec<&String> =
        naming.iter().filter(|module| !NAMING_AGENTS.iter().any(|known| module.starts_with(known))).collect();
    assert!(outside.is_empty(), "{outside:?}");
}

#[test]
fn no_two_modules_of_a_crate_import_each_other() {
    let mut circles = Vec::new();
    for name in crates::folders() {
        let sources = folder(&name).join("src");
        if !sources.exists() {
            continue;
        }
        let imports = imports(&sources);
        let parents: BTreeSet<&[String]> =
            imports.keys().flat_map(|path| (0..path.len()).map(|n| &path[..n])).collect();
        for parent in parents {
            if let Some(circle) = find_cycle(parent, &imports) {
                circles.push(format!("{name}: {}: {}", parent.join("::"), circle.join(" -> ")));
            }
        }
    }
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

/// Returns the modules whose code contains one of the words.
fn naming(sources: &str, words: &[&str]) -> BTreeSet<String> {
    let files = modules(&folder(sources)).into_iter();
    let files = files.filter(|(_, file)| words.iter().any(|word| code_of(file).contains(word)));
    files.map(|(module, _)| module.join("::")).collect()
}

/// Returns a folder of the repository.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(name)
}

fn floor_of(module: &[String]) -> Option<usize> {
    FLOORS.iter().position(|floor| module.first().is_some_and(|first| first == floor))
}
