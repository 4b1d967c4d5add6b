//! `herma setup --undo`: removes what setups made, except the home with its data.

use std::path::{Path, PathBuf};

use herma_agents::agent::Agent;
use herma_agents::installation::{ChangedFile, Installation, PlannedFile};
use herma_agents::known::AGENTS;
use herma_agents::programs::installed;
use herma_base::out::{self, short};
use herma_base::settings_file::{SettingsFile, remove_drafts};
use herma_base::{CliContext, Failure, interrupt, own_file};
use serde_json::json;

use super::hermes::Hermes;
use super::plan::rows;
use super::record::SetupRecord;
use super::{Arguments, HERMES, lock};
use crate::daemon;

/// What an undo would do, and what stands in its way.
struct Undo {
    record: SetupRecord,
    removals: Vec<(&'static dyn Agent, Installation)>,
    hermes: Option<Hermes>,
    /// Agents whose settings can't be changed back, each with the reason.
    problems: Vec<String>,
}

impl Undo {
    fn plan(context: &CliContext<'_>, arguments: &Arguments) -> Result<Self, Failure> {
        let record = SetupRecord::read(&context.place.home);
        let (mut removals, mut problems) = (Vec::new(), Vec::new());
        for agent in AGENTS.into_iter().filter(|agent| arguments.has(agent.name())) {
            if !record.agents.contains(agent.name()) && installed(agent).is_empty() {
                continue;
            }
            match Installation::removal(agent) {
                Ok(removal) => removals.push((agent, removal)),
                Err(Failure::File(words)) => problems.push(words),
                Err(failure) => return Err(failure),
            }
        }
        // An uninstallation that was stopped may have removed the plugin, and not what the configuration says.
        let is_left = |hermes: &Hermes| hermes.plugin().exists() || record.agents.contains(HERMES);
        let hermes = Hermes::find(context).filter(|hermes| arguments.has(HERMES) && is_left(hermes));
        Ok(Self { record, removals, hermes, problems })
    }

    /// Returns the files that get their old content, and those that go.
    fn files(&self) -> (Vec<String>, Vec<String>) {
        let files = self.removals.iter().flat_map(|(_, removal)| removal.files());
        let (gone, back): (Vec<_>, Vec<_>) = files.partition(|file| file.is_removed);
        let named = |files: Vec<PlannedFile>, more: Option<PathBuf>| {
            let paths = files.iter().map(PlannedFile::own_folder).chain(more);
            let mut names: Vec<String> = paths.map(|path| short(&path)).collect();
            names.dedup();
            names
        };
        let config = self.hermes.as_ref().map(Hermes::config);
        (named(back, config), named(gone, self.hermes.as_ref().map(Hermes::plugin)))
    }

    fn text(&self, context: &CliContext<'_>) -> String {
        let (back, gone) = self.files();
        let mut lines = vec![];
        if !back.is_empty() {
            lines.push(("restores", back.join(", ")));
        }
        if !gone.is_empty() {
            lines.push(("removes", gone.join(", ")));
        }
        lines.push(("stops", "the daemon".to_owned()));
        lines.push(("stays", format!("{}, with your memories and conversations", short(&context.place.home))));
        let mut text = rows(&lines);
        self.problems.iter().for_each(|words| text.push_str(&format!("left out: {words}\n")));
        text.truncate(text.trim_end().len());
        text
    }
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let home = &context.place.home;
    let undo = Undo::plan(context, arguments)?;
    let (back, gone) = undo.files();
    if arguments.dry_run {
        let shown = json!({ "dry_run": true, "restores": back, "removes": gone, "problems": undo.problems });
        return out::show(context.common, &shown, |_| undo.text(context));
    }
    if !context.common.json {
        out::line(&undo.text(context))?;
    }
    arguments.confirm(context, "Undo this? [y/N] ", "nothing was changed", || None)?;
    // A home that nothing was set up in is not made for this.
    let _lock = home.join("herma").is_dir().then(|| lock(context)).transpose()?;
    interrupt::say("stopped. Give `herma setup --undo` again to go on");
    let undo = Undo::plan(context, arguments)?;
    let (mut changed, mut problems): (Vec<ChangedFile>, _) = (Vec::new(), undo.problems.clone());
    let mut record = undo.record;
    for (agent, removal) in &undo.removals {
        let mut before = |path: &Path, text: &str| record.plan_temporary(home, path, text);
        let (files, undone) = removal.carry_out(home, &mut before);
        changed.extend(files);
        match undone {
            Ok(()) => drop(record.agents.remove(agent.name())),
            Err(Failure::File(words)) => problems.push(words),
            Err(failure) => return Err(failure),
        }
    }
    let mut hermes = None;
    if let Some(found) = &undo.hermes {
        let config = SettingsFile::read(&found.config());
        if let Some((path, text)) = config.ok().and_then(|file| Some((file.planned_copy()?, file.text))) {
            record.plan_temporary(home, &path, &text)?;
        }
        found.config().parent().into_iter().for_each(remove_drafts);
        match found.uninstall() {
            Ok(done) => {
                record.agents.remove(HERMES);
                changed.push(ChangedFile { path: found.config(), backup: Hermes::backup(&done) });
                hermes = Some(done);
            }
            Err(Failure::File(words)) => problems.push(words),
            Err(failure) => return Err(failure),
        }
    }
    // What was there before is in its place again, so its copies are of no use. Those of a file that could not be changed
    // back are what its owner may need.
    changed.iter().filter_map(|file| file.backup.as_deref()).for_each(own_file::remove);
    record.remove_temporary();
    record.remove_backups(|path| changed.iter().any(|file| file.path == path));
    let is_all = arguments.agents.is_empty();
    let stopped = if is_all { daemon::stop_serving(context, 10)? } else { false };
    if is_all && problems.is_empty() {
        SetupRecord::remove(home);
    } else if home.join("herma").is_dir() {
        record.write(home)?;
    }
    let result = json!({
        "dry_run": false, "files": changed, "hermes": hermes, "daemon_stopped": stopped, "home": home,
        "problems": problems,
    });
    out::show(context.common, &result, |_| {
        let mut text = match changed.len() {
            0 => "no settings had anything of herma\n".to_owned(),
            count => format!("undone: {}\n", out::count_noun(count, "file", "files")),
        };
        if stopped {
            text.push_str("the daemon is stopped\n");
        }
        for words in &problems {
            text.push_str(&format!("failed: {words}\n"));
        }
        for backup in record.backups.keys() {
            text.push_str(&format!("as it was before the setup: {}\n", short(backup)));
        }
        let home = short(home);
        text.push_str(&format!("Your memories and conversations stay in {home}; remove that folder to forget them."));
        text
    })?;
    if problems.is_empty() { Ok(()) } else { Err(Failure::No) }
}
