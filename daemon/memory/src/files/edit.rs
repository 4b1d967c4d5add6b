//! Applies a change to the files. Nothing here touches the disk.

use std::sync::Arc;

use herma_guard::Finding;

use super::file_set::{FileSet, Files, Place};
use super::path::FilePath;
use super::refusal::{FileRefusal, MAX_LISTED_LINES};
use super::row::FileAction;
use super::rules::{Rules, check_kept, check_new, check_room, checked};

/// An edit of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Create a file at a free path.
    Create {
        /// The path.
        path: FilePath,
        /// The text.
        text: String,
    },
    /// Set the whole text of a file, whether or not it exists.
    Write {
        /// The path.
        path: FilePath,
        /// The text.
        text: String,
    },
    /// Replace a part that occurs in the file exactly once.
    StrReplace {
        /// The path.
        path: FilePath,
        /// The part.
        old: String,
        /// The replacement.
        new: String,
    },
    /// Insert lines into a file.
    Insert {
        /// The path.
        path: FilePath,
        /// The line after which to insert; 0 for the beginning.
        line: i64,
        /// The lines.
        text: String,
    },
    /// Remove a file, or a folder with its whole content.
    Delete {
        /// The path.
        path: FilePath,
    },
    /// Rename a file or folder.
    Rename {
        /// The old path.
        from: FilePath,
        /// The new path.
        to: FilePath,
    },
}

/// The new state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The path.
    pub path: FilePath,
    /// The text; `None` if the file is removed.
    pub text: Option<Arc<str>>,
}

/// The effect of a change that is not on the disk yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The files that change.
    pub outcomes: Vec<Outcome>,
    /// Folders that are removed once they are empty, the deepest first.
    pub folders_gone: Vec<FilePath>,
    /// Folders that must exist.
    pub folders_made: Vec<FilePath>,
    /// The summary for the answer.
    pub done: Done,
    /// Findings for which the guard only warns.
    pub warnings: Vec<Finding>,
}

/// A summary of a change, for the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// A file was created.
    Created(FilePath),
    /// The whole text of a file was replaced.
    Written(FilePath),
    /// A part of a file was replaced.
    Replaced {
        /// The file.
        path: FilePath,
        /// Its new text.
        text: Arc<str>,
        /// The line that the change begins in, from 0.
        line: usize,
    },
    /// Lines were inserted into a file.
    Inserted(FilePath),
    /// A file or folder was removed.
    Deleted(FilePath),
    /// A file or folder was renamed.
    Renamed {
        /// The old path.
        from: FilePath,
        /// The new path.
        to: FilePath,
    },
    /// Files were restored to that revision.
    PutBack(u64),
}

impl Edit {
    /// Returns its name in the journal.
    #[must_use]
    pub const fn action(&self) -> FileAction {
        match self {
            Self::Create { .. } => FileAction::Create,
            Self::Write { .. } => FileAction::Write,
            Self::StrReplace { .. } => FileAction::StrReplace,
            Self::Insert { .. } => FileAction::Insert,
            Self::Delete { .. } => FileAction::Delete,
            Self::Rename { .. } => FileAction::Rename,
        }
    }

    /// Returns the path that it changes.
    #[must_use]
    pub const fn path(&self) -> &FilePath {
        match self {
            Self::Create { path, .. }
            | Self::Write { path, .. }
            | Self::StrReplace { path, .. }
            | Self::Insert { path, .. }
            | Self::Delete { path }
            | Self::Rename { from: path, .. } => path,
        }
    }

    /// Applies the edit to the files, in memory only.
    ///
    /// # Errors
    /// The reason why the edit is refused.
    pub fn apply(&self, files: &Files, rules: Rules<'_>) -> Result<Draft, FileRefusal> {
        match self {
            Self::Create { path, text } => match files.at(path) {
                Place::Nothing => written(files, path, text, rules, Done::Created(path.clone())),
                _ => Err(FileRefusal::Exists(path.clone())),
            },
            Self::Write { path, text } => match files.at(path) {
                Place::Nothing => written(files, path, text, rules, Done::Created(path.clone())),
                Place::File(_) => written(files, path, text, rules, Done::Written(path.clone())),
                Place::Folder => Err(FileRefusal::NoFile(path.clone())),
                Place::Ignored(why) => Err(FileRefusal::Ignored { path: path.clone(), why: why.to_owned() }),
            },
            Self::StrReplace { path, old, new } => {
                let text = &file(files, path)?.text;
                let at = only_place(text, old, path)?;
                let line = text[..at].matches('\n').count();
                let text: Arc<str> = format!("{}{new}{}", &text[..at], &text[at + old.len()..]).into();
                let done = Done::Replaced { path: path.clone(), text: Arc::clone(&text), line };
                written(files, path, &text, rules, done)
            }
            Self::Insert { path, line, text } => {
                let text = with_lines(&file(files, path)?.text, *line, text)?;
                written(files, path, &text, rules, Done::Inserted(path.clone()))
            }
            Self::Delete { path } => delete(files, path),
            Self::Rename { from, to } => rename(files, from, to, rules),
        }
    }
}

fn file<'a>(files: &'a Files, path: &FilePath) -> Result<&'a FileSet, FileRefusal> {
    match files.at(path) {
        Place::File(file) => Ok(file),
        Place::Folder => Err(FileRefusal::NoFile(path.clone())),
        Place::Ignored(why) => Err(FileRefusal::Ignored { path: path.clone(), why: why.to_owned() }),
        Place::Nothing => Err(FileRefusal::NotThere(path.clone())),
    }
}

fn written(files: &Files, path: &FilePath, text: &str, rules: Rules<'_>, done: Done) -> Result<Draft, FileRefusal> {
    let before = files.files.get(path);
    if before.is_none() {
        check_new(files, path, rules)?;
    }
    let warnings = checked(path, text, before.map(|file| &*file.text), rules)?;
    check_room(files, &[(path, text.len())], rules.limits)?;
    let outcomes = vec![Outcome { path: path.clone(), text: Some(text.into()) }];
    Ok(Draft { outcomes, folders_gone: Vec::new(), folders_made: Vec::new(), done, warnings })
}

/// Returns the byte offset of a text that must occur exactly once.
fn only_place(text: &str, old: &str, path: &FilePath) -> Result<usize, FileRefusal> {
    let Some(first) = old.chars().next() else {
        return Err(FileRefusal::Arguments("`old_str` is empty; give the text that is to be replaced".into()));
    };
    let Some(at) = text.find(old) else {
        return Err(FileRefusal::NoMatch { path: path.clone(), old: old.to_owned() });
    };
    if !text[at + old.len()..].contains(old) {
        return Ok(at);
    }
    let (mut lines, mut line, mut from) = (Vec::new(), 1, 0);
    // Stops when there are more lines than the error lists, because each search may scan the whole text.
    while lines.len() <= MAX_LISTED_LINES
        && let Some(next) = text[from..].find(old)
    {
        line += text[from..from + next].matches('\n').count();
        lines.push(line);
        line += usize::from(first == '\n');
        from += next + first.len_utf8();
    }
    Err(FileRefusal::Several { old: old.to_owned(), lines })
}

/// Returns the text with the lines inserted. It then ends with a line feed.
fn with_lines(text: &str, line: i64, inserted: &str) -> Result<String, FileRefusal> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    let no_line = FileRefusal::NoLine { line, lines: lines.len() };
    let at = usize::try_from(line).ok().filter(|at| *at <= lines.len()).ok_or(no_line)?;
    lines.insert(at, inserted.trim_end_matches('\n'));
    Ok(lines.join("\n") + "\n")
}

fn delete(files: &Files, path: &FilePath) -> Result<Draft, FileRefusal> {
    if path.is_root() {
        return Err(FileRefusal::DeleteRoot);
    }
    let gone = |path: &FilePath| Outcome { path: path.clone(), text: None };
    let (outcomes, folders_gone) = match files.at(path) {
        Place::Nothing => return Err(FileRefusal::Missing(path.clone())),
        Place::Ignored(why) => return Err(FileRefusal::Ignored { path: path.clone(), why: why.to_owned() }),
        Place::File(_) => (vec![gone(path)], Vec::new()),
        Place::Folder => {
            check_kept(files, path)?;
            let outcomes = files.below(path).map(|(path, _)| gone(path)).collect();
            (outcomes, whole(files, path))
        }
    };
    let done = Done::Deleted(path.clone());
    Ok(Draft { outcomes, folders_gone, folders_made: Vec::new(), done, warnings: Vec::new() })
}

fn rename(files: &Files, from: &FilePath, to: &FilePath, rules: Rules<'_>) -> Result<Draft, FileRefusal> {
    if from.is_root() {
        return Err(FileRefusal::RenameRoot);
    }
    if !matches!(files.at(to), Place::Nothing) {
        return Err(FileRefusal::Taken(to.clone()));
    }
    let is_folder = match files.at(from) {
        Place::Nothing => return Err(FileRefusal::Missing(from.clone())),
        Place::Ignored(why) => return Err(FileRefusal::Ignored { path: from.clone(), why: why.to_owned() }),
        Place::File(_) => false,
        Place::Folder => true,
    };
    if to.below(from).is_some() {
        return Err(FileRefusal::IntoItself { from: from.clone(), to: to.clone() });
    }
    let is_respelled = to.above().next() == from.above().next() && to.folded() == from.folded();
    if !is_respelled {
        check_new(files, to, rules)?;
    }
    let moved = |path: &FilePath| path.below(from).map_or_else(|| to.clone(), |below| to.join(below));
    let file_set: Vec<(&FilePath, &FileSet)> = if is_folder {
        check_kept(files, from)?;
        files.below(from).collect()
    } else {
        files.files.get_key_value(from).into_iter().collect()
    };
    let folders = if is_folder { files.folders_below(from) } else { Vec::new() };
    for path in file_set.iter().map(|(path, _)| *path).chain(&folders) {
        // Joined names can exceed the longest path.
        FilePath::parse(&moved(path).to_string())?;
    }
    let come = file_set.iter().map(|(path, file)| Outcome { path: moved(path), text: Some(Arc::clone(&file.text)) });
    let gone = file_set.iter().map(|(path, _)| Outcome { path: (*path).clone(), text: None });
    let folders_gone = if is_folder { whole(files, from) } else { Vec::new() };
    let folders_made = folders_gone.iter().map(moved).collect();
    let done = Done::Renamed { from: from.clone(), to: to.clone() };
    Ok(Draft { outcomes: come.chain(gone).collect(), folders_gone, folders_made, done, warnings: Vec::new() })
}

/// Returns a folder and all folders in it, the deepest first.
pub(super) fn whole(files: &Files, folder: &FilePath) -> Vec<FilePath> {
    files.folders_below(folder).into_iter().chain([folder.clone()]).collect()
}

#[cfg(test)]
pub(crate) mod tests;
