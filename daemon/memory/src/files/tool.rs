//! The tool `memory_20250818`: its six commands, and its answers in the forms of its documentation and of its
//! reference implementation.

use std::fmt::Write;

use herma_guard::{Policy, Scope};
use serde_json::{Map, Value};

use super::edit::{Done, Edit};
use super::file_set::{Files, Place};
use super::path::FilePath;
use super::refusal::FileRefusal;

/// Maximum number of lines that the answer to `view` can number.
const MOST_LINES: usize = 999_999;

/// Width of a line number, in columns.
const WIDTH: usize = 6;

/// Lines shown before and after a change.
const AROUND: usize = 2;

/// Levels of folders that a listing shows.
const LEVELS: usize = 2;

/// A command of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// View a file or folder.
    View {
        /// The path.
        path: FilePath,
        /// First and last line, from 1. A last line of -1 means the end.
        range: Option<(i64, i64)>,
    },
    /// Edit the files.
    Edit(Edit),
}

/// Parses the arguments of a model, as JSON.
///
/// # Errors
/// The arguments are invalid.
pub fn read(arguments: &str) -> Result<Command, FileRefusal> {
    let wrong = |words: String| FileRefusal::Arguments(words);
    let arguments = match serde_json::from_str(arguments) {
        Ok(Value::Object(arguments)) => Arguments(arguments),
        Ok(_) => return Err(wrong("The arguments must be an object with a `command`".into())),
        Err(error) => return Err(wrong(format!("The arguments are no JSON: {error}"))),
    };
    let command = arguments.text("command", "every call")?;
    let path = |name: &str| Ok::<_, FileRefusal>(FilePath::parse(&arguments.text(name, &command)?)?);
    let text = |name: &str| arguments.text(name, &command);
    Ok(match &*command {
        "view" => Command::View { path: path("path")?, range: arguments.range()? },
        "create" => Command::Edit(Edit::Create { path: path("path")?, text: text("file_text")? }),
        "str_replace" => {
            let (path, old) = (path("path")?, text("old_str")?);
            Command::Edit(Edit::StrReplace { path, old, new: arguments.replacement()? })
        }
        "insert" => {
            let (path, line, text) = (path("path")?, arguments.line("insert_line")?, text("insert_text")?);
            Command::Edit(Edit::Insert { path, line, text })
        }
        "delete" => Command::Edit(Edit::Delete { path: path("path")? }),
        "rename" => Command::Edit(Edit::Rename { from: path("old_path")?, to: path("new_path")? }),
        other => {
            let shown: String = other.chars().take(60).collect();
            return Err(wrong(format!(
                "There is no command `{shown}`; known are view, create, str_replace, insert, delete and rename"
            )));
        }
    })
}

/// The arguments of a call. Any of them may be missing or have the wrong type.
struct Arguments(Map<String, Value>);

impl Arguments {
    fn text(&self, name: &str, of: &str) -> Result<String, FileRefusal> {
        match self.0.get(name) {
            Some(Value::String(text)) => Ok(text.clone()),
            None | Some(Value::Null) => Err(missing(name, of)),
            Some(_) => Err(FileRefusal::Arguments(format!("`{name}` must be a text"))),
        }
    }

    /// Returns the replacement text. Models omit it to delete a text.
    fn replacement(&self) -> Result<String, FileRefusal> {
        match self.0.get("new_str") {
            None | Some(Value::Null) => Ok(String::new()),
            Some(_) => self.text("new_str", "str_replace"),
        }
    }

    fn line(&self, name: &str) -> Result<i64, FileRefusal> {
        match self.0.get(name) {
            None | Some(Value::Null) => Err(missing(name, "insert")),
            Some(value) => value
                .as_i64()
                .ok_or_else(|| FileRefusal::Arguments(format!("`{name}` must be a whole number, from 0 on"))),
        }
    }

    fn range(&self) -> Result<Option<(i64, i64)>, FileRefusal> {
        let wrong = || FileRefusal::Arguments("`view_range` must be two whole numbers: [first, last]".into());
        match self.0.get("view_range") {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(numbers)) if numbers.is_empty() => Ok(None),
            Some(Value::Array(numbers)) => match &numbers[..] {
                [from, to] => Ok(Some((from.as_i64().ok_or_else(wrong)?, to.as_i64().ok_or_else(wrong)?))),
                _ => Err(wrong()),
            },
            Some(_) => Err(wrong()),
        }
    }
}

fn missing(name: &str, of: &str) -> FileRefusal {
    FileRefusal::Arguments(format!("`{name}` is missing; {of} needs it"))
}

/// Returns the answer to a model about a change.
#[must_use]
pub fn change_message(done: &Done) -> String {
    match done {
        Done::Created(path) => format!("File created successfully at: {path}"),
        Done::Written(path) | Done::Inserted(path) => format!("The file {path} has been edited."),
        Done::Replaced { text, line, .. } => format!(
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{}",
            snippet(text, *line)
        ),
        Done::Deleted(path) => format!("Successfully deleted {path}"),
        Done::Renamed { from, to } => format!("Successfully renamed {from} to {to}"),
        Done::PutBack(revision) => format!("The files are as they were at revision {revision}."),
    }
}

fn snippet(text: &str, line: usize) -> String {
    let first = line.saturating_sub(AROUND);
    numbered(text.split('\n').enumerate().skip(first).take(line + AROUND + 1 - first))
}

/// Returns the view of a file or folder for a model.
///
/// # Errors
/// The reason why the model sees nothing.
pub fn view(files: &Files, path: &FilePath, range: Option<(i64, i64)>, policy: &Policy) -> Result<String, FileRefusal> {
    match files.at(path) {
        Place::Nothing => Err(FileRefusal::NotThere(path.clone())),
        Place::Ignored(why) => Err(FileRefusal::Ignored { path: path.clone(), why: why.to_owned() }),
        Place::Folder => Ok(listing(files, path, policy)),
        Place::File(file) => {
            let ids = policy.blocks(&file.text, Scope::Strict);
            if !ids.is_empty() {
                let ids = ids.into_iter().map(|id| id.to_string()).collect();
                return Err(FileRefusal::NotShown { path: path.clone(), ids });
            }
            lines(&file.text, path, range)
        }
    }
}

fn lines(text: &str, path: &FilePath, range: Option<(i64, i64)>) -> Result<String, FileRefusal> {
    let count = text.split('\n').count();
    if count > MOST_LINES {
        return Err(FileRefusal::TooManyLines(path.clone()));
    }
    let (first, last) = match range {
        None => (1, count),
        Some((from, to)) => {
            let no_range = || FileRefusal::NoRange { path: path.clone(), from, to, lines: count };
            let first = usize::try_from(from.max(1)).unwrap_or(usize::MAX);
            let last = if to == -1 { count } else { usize::try_from(to).map_err(|_| no_range())?.min(count) };
            if first > last {
                return Err(no_range());
            }
            (first, last)
        }
    };
    let shown = numbered(text.split('\n').enumerate().skip(first - 1).take(last + 1 - first));
    Ok(format!("Here's the content of {path} with line numbers:\n{shown}"))
}

/// Formats lines with their numbers, from 1.
fn numbered<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> String {
    let mut shown = String::new();
    for (at, line) in lines {
        let break_before = if shown.is_empty() { "" } else { "\n" };
        // Writing to a string can't fail.
        let _ = write!(shown, "{break_before}{:>WIDTH$}\t{line}", at + 1);
    }
    shown
}

fn listing(files: &Files, folder: &FilePath, policy: &Policy) -> String {
    let own = files.entries.iter().find(|entry| entry.path == *folder).and_then(|entry| entry.folder_bytes);
    let own = if folder.is_root() { files.root_bytes } else { own.unwrap_or(0) };
    let mut text = format!(
        "Here're the files and directories up to {LEVELS} levels deep in {folder}, excluding hidden items:\n{}\t{folder}",
        size(own)
    );
    for entry in &files.entries {
        let Some(below) = entry.path.below(folder) else { continue };
        if below.split('/').count() > LEVELS || !policy.blocks(entry.path.as_str(), Scope::Strict).is_empty() {
            continue;
        }
        let _ = match (entry.folder_bytes, files.files.get(&entry.path)) {
            (Some(bytes), _) => write!(text, "\n{}\t{}/", size(bytes), entry.path),
            (None, Some(file)) => {
                let bytes = u64::try_from(file.text.len()).unwrap_or(u64::MAX);
                write!(text, "\n{}\t{}", size(bytes), entry.path)
            }
            (None, None) => continue,
        };
    }
    text
}

/// Formats bytes as in a listing: `0B`, `512B`, `4K`, `1.5K`.
fn size(bytes: u64) -> String {
    let mut unit: u64 = 1;
    let mut name = 'B';
    for next in ['K', 'M', 'G'] {
        if bytes / 1024 < unit {
            break;
        }
        (unit, name) = (unit * 1024, next);
    }
    match bytes % unit {
        0 => format!("{}{name}", bytes / unit),
        _ => {
            #[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
            let parts = bytes as f64 / unit as f64;
            format!("{parts:.1}{name}")
        }
    }
}

#[cfg(test)]
mod tests;
