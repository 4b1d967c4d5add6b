//! The settings in the agent's `config.yaml` that put herma to use, and those to remove at an uninstall.

use std::path::PathBuf;

use herma_base::settings_file::{SettingsFile, diff};
use herma_base::{CliContext, Failure, out};
use serde::Serialize;
use serde_json::Value;

use super::yaml::{self, Edit, Word};

/// One setting that the file must contain, or must not contain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    /// The setting in one line.
    line: &'static str,
    edit: Edit,
}

// Parts of herma that an agent uses only on request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::Args)]
pub(super) struct Parts {
    /// Make herma the memory provider as well
    #[arg(long)]
    provider: bool,
    /// Replace the agent's own memory tool with herma as well
    #[arg(long)]
    memory: bool,
    /// Let herma keep large tool results as well
    #[arg(long)]
    results: bool,
}

/// Returns the settings that the file must contain.
pub(super) fn needed(parts: Parts) -> Vec<Need> {
    let herma = Word::Text("herma");
    let need = |line, edit, is_wanted: bool| is_wanted.then_some(Need { line, edit });
    [
        need("plugins.disabled: without herma", Edit::Take("plugins", "disabled", "herma"), true),
        need("plugins.enabled: [herma]", Edit::Add("plugins", "enabled", "herma"), true),
        need("context.engine: herma", Edit::Set("context", "engine", herma), true),
        need("memory.provider: herma", Edit::Set("memory", "provider", herma), parts.provider),
        need("herma.memory: true", Edit::Set("herma", "memory", Word::True), parts.memory),
        need("herma.results: true", Edit::Set("herma", "results", Word::True), parts.results),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the settings to remove from the file at an uninstall.
pub(super) fn unneeded() -> Vec<Need> {
    vec![
        Need { line: "plugins.enabled: [herma]", edit: Edit::Take("plugins", "enabled", "herma") },
        Need { line: "context.engine: herma", edit: Edit::Drop("context", "engine", "herma") },
        Need { line: "memory.provider: herma", edit: Edit::Drop("memory", "provider", "herma") },
        Need { line: "herma", edit: Edit::DropSection("herma") },
    ]
}

/// The file compared with the needed settings.
#[derive(Debug, Serialize)]
pub(super) struct ConfigStatus {
    pub(super) path: PathBuf,
    pub(super) lines: Vec<Line>,
    /// The changes that were written, as lines with - and +. `None` if nothing was written.
    pub(super) changes: Option<String>,
    /// The path of the copy of the old file.
    pub(super) backup: Option<PathBuf>,
    /// The reason why the file could not be read or changed.
    pub(super) refused: Option<String>,
}

/// One setting of the file, with its state.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    pub(super) line: &'static str,
    pub(super) state: State,
    /// The value that is there instead, or was there before the change.
    #[serde(skip_serializing_if = "Value::is_null")]
    was: Value,
    #[serde(skip)]
    pub(super) edit: Edit,
}

/// Whether a setting is as it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// It already was as it must be.
    Done,
    /// It is not as it must be, or the file can't be read.
    Open,
    /// It was changed.
    Written,
}

impl ConfigStatus {
    /// Returns whether changes are left to make by hand.
    pub(super) fn is_open(&self) -> bool {
        self.lines.iter().any(|line| line.state == State::Open)
    }

    /// Returns rows for people, with a word for each state.
    pub(super) fn rows(&self, word: impl Fn(State) -> &'static str) -> String {
        let rows = self.lines.iter().map(|line| {
            let was = match &line.was {
                Value::Null => String::new(),
                Value::String(text) if text.is_empty() => "  (it is empty)".to_owned(),
                value => format!("  (it {} {value})", if line.state == State::Open { "is" } else { "was" }),
            };
            (word(line.state), format!("{}{was}", line.line))
        });
        let mut text = out::columns(&rows.collect::<Vec<_>>());
        if let Some(words) = &self.refused {
            text.push_str(&format!("it can't be changed by herma: {words}\n"));
        }
        if let (Some(changes), backup) = (&self.changes, &self.backup) {
            let kept = backup.as_ref().map(|path| format!("  (before: {})", path.display())).unwrap_or_default();
            text.push_str(&format!("written: {}{kept}\n{changes}", self.path.display()));
        }
        text
    }

    /// Returns the settings that are still missing, as YAML.
    pub(super) fn snippet(&self) -> String {
        let open = self.lines.iter().filter(|line| line.state == State::Open && !matches!(line.edit, Edit::Take(..)));
        let edits: Vec<Edit> = open.map(|line| line.edit).collect();
        yaml::edit("", &edits).unwrap_or_default()
    }
}

/// Compares the file with the needed settings. With `is_writing`, also writes the missing ones if possible.
pub(super) fn settle(context: &CliContext<'_>, needs: &[Need], is_writing: bool) -> Result<ConfigStatus, Failure> {
    let file = SettingsFile::read(&context.place.home.join("config.yaml"));
    let (path, data) = match &file {
        Ok(file) => (file.path.clone(), yaml::parse(&file.text)),
        Err(words) => (context.place.home.join("config.yaml"), Err(words.clone())),
    };
    let lines = needs.iter().map(|need| {
        let is_done = data.as_ref().is_ok_and(|data| yaml::is_done(data, &need.edit));
        let was = match (&data, need.edit) {
            (Ok(data), Edit::Set(section, key, _)) if !is_done => data[section][key].clone(),
            _ => Value::Null,
        };
        Line { line: need.line, state: if is_done { State::Done } else { State::Open }, was, edit: need.edit }
    });
    let mut status = ConfigStatus { path, lines: lines.collect(), changes: None, backup: None, refused: data.err() };
    if let (Ok(file), true, true, None) = (&file, is_writing, status.is_open(), &status.refused) {
        let edits: Vec<Edit> = needs.iter().map(|need| need.edit).collect();
        match yaml::edit(&file.text, &edits) {
            Ok(text) => {
                status.backup = file.write(&text)?;
                status.changes = Some(diff(&file.text, &text));
                let open = status.lines.iter_mut().filter(|line| line.state == State::Open);
                open.for_each(|line| line.state = State::Written);
            }
            Err(words) => status.refused = Some(words),
        }
    }
    Ok(status)
}
