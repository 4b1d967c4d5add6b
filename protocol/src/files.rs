//! Params and results of the methods for memory files: texts that a model keeps with the tool
//! `memory_20250818`. Paths begin with `/memories`, as in the tool.

use serde::{Deserialize, Serialize};

use crate::Json;
use crate::guard::Finding;

/// Params of `files.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListParams {
    /// Only files at or below this path; all files when absent.
    pub path: Option<String>,
}

/// Result of `files.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListResult {
    /// The newest revision of the profile's files; 0 before the first change.
    pub revision: u64,
    /// The files, sorted by path.
    pub files: Vec<File>,
    /// The folders, sorted by path.
    pub folders: Vec<String>,
    /// Objects among the files that herma ignores.
    pub ignored: Vec<IgnoredFile>,
    /// Size and limits of the whole profile.
    pub usage: Usage,
}

/// A memory file, without its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "MemoryFile"))]
pub struct File {
    /// Its path.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The last revision that changed it.
    pub revision: u64,
    /// When it was last written according to the file system, in Unix seconds.
    pub modified_at: f64,
}

/// An object among the memory files that herma ignores: it never reads, changes or removes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "IgnoredFile"))]
pub struct IgnoredFile {
    /// Its path.
    pub path: String,
    /// Why it is ignored.
    pub reason: String,
}

/// Size and limits of a profile's memory files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "FilesUsage"))]
pub struct Usage {
    /// Number of files.
    pub files: u64,
    /// The most files that a profile may have.
    pub files_limit: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// The most bytes that all files may have.
    pub quota: u64,
    /// The most bytes that one file may have.
    pub file_limit: u64,
}

/// Params of `files.read`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReadParams {
    /// The path of the file.
    pub path: String,
    /// Read the file as of this revision of the profile's files; the current text when absent.
    pub revision: Option<u64>,
    /// Return the text even if the guard blocks it. For people, not for a model.
    pub raw: Option<bool>,
}

/// Result of `files.read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReadResult {
    /// Its path.
    pub path: String,
    /// Its text.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The last revision that changed it; for an earlier text, the requested revision.
    pub revision: u64,
}

/// Params of `files.write`: creates a file or replaces its text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WriteParams {
    /// The path of the file; missing folders are created.
    pub path: String,
    /// Its new text.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// Refuse with `conflict` unless the file is at this revision; 0 means that it must not exist.
    pub expected_revision: Option<u64>,
    /// The session that writes.
    pub session: Option<String>,
    /// The agent that writes.
    pub agent: Option<String>,
}

/// Params of `files.delete`: removes a file, or a folder with everything in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DeleteParams {
    /// The path of the file or folder.
    pub path: String,
    /// Refuse with `conflict` unless the file, or the newest file in the folder, is at this revision.
    pub expected_revision: Option<u64>,
    /// The session that writes.
    pub session: Option<String>,
    /// The agent that writes.
    pub agent: Option<String>,
}

/// Params of `files.rename`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RenameParams {
    /// The path of the file or folder.
    pub path: String,
    /// Its new path, which must not exist; missing folders are created.
    pub to: String,
    /// Refuse with `conflict` unless the file, or the newest file in the folder, is at this revision.
    pub expected_revision: Option<u64>,
    /// The session that writes.
    pub session: Option<String>,
    /// The agent that writes.
    pub agent: Option<String>,
}

/// Params of `files.undo`: undoes the newest change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UndoParams {
    /// Undo the newest change of this file or folder; of all files when absent. A change of several
    /// files is undone as a whole.
    pub path: Option<String>,
    /// Refuse with `conflict` unless the file, or the newest file in the folder, is at this
    /// revision. Without a path, the revision of the profile's files is compared.
    pub expected_revision: Option<u64>,
    /// The session that writes.
    pub session: Option<String>,
    /// The agent that writes.
    pub agent: Option<String>,
}

/// Params of `files.restore`: restores an earlier state of files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RestoreParams {
    /// The revision of the profile's files to restore.
    pub revision: u64,
    /// Only this file or folder; all files when absent.
    pub path: Option<String>,
    /// Refuse with `conflict` unless the file, or the newest file in the folder, is at this
    /// revision. Without a path, the revision of the profile's files is compared.
    pub expected_revision: Option<u64>,
    /// The session that writes.
    pub session: Option<String>,
    /// The agent that writes.
    pub agent: Option<String>,
}

/// Result of a change of memory files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "FilesChange"))]
pub struct ChangeResult {
    /// A description of the change, in the tool's wording.
    pub message: String,
    /// The newest revision of the profile's files.
    pub revision: u64,
    /// The revision of the changed file or folder, under its new name; 0 if it was removed.
    pub file_revision: u64,
    /// False if there was nothing to change; then there is no new revision.
    pub changed: bool,
    /// Findings of the guard that only warn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<Finding>>,
}

/// Params of `files.tool`: runs a call of the tool `memory_20250818`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolParams {
    /// The tool input from the model, unchanged: `command` (`view`, `create`, `str_replace`,
    /// `insert`, `delete` or `rename`) and its arguments.
    #[serde(deserialize_with = "crate::params::whole")]
    pub arguments: Json,
    /// The session that writes.
    pub session: Option<String>,
    /// The agent that writes.
    pub agent: Option<String>,
}

/// Result of `files.tool`. A refusal is a result and not an error, because the model reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolResult {
    /// The text for the model, in the tool's own wording.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// Whether the command was refused; the text says why.
    pub is_error: bool,
    /// The newest revision of the profile's files.
    pub revision: u64,
    /// Findings of the guard in a refused text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<Finding>>,
    /// Findings of the guard that only warn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<Finding>>,
}

/// Params of `files.log`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogParams {
    /// Only changes of this file or in this folder; of all files when absent.
    pub path: Option<String>,
    /// The most changes to return, 1 to 1,000; 50 when absent.
    pub limit: Option<u64>,
    /// Only changes with a revision below this one.
    pub before: Option<u64>,
    /// Also return the texts before and after each change. Texts that the guard blocks need `raw`.
    pub texts: Option<bool>,
    /// Return texts even if the guard blocks them. For people, not for a model.
    pub raw: Option<bool>,
}

/// Result of `files.log`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogResult {
    /// The changes, newest first.
    pub rows: Vec<LogRow>,
    /// Whether there are older changes.
    pub more: bool,
    /// Number of damaged journal lines, which are left out.
    pub damaged: u64,
}

/// One change of memory files, as recorded in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "FilesLogRow"))]
pub struct LogRow {
    /// The revision that it created.
    pub revision: u64,
    /// When the change was made, in Unix seconds.
    pub time: f64,
    /// `create`, `write`, `str_replace`, `insert`, `delete`, `rename`, `undo` or `restore`;
    /// `external` for a change by another program.
    pub action: String,
    /// The session that made the change.
    pub session: Option<String>,
    /// The agent that made the change.
    pub agent: Option<String>,
    /// The changed files.
    pub files: Vec<LogFile>,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "FilesLogFile"))]
pub struct LogFile {
    /// Its path.
    pub path: String,
    /// Its size before in bytes; null if it did not exist.
    pub bytes_before: Option<u64>,
    /// Its size after in bytes; null if it was removed.
    pub bytes_after: Option<u64>,
    /// Its text before, if `texts` was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub before: Option<String>,
    /// Its text after, if `texts` was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub after: Option<String>,
}
