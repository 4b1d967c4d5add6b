//! A change of files as a row of the journal.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::path::FilePath;
use crate::journal::Record;
use crate::journal::line::{Author, Replaced, read_body, write_body};

/// A change of one or more files.
#[derive(Debug, Clone, PartialEq)]
pub struct FileRow {
    /// The revision that it made.
    pub revision: u64,
    /// The time in Unix seconds.
    pub time: f64,
    /// The action that made it.
    pub action: FileAction,
    /// The author of the change.
    pub author: Author,
    /// The files that changed.
    pub changes: Vec<FileChange>,
    /// Folders that it created.
    pub folders_made: Vec<FilePath>,
    /// Folders that it removed, the deepest first.
    pub folders_gone: Vec<FilePath>,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileChange {
    /// The path.
    pub path: FilePath,
    /// Its text before; `None` if the file did not exist.
    pub before: Option<Arc<str>>,
    /// Its text after; `None` if the file was removed.
    pub after: Option<Arc<str>>,
    /// The file that it replaced.
    pub replaced: Replaced,
    /// In the first row of a journal: the revision that last changed the file.
    pub revision: Option<u64>,
}

/// The kind of a change to files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileAction {
    /// The files that existed when the journal began or was shortened.
    Found,
    /// A file was created.
    Create,
    /// The whole text of a file was replaced.
    Write,
    /// A part of a file was replaced.
    StrReplace,
    /// Lines were inserted into a file.
    Insert,
    /// Files were removed.
    Delete,
    /// Files were renamed.
    Rename,
    /// A change was undone.
    Undo,
    /// Files were restored as of an earlier revision.
    Restore,
    /// Another program changed files.
    External,
    /// An action of a later version.
    #[serde(untagged)]
    Other(String),
}

impl FileAction {
    /// Returns the action's name in the journal and on the wire.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Found => "found",
            Self::Create => "create",
            Self::Write => "write",
            Self::StrReplace => "str_replace",
            Self::Insert => "insert",
            Self::Delete => "delete",
            Self::Rename => "rename",
            Self::Undo => "undo",
            Self::Restore => "restore",
            Self::External => "external",
            Self::Other(name) => name,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Body {
    revision: u64,
    time: f64,
    action: FileAction,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    changes: Vec<Change>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    folders_made: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    folders_gone: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Change {
    path: String,
    before: Option<String>,
    after: Option<String>,
    #[serde(default, skip_serializing_if = "is_unknown")]
    replaced: Replaced,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
}

fn is_unknown(replaced: &Replaced) -> bool {
    *replaced == Replaced::Unknown
}

impl Record for FileRow {
    fn revision(&self) -> u64 {
        self.revision
    }

    fn write(&self, out: &mut Vec<u8>) {
        let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
        let change = |change: &FileChange| Change {
            path: change.path.as_str().to_owned(),
            before: text(&change.before),
            after: text(&change.after),
            replaced: change.replaced,
            revision: change.revision,
        };
        let body = Body {
            revision: self.revision,
            time: self.time,
            action: self.action.clone(),
            session: self.author.session.clone(),
            agent: self.author.agent.clone(),
            changes: self.changes.iter().map(change).collect(),
            folders_made: self.folders_made.iter().map(|path| path.as_str().to_owned()).collect(),
            folders_gone: self.folders_gone.iter().map(|path| path.as_str().to_owned()).collect(),
        };
        write_body(&body, out);
    }

    fn read(line: &[u8]) -> Option<Self> {
        let body: Body = serde_json::from_slice(read_body(line)?).ok()?;
        let change = |change: Change| {
            Some(FileChange {
                path: FilePath::kept(&change.path)?,
                before: change.before.map(Arc::from),
                after: change.after.map(Arc::from),
                replaced: change.replaced,
                revision: change.revision,
            })
        };
        let folders = |paths: &[String]| paths.iter().map(|path| FilePath::kept(path)).collect::<Option<Vec<_>>>();
        Some(Self {
            revision: body.revision,
            time: body.time,
            action: body.action,
            author: Author { session: body.session, agent: body.agent, host: None },
            changes: body.changes.into_iter().map(change).collect::<Option<_>>()?,
            folders_made: folders(&body.folders_made)?,
            folders_gone: folders(&body.folders_gone)?,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn a_row_comes_back_and_damage_is_noticed() {
        for action in [FileAction::StrReplace, FileAction::Found, FileAction::Other("merge".into())] {
            let change = |path: &str, replaced| FileChange {
                path: FilePath::found(path),
                before: None,
                after: Some("a\n\"b\"".into()),
                replaced,
                revision: Some(3),
            };
            let row = FileRow {
                revision: 7,
                time: 1_790_000_000.25,
                action,
                author: Author { session: Some("s".into()), ..Author::default() },
                changes: vec![change("a/b", Replaced::Nothing), change("c", Replaced::Unknown)],
                folders_made: vec![FilePath::found("a")],
                folders_gone: Vec::new(),
            };
            let mut line = Vec::new();
            row.write(&mut line);
            assert_eq!(FileRow::read(&line), Some(row.clone()));
            assert!(String::from_utf8_lossy(&line).contains(&format!("\"action\":\"{}\"", row.action.name())));
            line[40] ^= 1;
            assert_eq!(FileRow::read(&line), None);
        }
    }

    #[test]
    fn a_row_that_leads_out_is_damaged() {
        for path in ["..", "../a", "a/../../b", "/etc/passwd", "a//b", "./a", "a/.", "", "a\0b"] {
            let change = FileChange {
                path: FilePath::found(path),
                before: None,
                after: None,
                replaced: Replaced::Nothing,
                revision: None,
            };
            let row = |changes: &[FileChange], made: &[FilePath], gone: &[FilePath]| FileRow {
                revision: 1,
                time: 1.0,
                action: FileAction::Create,
                author: Author::default(),
                changes: changes.to_vec(),
                folders_made: made.to_vec(),
                folders_gone: gone.to_vec(),
            };
            let folder = [FilePath::found(path)];
            for row in [row(&[change], &[], &[]), row(&[], &folder, &[]), row(&[], &[], &folder)] {
                let mut line = Vec::new();
                row.write(&mut line);
                assert_eq!(FileRow::read(&line), None, "{path:?}");
            }
        }
    }
}
