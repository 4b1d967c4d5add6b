//! The agent's `config.yaml`: compares it with the settings of herma, and writes or removes them.

use std::path::PathBuf;

use herma_base::settings_file::{SettingsFile, diff};
use herma_base::{CliContext, Failure, out};
use serde::Serialize;
use serde_json::Value;

use super::needs::{Need, Parts, needed, unneeded};
use super::undo::{Before, Copies};
use super::yaml::{self, Edit};

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
    settle(&config, &unneeded(|section, key| copies.replaced(section, key, "herma")), is_writing.then_some(&change))
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
