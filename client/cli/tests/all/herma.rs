//! The program `herma`: its version and its help.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;
use std::process::{Command, Output};

fn herma(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_herma")).args(arguments).output().unwrap()
}

#[test]
fn it_prints_its_version() {
    let output = herma(&["--version"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), concat!("herma ", env!("HERMA_VERSION")));
}

#[test]
fn the_version_names_the_commit_of_a_clone() {
    let (version, commit) = env!("HERMA_VERSION").split_once(' ').unwrap_or((env!("HERMA_VERSION"), ""));
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let is_clone = Path::new(root).join(".git").exists() && std::env::var_os("HERMA_COMMIT").is_none();
    if is_clone {
        let git = Command::new("git").args(["-C", root, "rev-parse", "HEAD"]).output().unwrap();
        let head = String::from_utf8(git.stdout).unwrap();
        let short = commit.trim_matches(['(', ')']);
        assert!(short.len() >= 9 && head.starts_with(short), "{commit} of {head}");
    }
}

#[test]
fn it_prints_its_usage() {
    let output = herma(&["--help"]);
    let help = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(help.contains("Usage: herma") && help.contains("memory"), "{help}");
}

#[test]
fn an_unknown_command_ends_it_with_2() {
    let output = herma(&["memorize"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!output.stderr.is_empty() && output.stdout.is_empty());
}
