//! `herma hooks install`.

use std::io::IsTerminal;

use herma_base::{CliContext, Failure, out};

use super::Target;
use crate::agent::Trust;
use crate::lasting;
use crate::programs;
use crate::settings::edit::{Edit, EditResult};
use crate::settings::wanted::{HermaEntries, Scope};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Shows the changes first, and asks on a terminal. The rest of each file stays as it is, and a copy is kept\nnext to it. Running it again changes nothing.\n\nExamples:\n  herma hooks install claude-code --dry-run\n  herma hooks install claude-code --yes\n  herma hooks install codex --yes --trust"
)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    confirm: ConfirmMode,
    /// Don't answer compactions; the agent compacts with its own summaries
    #[arg(long)]
    no_plugin: bool,
    /// Codex: save that you trust these hooks, instead of trusting them with /hooks
    #[arg(long)]
    trust: bool,
}

// Whether the command asks for confirmation, or only shows what it would do.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct ConfirmMode {
    /// Only show what would be written
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Don't ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let wanted = HermaEntries::of(context, !arguments.no_plugin)?;
    let (agent, scope) = (arguments.target.agent, arguments.target.scope());
    let edits = agent.edits(scope, Some(&wanted))?;
    let trust = agent.trust();
    let wanted_trust = trust.filter(|_| arguments.trust && !arguments.confirm.dry_run);
    if let Some(trust) = wanted_trust {
        // Only the agent knows the hashes of the hooks, so nothing is written if it doesn't answer.
        trust.ask().map_err(|words| Failure::File(format!("{words}; nothing was written")))?;
    }
    if !arguments.confirm.dry_run {
        lasting::keep(&context.place.home)?;
    }
    let mut done = carry_out(context, &edits, arguments.confirm)?;
    if let Some(trust) = wanted_trust {
        done.extend(trusted(trust, scope, &done)?);
    }
    report(context, &done, arguments.confirm.dry_run)?;
    if context.common.json {
        return Ok(());
    }
    if !arguments.confirm.dry_run && !done.is_empty() {
        let agent = agent.name();
        out::line(&format!(
            "Sessions that begin from now on have the hooks; `herma hooks status {agent}` says when an event came."
        ))?;
    }
    if scope == Scope::Project && !programs::installed(agent).is_empty() {
        agent.advice_for_profiles().map_or(Ok(()), out::line)?;
    }
    match trust {
        Some(trust) if !arguments.trust => out::line(trust.advice()),
        _ => Ok(()),
    }
}

/// Writes the trust of the hooks. An error lists the files that were already written.
fn trusted(trust: &dyn Trust, scope: Scope, done: &[EditResult]) -> Result<Option<EditResult>, Failure> {
    let written = |failure: Failure| {
        let Failure::File(words) = failure else { return failure };
        let paths: Vec<String> = done.iter().map(|done| done.path.display().to_string()).collect();
        let paths = if paths.is_empty() { "nothing".to_owned() } else { paths.join(", ") };
        Failure::File(format!("{words}; written was {paths}, and none of it is trusted yet. {}", trust.advice()))
    };
    let trust = trust.edit(scope).map_err(written)?;
    (!trust.is_done()).then(|| trust.write().map_err(written)).transpose()
}

/// Shows the edits, asks for confirmation, and makes them.
pub(super) fn carry_out(
    context: &CliContext<'_>,
    edits: &[Edit],
    confirm: ConfirmMode,
) -> Result<Vec<EditResult>, Failure> {
    let open: Vec<EditResult> = edits.iter().filter(|edit| !edit.is_done()).map(Edit::shown).collect();
    if confirm.dry_run || open.is_empty() {
        return Ok(open);
    }
    if !confirm.yes {
        for change in &open {
            out::error(&format!("{}\n{}", change.path.display(), change.diff));
        }
        let is_asked = !context.common.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if !is_asked {
            return Err(Failure::File("nothing was written; use --yes to write or --dry-run to preview".into()));
        }
        if !out::confirm("Write this? [y/N] ", &mut std::io::stdin().lock(), &mut std::io::stderr()) {
            return Err(Failure::File("nothing was written".into()));
        }
    }
    edits.iter().filter(|edit| !edit.is_done()).map(Edit::write).collect()
}

/// Prints the edits that were made, or that would be made.
pub(super) fn report(context: &CliContext<'_>, done: &[EditResult], is_dry: bool) -> Result<(), Failure> {
    out::show(context.common, &serde_json::json!({ "dry_run": is_dry, "files": done }), |_| {
        if done.is_empty() {
            return "nothing to do: everything is up to date".to_owned();
        }
        let line = |done: &EditResult| match (&done.backup, is_dry) {
            (_, true) => format!("{}\n{}", done.path.display(), done.diff),
            (Some(backup), _) => format!("written: {} (as it was: {})", done.path.display(), backup.display()),
            (None, _) if done.removed => format!("removed: {}", done.path.display()),
            (None, _) => format!("written: {}", done.path.display()),
        };
        done.iter().map(line).collect::<Vec<_>>().join("\n")
    })
}
