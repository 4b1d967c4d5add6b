//! `herma setup --undo`: removes what setups made, except the home with its data.

use herma_agents::installation::{ChangedFile, Installation};
use herma_agents::known::AGENTS;
use herma_agents::programs::installed;
use herma_base::{CliContext, Failure, out, own_file};
use serde_json::json;

use super::hermes::Hermes;
use super::plan::short;
use super::record::SetupRecord;
use super::{Arguments, HERMES};
use crate::daemon;

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let home = &context.place.home;
    let record = SetupRecord::read(home);
    let wanted = AGENTS.into_iter().filter(|agent| arguments.has(agent.name()));
    let removals: Vec<Installation> = wanted
        .filter(|agent| record.agents.contains(agent.name()) || !installed(*agent).is_empty())
        .map(Installation::removal)
        .collect::<Result<_, _>>()?;
    let hermes = Hermes::find(context).filter(|hermes| arguments.has(HERMES) && hermes.plugin().exists());
    let open: Vec<String> = removals.iter().flat_map(Installation::files).map(|file| short(&file.path)).collect();
    let hermes_files = hermes.iter().map(|hermes| format!("{} and config.yaml", short(&hermes.plugin())));
    let open: Vec<String> = open.into_iter().chain(hermes_files).collect();
    if arguments.dry_run {
        return out::show(context.common, &json!({ "dry_run": true, "files": open }), |_| described(&open));
    }
    if !open.is_empty() && !context.common.json {
        out::line(&described(&open))?;
    }
    arguments.confirm(context, "Undo this? [y/N] ", "nothing was changed")?;
    let mut changed: Vec<ChangedFile> = Vec::new();
    for removal in &removals {
        changed.extend(removal.carry_out(home)?);
    }
    let hermes = hermes.map(|hermes| hermes.uninstall()).transpose()?;
    // What was there before is in its place again, so its copies are of no use.
    let backups = record.backups.iter().chain(changed.iter().filter_map(|file| file.backup.as_ref()));
    backups.for_each(|backup| own_file::remove(backup));
    let is_all = arguments.agents.is_empty();
    let stopped = if is_all { daemon::stop_serving(context, 10)? } else { false };
    if is_all {
        SetupRecord::remove(home);
        own_file::remove(&home.join("herma/setup.lock"));
    }
    let result = json!({
        "dry_run": false, "files": changed, "hermes": hermes, "daemon_stopped": stopped, "home": home,
    });
    out::show(context.common, &result, |_| {
        let mut text = match changed.len() {
            0 => "no settings had anything of herma\n".to_owned(),
            count => format!("{} changed back\n", out::count_noun(count, "file", "files")),
        };
        if stopped {
            text.push_str("the daemon is stopped\n");
        }
        text.push_str(&format!(
            "Your memories and conversations stay in {}; remove that folder to forget them.",
            short(home)
        ));
        text
    })
}

fn described(files: &[String]) -> String {
    if files.is_empty() { "nothing to undo".to_owned() } else { format!("changes back: {}", files.join(", ")) }
}
