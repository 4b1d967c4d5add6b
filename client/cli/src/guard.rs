//! `herma guard …`.

mod allow;

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use herma_base::{CliContext, Failure, out};
use herma_client::protocol::guard::{RedactParams, ScanParams, ScanResult, Scope};

/// The kinds of attacks to look for.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum AttackScope {
    /// Attacks in any text
    All,
    /// Attacks in a model's context
    Context,
    /// Attacks in a memory entry
    Strict,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// List what the guard finds in a text
    #[command(
        after_help = "Examples:\n  herma guard scan notes.txt\n  herma guard scan --scope strict --exit-code - < note.txt && herma memory add memory - < note.txt"
    )]
    Scan {
        /// The file with the text; - for standard input
        file: PathBuf,
        /// The kinds of attacks to look for
        #[arg(long, value_enum, default_value = "context")]
        scope: AttackScope,
        /// End with exit code 1 if something is found
        #[arg(long)]
        exit_code: bool,
    },
    /// Print a text with its secrets masked
    Redact {
        /// The file with the text; - for standard input
        file: PathBuf,
        /// The text is source code: keep assignments
        #[arg(long)]
        code: bool,
    },
    /// Allow texts with this finding, with a warning
    #[command(
        after_help = "Every refusal has the finding's name. The setting is written into the configuration (guard.severity), which is read when the daemon starts.\n\nExamples:\n  herma guard allow ssh_access\n  herma guard allow ssh_access --off\n  herma guard block ssh_access"
    )]
    Allow {
        /// The name of the finding
        id: String,
        /// Allow them without a warning
        #[arg(long)]
        off: bool,
    },
    /// Block texts with this finding again
    Block {
        /// The name of the finding
        id: String,
    },
}

pub(super) fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Scan { file, scope, exit_code } => {
            let scope = match scope {
                AttackScope::All => Scope::All,
                AttackScope::Context => Scope::Context,
                AttackScope::Strict => Scope::Strict,
            };
            let params = ScanParams { text: Some(out::read_input(file)?), scope: Some(scope) };
            let result = context.connect()?.guard_scan(params)?;
            out::show(context.common, &result, findings)?;
            if *exit_code && !result.findings.is_empty() { Err(Failure::No) } else { Ok(()) }
        }
        Command::Redact { file, code } => {
            let text = Some(out::read_input(file)?);
            let params = RedactParams { text, force: Some(true), code: Some(*code), ..RedactParams::default() };
            let result = context.connect()?.guard_redact(params)?;
            if context.common.json {
                return out::json(&result);
            }
            out::text(&result.text.unwrap_or_default())
        }
        Command::Allow { id, off } => allow::run(context, id, Some(if *off { "off" } else { "warn" })),
        Command::Block { id } => allow::run(context, id, None),
    }
}

fn findings(result: &ScanResult) -> String {
    if result.findings.is_empty() {
        return "clean".into();
    }
    let lines =
        result.findings.iter().map(|finding| format!("{} at chars {} to {}", finding.id, finding.start, finding.end));
    lines.collect::<Vec<_>>().join("\n")
}
