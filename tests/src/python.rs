//! Other programs that work on the same files: Python, as Hermes is.

use std::process::{Child, Command, Stdio};

/// Starts a script with arguments; its output can be read.
///
/// # Panics
/// There is no Python.
#[must_use]
pub fn start(script: &str, arguments: &[&str]) -> Child {
    let mut command = Command::new("python3");
    command.arg("-c").arg(script).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

/// Runs a script to its end and gives back what it printed.
///
/// # Panics
/// It fails.
#[must_use]
pub fn run(script: &str, arguments: &[&str]) -> String {
    let output = start(script, arguments).wait_with_output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    String::from_utf8(output.stdout).unwrap()
}
