//! What the agent's `config.yaml` must say for herma to be in use, or must not say any more.

use std::path::PathBuf;

use herma_base::settings_file::{SettingsFile, diff};
use herma_base::{CliContext, Failure, out};
use serde::Serialize;
use serde_json::Value;

use super::yaml::{self, Edit, Word};

/// One thing that the file must say, or must not say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    /// The thing in one line.
    line: &'static str,
    edit: Edit,
}

// Parts of herma that an agent uses only on request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::Args)]
pub(super) struct Parts {
    /// Have herma be the memory provider, too
    #[arg(long)]
    provider: bool,
    /// Have herma take the place of the agent's own memory tool, too
    #[arg(long)]
    memory: bool,
    /// Have herma keep large results of tools, too
    #[arg(long)]
    results: bool,
}

/// What belongs into the file.
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

/// What comes out of the file when herma goes.
pub(super) fn unneeded() -> Vec<Need> {
    vec![
        Need { line: "plugins.enabled: [herma]", edit: Edit::Take("plugins", "enabled", "herma") },
        Need { line: "context.engine: herma", edit: Edit::Drop("context", "engine", "herma") },
        Need { line: "memory.provider: herma", edit: Edit::Drop("memory", "provider", "herma") },
        Need { line: "herma", edit: Edit::DropSection("herma") },
    ]
}

/// How the file stands to what it must say.
#[derive(Debug, Serialize)]
pub(super) struct Told {
    pub(super) path: PathBuf,
    pub(super) lines: Vec<Line>,
    /// What was written, as lines with - and +; nothing where nothing was.
    pub(super) changes: Option<String>,
    /// The file as it was before.
    pub(super) backup: Option<PathBuf>,
    /// Why it could not be read, or not be changed.
    pub(super) refused: Option<String>,
}

/// One thing that the file must say, or must not say.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    pub(super) line: &'static str,
    pub(super) state: State,
    /// What stands there instead, or stood before it was changed.
    #[serde(skip_serializing_if = "Value::is_null")]
    was: Value,
    #[serde(skip)]
    pub(super) edit: Edit,
}

/// Whether the file is as it must be in one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// It was so before.
    Done,
    /// It is not, or nobody knows.
    Open,
    /// It was made so.
    Written,
}

impl Told {
    /// Whether something is left to do by hand.
    pub(super) fn is_open(&self) -> bool {
        self.lines.iter().any(|line| line.state == State::Open)
    }

    /// Rows for people, with a word for each state.
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

    /// The open things that have to be put in, as YAML.
    pub(super) fn snippet(&self) -> String {
        let open = self.lines.iter().filter(|line| line.state == State::Open && !matches!(line.edit, Edit::Take(..)));
        let edits: Vec<Edit> = open.map(|line| line.edit).collect();
        yaml::edit("", &edits).unwrap_or_default()
    }
}

/// Looks at the file; with `is_writing` what is missing is written, if that is possible.
pub(super) fn settle(context: &CliContext<'_>, needs: &[Need], is_writing: bool) -> Result<Told, Failure> {
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
    let mut told = Told { path, lines: lines.collect(), changes: None, backup: None, refused: data.err() };
    if let (Ok(file), true, true, None) = (&file, is_writing, told.is_open(), &told.refused) {
        let edits: Vec<Edit> = needs.iter().map(|need| need.edit).collect();
        match yaml::edit(&file.text, &edits) {
            Ok(text) => {
                told.backup = file.write(&text)?;
                told.changes = Some(diff(&file.text, &text));
                let open = told.lines.iter_mut().filter(|line| line.state == State::Open);
                open.for_each(|line| line.state = State::Written);
            }
            Err(words) => told.refused = Some(words),
        }
    }
    Ok(told)
}
