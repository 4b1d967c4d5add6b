//! Checks which crates of the workspace depend on which.

use std::collections::BTreeMap;
use std::fs;

use crate::folder;

/// The dependencies of each crate within the workspace. A new one needs a decision, which ARCHITECTURE.md explains.
const ARROWS: [(&str, &[&str]); 24] = [
    ("agents", &["base", "client", "json", "proxy", "transcripts"]),
    ("archive", &["json"]),
    ("base", &["client", "disk", "transcripts"]),
    ("cli", &["agents", "base", "client", "json", "mcp", "transcripts", "view"]),
    ("client", &["protocol"]),
    ("context", &["guard", "json"]),
    ("daemon", &["archive", "context", "disk", "endpoint", "guard", "heap", "memory", "protocol", "shared", "spill"]),
    ("disk", &[]),
    ("endpoint", &[]),
    ("examples", &["client"]),
    (
        "fuzz",
        &[
            "agents",
            "archive",
            "cli",
            "context",
            "daemon",
            "guard",
            "json",
            "mcp",
            "memory",
            "protocol",
            "spill",
            "transcripts",
        ],
    ),
    ("guard", &["json"]),
    ("heap", &[]),
    ("herma", &["cli", "daemon"]),
    ("json", &[]),
    ("mcp", &["base", "client", "json"]),
    ("memory", &["disk", "guard"]),
    ("protocol", &["json"]),
    ("proxy", &["endpoint"]),
    ("shared", &["archive", "disk", "memory"]),
    ("spill", &["disk", "json"]),
    ("tests", &["client", "daemon", "protocol"]),
    ("transcripts", &["json"]),
    ("view", &["base", "client"]),
];

/// Returns the folders of the workspace's crates, with `.` for the root.
pub(crate) fn folders() -> Vec<String> {
    let manifest = fs::read_to_string(folder("Cargo.toml")).unwrap();
    let members = manifest.split("members = [").nth(1).unwrap().split(']').next().unwrap();
    let named = members.split(',').map(|name| name.trim().trim_matches('"').to_owned());
    [".".to_owned()].into_iter().chain(named.filter(|name| !name.is_empty())).collect()
}

/// Returns the dependencies of a manifest within the workspace, without those for tests.
fn dependencies(manifest: &str) -> Vec<String> {
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let mut names: Vec<String> = section
        .lines()
        .filter_map(|line| line.strip_prefix("herma-"))
        .map(|line| line.split(['.', ' ', '=']).next().unwrap_or_default().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn crates_depend_on_each_other_as_the_table_says() {
    let found: BTreeMap<String, Vec<String>> = folders()
        .iter()
        .map(|name| {
            let manifest = fs::read_to_string(folder(name).join("Cargo.toml")).unwrap();
            let package = manifest.split("\nname = \"").nth(1).unwrap().split('"').next().unwrap().to_owned();
            (package.trim_start_matches("herma-").to_owned(), dependencies(&manifest))
        })
        .collect();
    let wanted = ARROWS.into_iter().map(|(name, to)| (name.to_owned(), to.iter().map(|to| (*to).to_owned()).collect()));
    assert_eq!(found, wanted.collect());
}
