//! `herma config …`: the daemon's view of its configuration. The daemon's own program reads the file, so a second
//! parser can't disagree with it.

use std::ffi::OsStr;
use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::{Command as Process, Stdio};

use clap::Subcommand;
use herma_base::{CliContext, Failure, out, owner};
use herma_client::{ClientError, find_daemon};
use serde_json::json;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// Print every value in force, and its source
    #[command(
        after_help = "The output is a configuration file that says the same.\n\nExamples:\n  herma config show\n  herma config show --json | jq '.settings[] | select(.source != \"default\")'"
    )]
    Show {
        /// A file to read instead of the home's own
        file: Option<PathBuf>,
    },
    /// Check the file for mistakes; exit code 1 if there are any
    Check {
        /// A file to read instead of the home's own
        file: Option<PathBuf>,
    },
    /// Write a file with every key at its default; an existing file stays as it is
    Init,
}

pub(super) fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Show { file } => {
            let format = if context.common.json { "json" } else { "text" };
            out::text(&ask(context, file.as_ref(), &["--show-config", format])?)
        }
        Command::Check { file } => {
            ask(context, file.as_ref(), &["--check"])?;
            out::show(context.common, &json!({ "ok": true }), |_| "the configuration is in order".into())
        }
        Command::Init => {
            owner::check(&context.place.home)?;
            let path = ask(context, None, &["--init-config"])?;
            out::show(context.common, &json!({ "path": path.trim() }), |_| format!("written: {}", path.trim()))
        }
    }
}

/// Returns the output of the daemon's program, or its error message.
pub(super) fn ask(context: &CliContext<'_>, file: Option<&PathBuf>, arguments: &[&str]) -> Result<String, Failure> {
    let file = file.map(|file| ["--config".as_ref(), file.as_os_str()]);
    let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).chain(file.into_iter().flatten()).collect();
    run_daemon(context, &arguments, Stdio::null(), Stdio::piped())
}

/// Runs the daemon's program to its end. Returns its output if `output` is a pipe, or its error message.
pub(super) fn run_daemon(
    context: &CliContext<'_>,
    arguments: &[impl AsRef<OsStr>],
    input: Stdio,
    output: Stdio,
) -> Result<String, Failure> {
    let program = find_daemon();
    let failed = |error: std::io::Error| ClientError::Spawn(format!("{}: {error}", program.display()));
    let mut child = Process::new(&program)
        .arg("--home")
        .arg(&context.place.home)
        .arg("--socket")
        .arg(&context.place.socket)
        .args(arguments)
        .stdin(input)
        .stdout(output)
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let words = child.stderr.take().map(|words| std::thread::spawn(|| complaint(words)));
    let answer = child.wait_with_output().map_err(failed)?;
    let words = words.and_then(|words| words.join().ok()).unwrap_or_default();
    if answer.status.success() {
        return Ok(String::from_utf8_lossy(&answer.stdout).into_owned());
    }
    let words = words.trim();
    Err(Failure::File(words.strip_prefix("hermad: ").unwrap_or(words).to_owned()))
}

/// Returns the error message of a program. Its progress lines, which begin with a carriage return, go to the terminal.
fn complaint(mut said: impl Read) -> String {
    let (mut words, mut bytes, mut out) = (Vec::new(), [0; 4096], std::io::stderr());
    let (is_seen, mut is_progress) = (out.is_terminal(), false);
    while let Ok(count @ 1..) = said.read(&mut bytes) {
        let mut progress = Vec::new();
        for byte in bytes.iter().take(count) {
            is_progress |= *byte == b'\r';
            if is_progress {
                progress.push(*byte)
            } else {
                words.push(*byte)
            }
            is_progress &= *byte != b'\n';
        }
        if is_seen {
            // The terminal may be closed.
            drop(out.write_all(&progress));
        }
    }
    String::from_utf8_lossy(&words).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_it_is_is_no_complaint() {
        for (said, words) in [
            ("hermad: no", "hermad: no"),
            ("\r10000 rows\r20000 rows\r\nhermad: no", "hermad: no"),
            ("\r10000 rows", ""),
            ("", ""),
        ] {
            assert_eq!(complaint(said.as_bytes()), words);
        }
    }
}
