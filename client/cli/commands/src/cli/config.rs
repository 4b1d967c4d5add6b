//! `herma config …`: what the daemon makes of its configuration. The daemon's own program is
//! asked, so that no second reader of the file can disagree with it.

use std::path::PathBuf;
use std::process::{Command as Process, Stdio};

use clap::Subcommand;
use herma_client::{ClientError, find_daemon};
use serde_json::json;

use super::exit::Failure;
use super::{Session, out};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// Print every value in force, and where it came from
    #[command(
        after_help = "The output is a configuration file that says the same.\n\nExamples:\n  herma config show\n  herma config show --json | jq '.settings[] | select(.source != \"default\")'"
    )]
    Show {
        /// A file to look at instead of the home's own
        file: Option<PathBuf>,
    },
    /// Look for mistakes in the file; exit code 1 when there are any
    Check {
        /// A file to look at instead of the home's own
        file: Option<PathBuf>,
    },
    /// Write a file with every key at its default; one that is there is left alone
    Init,
}

pub(super) fn run(session: &Session<'_>, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Show { file } => {
            let format = if session.common.json { "json" } else { "text" };
            out::text(&ask(session, file.as_ref(), &["--show-config", format])?)
        }
        Command::Check { file } => {
            ask(session, file.as_ref(), &["--check"])?;
            out::show(session.common, &json!({ "ok": true }), |_| "the configuration is in order".into())
        }
        Command::Init => {
            let path = ask(session, None, &["--init-config"])?;
            out::show(session.common, &json!({ "path": path.trim() }), |_| format!("written: {}", path.trim()))
        }
    }
}

/// What the daemon's program says, or its complaint.
pub(super) fn ask(session: &Session<'_>, file: Option<&PathBuf>, arguments: &[&str]) -> Result<String, Failure> {
    let program = find_daemon();
    let mut process = Process::new(&program);
    process.arg("--home").arg(&session.place.home).arg("--socket").arg(&session.place.socket).args(arguments);
    if let Some(file) = file {
        process.arg("--config").arg(file);
    }
    let answer = process
        .stdin(Stdio::null())
        .output()
        .map_err(|error| ClientError::Spawn(format!("{}: {error}", program.display())))?;
    if answer.status.success() {
        return Ok(String::from_utf8_lossy(&answer.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&answer.stderr);
    let words = words.trim();
    Err(Failure::File(words.strip_prefix("hermad: ").unwrap_or(words).to_owned()))
}
