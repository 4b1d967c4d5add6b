//! Runs Python programs that work on the same files, as Hermes does.

use std::process::{Child, Command, Stdio};

/// Starts a script with arguments. The caller can read its output.
///
/// # Panics
/// There is no Python.
#[must_use]
pub fn start(script: &str, arguments: &[&str]) -> Child {
    let mut command = Command::new("python3");
    command.arg("-c").arg(script).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

/// Runs a script to its end and returns its output.
///
/// # Panics
/// The script fails.
#[must_use]
pub fn run(script: &str, arguments: &[&str]) -> String {
    let output = start(script, arguments).wait_with_output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    String::from_utf8(output.stdout).unwrap()
}
