//! Checks that the tests named in the threat model of SECURITY.md exist. Contains those that fit nowhere else.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use herma_tests::{Daemon, Home};

/// Collects the names of all functions in the sources below a folder.
fn functions(folder: &Path, found: &mut HashSet<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != "target" {
            functions(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let names = text.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next().map(str::to_owned));
            found.extend(names);
        }
    }
}

#[test]
fn every_line_of_the_threat_model_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = fs::read_to_string(root.join("SECURITY.md")).unwrap();
    let (_, model) = page.split_once("## Threat model").unwrap();
    let (model, _) = model.split_once("\n## ").unwrap();
    let mut known = HashSet::new();
    for folder in ["client", "daemon", "protocol", "tests"] {
        functions(&root.join(folder), &mut known);
    }
    let rows: Vec<&str> = model.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() > 10, "{}", rows.len());
    for row in rows {
        let shown = row.rsplit('|').nth(1).unwrap();
        let names: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test shows: {row}");
        for name in names {
            assert!(known.contains(name), "there is no test {name}");
        }
    }
}

/// Returns the sockets of a process, as Linux numbers them.
fn sockets(pid: u32) -> HashSet<String> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let links = files.filter_map(|file| fs::read_link(file.path()).ok());
    let names = links.filter_map(|link| link.to_str().map(str::to_owned));
    names.filter_map(|name| Some(name.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())).collect()
}

#[test]
fn the_daemon_listens_on_no_port() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    daemon.assert_serves();
    let own = sockets(daemon.pid());
    assert!(!own.is_empty());
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let Ok(text) = fs::read_to_string(format!("/proc/{}/net/{table}", daemon.pid())) else { continue };
        for line in text.lines().skip(1) {
            let number = line.split_whitespace().nth(9).unwrap_or_default();
            assert!(!own.contains(number), "{table}: {line}");
        }
    }
}
