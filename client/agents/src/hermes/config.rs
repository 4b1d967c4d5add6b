//! The settings in the agent's `config.yaml` that put herma to use, and those to remove at an uninstall.

use std::path::PathBuf;

use herma_base::settings_file::{SettingsFile, diff};
use herma_base::{CliContext, Failure, out};
use serde::Serialize;
use serde_json::Value;

use super::undo::{Before, Copies};
use super::yaml::{self, Edit, Word};

/// One setting that the file must contain, or must not contain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need<'a> {
    /// The setting in one line.
    line: &'static str,
    pub(super) edit: Edit<'a>,
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

impl Parts {
    /// Returns each choice of parts.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..8).map(|bits| Self { provider: bits & 1 > 0, memory: bits & 2 > 0, results: bits & 4 > 0 })
    }
}

/// Returns the settings that the file must contain.
pub(super) fn needed(parts: Parts) -> Vec<Need<'static>> {
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

/// Returns the settings to remove from the file at an uninstall. A word that an install replaced returns.
fn unneeded(copies: &Copies) -> Vec<Need<'_>> {
    let back = |section, key| match copies.replaced(section, key, "herma") {
        Some(word) => Edit::Swap(section, key, "herma", word),
        None => Edit::Drop(section, key, "herma"),
    };
    vec![
        Need { line: "plugins.enabled: [herma]", edit: Edit::Take("plugins", "enabled", "herma") },
        Need { line: "context.engine: herma", edit: back("context", "engine") },
        Need { line: "memory.provider: herma", edit: back("memory", "provider") },
        Need { line: "herma", edit: Edit::DropSection("herma") },
    ]
}

/// Returns whether nothing in the data is of herma.
pub(super) fn is_without_herma(data: &Value) -> bool {
    unneeded(&Copies::default()).iter().all(|need| yaml::is_done(data, &need.edit))
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
    /// The settings that are missing, as YAML.
    #[serde(skip)]
    pub(super) snippet: String,
}

/// One setting of the file, with its state.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    pub(super) line: &'static str,
    pub(super) state: State,
    /// The value that is there instead, or was there before the change.
    #[serde(skip_serializing_if = "Value::is_null")]
    was: Value,
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
}

/// Compares the file with the settings that it must contain. With `is_writing`, also writes the missing ones if possible.
pub(super) fn install(context: &CliContext<'_>, parts: Parts, is_writing: bool) -> Result<ConfigStatus, Failure> {
    let change = |text: &str, edits: &[Edit<'_>]| yaml::edit(text, edits).map(Some);
    settle(&read(context), &needed(parts), is_writing.then_some(&change))
}

/// Looks for settings of herma in the file. With `is_writing`, also gives the file the content from before the install,
/// and removes a file that the install created. If the file changed since then, only herma's settings change.
pub(super) fn uninstall(context: &CliContext<'_>, is_writing: bool) -> Result<ConfigStatus, Failure> {
    let config = read(context);
    let copies = Copies::of(&config.path);
    let change = |text: &str, edits: &[Edit<'_>]| match copies.before(text) {
        Some(Before::Missing) => Ok(None),
        Some(Before::Text(before)) => Ok(Some(before.to_owned())),
        None => yaml::edit(text, edits).map(Some),
    };
    settle(&config, &unneeded(&copies), is_writing.then_some(&change))
}

/// The file, or the reason why it can't be read.
struct Config {
    path: PathBuf,
    file: Result<SettingsFile, String>,
}

fn read(context: &CliContext<'_>) -> Config {
    let path = context.place.home.join("config.yaml");
    let file = SettingsFile::read(&path);
    Config { path: file.as_ref().map_or(path, |file| file.path.clone()), file }
}

/// Compares the file with the needs. With `change`, also writes the text that it returns, or removes the file.
fn settle<F>(config: &Config, needs: &[Need<'_>], change: Option<&F>) -> Result<ConfigStatus, Failure>
where
    F: Fn(&str, &[Edit<'_>]) -> Result<Option<String>, String>,
{
    let data = config.file.as_ref().map_err(Clone::clone).and_then(|file| yaml::parse(&file.text));
    let lines = needs.iter().map(|need| {
        let is_done = data.as_ref().is_ok_and(|data| yaml::is_done(data, &need.edit));
        let was = match (&data, need.edit) {
            (Ok(data), Edit::Set(section, key, _)) if !is_done => data[section][key].clone(),
            _ => Value::Null,
        };
        Line { line: need.line, state: if is_done { State::Done } else { State::Open }, was }
    });
    let mut status = ConfigStatus {
        path: config.path.clone(),
        lines: lines.collect(),
        changes: None,
        backup: None,
        refused: data.err(),
        snippet: String::new(),
    };
    if let (Ok(file), Some(change), true, None) = (&config.file, change, status.is_open(), &status.refused) {
        let edits: Vec<Edit<'_>> = needs.iter().map(|need| need.edit).collect();
        match change(&file.text, &edits) {
            Ok(text) => {
                match &text {
                    Some(text) => status.backup = file.write(text)?,
                    None => file.remove()?,
                }
                status.changes = Some(diff(&file.text, text.as_deref().unwrap_or_default()));
                let open = status.lines.iter_mut().filter(|line| line.state == State::Open);
                open.for_each(|line| line.state = State::Written);
            }
            Err(words) => status.refused = Some(words),
        }
    }
    let open = needs.iter().zip(&status.lines).filter(|(_, line)| line.state == State::Open).map(|(need, _)| need.edit);
    let missing: Vec<Edit<'_>> = open.filter(|edit| matches!(edit, Edit::Set(..) | Edit::Add(..))).collect();
    status.snippet = yaml::edit("", &missing).unwrap_or_default();
    Ok(status)
}
