//! `herma setup --undo`: removes what setups made, except the home with its data.

use std::path::{Path, PathBuf};

use herma_agents::agent::Agent;
use herma_agents::installation::{ChangedFile, Installation, PlannedFile};
use herma_agents::known::AGENTS;
use herma_agents::programs::installed;
use herma_base::out::{self, short};
use herma_base::settings_file::remove_drafts;
use herma_base::{CliContext, Failure, interrupt, own_file};
use serde_json::{Value, json};

use super::hermes::Hermes;
use super::plan::rows;
use super::record::SetupRecord;
use super::{Arguments, HERMES, lock};
use crate::daemon;

/// What an undo would do, and what prevents it.
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

    /// Changes the settings back. A file that can't be changed is a problem of its agent alone.
    fn carry_out(self, home: &Path) -> Result<Undone, Failure> {
        let Self { mut record, removals, hermes, mut problems } = self;
        let mut changed = Vec::new();
        for (agent, removal) in &removals {
            let mut before = |path: &Path, text: &str| record.plan_temporary(home, path, text);
            let (files, result) = removal.carry_out(home, &mut before);
            changed.extend(files);
            match result {
                Ok(()) => drop(record.agents.remove(agent.name())),
                Err(Failure::File(words)) => problems.push(words),
                Err(failure) => return Err(failure),
            }
        }
        let mut of_hermes = None;
        if let Some(hermes) = &hermes {
            if let Some((path, text)) = hermes.planned_copy() {
                record.plan_temporary(home, &path, &text)?;
            }
            hermes.config().parent().into_iter().for_each(remove_drafts);
            match hermes.uninstall() {
                Ok(result) => {
                    record.agents.remove(HERMES);
                    changed.push(ChangedFile { path: hermes.config(), backup: Hermes::backup(&result) });
                    of_hermes = Some(result);
                }
                Err(Failure::File(words)) => problems.push(words),
                Err(failure) => return Err(failure),
            }
        }
        Ok(Undone { record, changed, hermes: of_hermes, problems })
    }
}

/// What an undo did.
struct Undone {
    record: SetupRecord,
    changed: Vec<ChangedFile>,
    /// What `herma hermes uninstall` returned.
    hermes: Option<Value>,
    problems: Vec<String>,
}

impl Undone {
    /// Removes the copies of files that have their old content again. Those of a file that could not be changed back are
    /// what its owner may need.
    fn remove_copies(&mut self) {
        self.changed.iter().filter_map(|file| file.backup.as_deref()).for_each(own_file::remove);
        self.record.remove_temporary();
        self.record.remove_backups(|path| self.changed.iter().any(|file| file.path == path));
    }

    fn text(&self, home: &Path, is_stopped: bool) -> String {
        let mut text = match self.changed.len() {
            0 => "no settings had anything of herma\n".to_owned(),
            count => format!("undone: {}\n", out::count_noun(count, "file", "files")),
        };
        if is_stopped {
            text.push_str("the daemon is stopped\n");
        }
        for words in &self.problems {
            text.push_str(&format!("failed: {words}\n"));
        }
        for backup in self.record.backups.keys() {
            text.push_str(&format!("as it was before the setup: {}\n", short(backup)));
        }
        let home = short(home);
        text.push_str(&format!("Your memories and conversations stay in {home}; remove that folder to forget them."));
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
    let mut done = Undo::plan(context, arguments)?.carry_out(home)?;
    done.remove_copies();
    let is_all = arguments.agents.is_empty();
    let stopped = if is_all { daemon::stop_serving(context, 10)? } else { false };
    if is_all && done.problems.is_empty() {
        SetupRecord::remove(home);
    } else if home.join("herma").is_dir() {
        done.record.write(home)?;
    }
    let result = json!({
        "dry_run": false, "files": done.changed, "hermes": done.hermes, "daemon_stopped": stopped, "home": home,
        "problems": done.problems,
    });
    out::show(context.common, &result, |_| done.text(home, stopped))?;
    if done.problems.is_empty() { Ok(()) } else { Err(Failure::No) }
}
