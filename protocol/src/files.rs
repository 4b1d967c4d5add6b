//! Params and results of the methods of memory files: the texts that a model keeps for itself with the tool
//! `memory_20250818`. Paths begin with `/memories`, as the tool has them.

use serde::{Deserialize, Serialize};

use crate::Json;
use crate::guard::Finding;

/// Params of `files.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListParams {
    /// Only what is at this path or below it; everything when absent.
    pub path: Option<String>,
}

/// Result of `files.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListResult {
    /// The newest revision of the profile's files; 0 before the first change.
    pub revision: u64,
    /// The files, by their paths.
    pub files: Vec<File>,
    /// The folders, by their paths.
    pub folders: Vec<String>,
    /// What lies there and is left alone.
    pub unkept: Vec<Unkept>,
    /// How much is kept of the whole profile, and how much may be.
    pub usage: Usage,
}

/// A memory file, without its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "MemoryFile"))]
pub struct File {
    /// Its path.
    pub path: String,
    /// Its bytes.
    pub bytes: u64,
    /// The revision that changed it last.
    pub revision: u64,
    /// When it was written last, in Unix seconds, by the file system.
    pub modified_at: f64,
}

/// Something that lies among the memory files and is left alone: nothing reads, changes or removes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "UnkeptFile"))]
pub struct Unkept {
    /// Where.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// How much is kept of a profile's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "FilesUsage"))]
pub struct Usage {
    /// Files.
    pub files: u64,
    /// Files that there may be.
    pub files_limit: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Bytes that all of them may have.
    pub quota: u64,
    /// Bytes that one of them may have.
    pub file_limit: u64,
}

/// Params of `files.read`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReadParams {
    /// Which file.
    pub path: String,
    /// As it was at this revision of the profile's files; as it is when absent.
    pub revision: Option<u64>,
    /// The text although the guard blocks it: for people, not for a model.
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
    /// Its bytes.
    pub bytes: u64,
    /// The revision that changed it last; of an earlier text the one that was asked for.
    pub revision: u64,
}

/// Params of `files.write`: makes a file, or gives it another text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WriteParams {
    /// Which file; folders that are missing are made.
    pub path: String,
    /// Its new text.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// Refuse with `conflict` unless the file is at this revision; 0: unless there is none.
    pub expected_revision: Option<u64>,
    /// Who writes: the session.
    pub session: Option<String>,
    /// Who writes: the agent.
    pub agent: Option<String>,
}

/// Params of `files.delete`: removes a file, or a folder with all that is in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DeleteParams {
    /// Which file or folder.
    pub path: String,
    /// Refuse with `conflict` unless the file, or the newest file in the folder, is at this revision.
    pub expected_revision: Option<u64>,
    /// Who writes: the session.
    pub session: Option<String>,
    /// Who writes: the agent.
    pub agent: Option<String>,
}

/// Params of `files.rename`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RenameParams {
    /// Which file or folder.
    pub path: String,
    /// Its new path, which must be free; folders that are missing are made.
    pub to: String,
    /// Refuse with `conflict` unless the file, or the newest file in the folder, is at this revision.
    pub expected_revision: Option<u64>,
    /// Who writes: the session.
    pub session: Option<String>,
    /// Who writes: the agent.
    pub agent: Option<String>,
}

/// Params of `files.undo`: takes the newest change back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UndoParams {
    /// The newest change of this file or folder; of all files when absent. A change of several files is taken back as
    /// a whole.
    pub path: Option<String>,
    /// Refuse with `conflict` unless the file, or the newest file in the folder, is at this revision; without a path:
    /// unless the profile's files are.
    pub expected_revision: Option<u64>,
    /// Who writes: the session.
    pub session: Option<String>,
    /// Who writes: the agent.
    pub agent: Option<String>,
}

/// Params of `files.restore`: puts files back as they were.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RestoreParams {
    /// As they were at this revision of the profile's files.
    pub revision: u64,
    /// Only this file or folder; all files when absent.
    pub path: Option<String>,
    /// Refuse with `conflict` unless the file, or the newest file in the folder, is at this revision; without a path:
    /// unless the profile's files are.
    pub expected_revision: Option<u64>,
    /// Who writes: the session.
    pub session: Option<String>,
    /// Who writes: the agent.
    pub agent: Option<String>,
}

/// What a change of memory files came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "FilesChange"))]
pub struct ChangeResult {
    /// What was done, in the words of the tool.
    pub message: String,
    /// The newest revision of the profile's files.
    pub revision: u64,
    /// The revision of what was changed, under its new name; 0 when it is gone.
    pub file_revision: u64,
    /// False when everything was as it was to be, and there is no new revision.
    pub changed: bool,
    /// What the guard only warns of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<Finding>>,
}

/// Params of `files.tool`: does what a model asked for with the tool `memory_20250818`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolParams {
    /// The input that the model gave, as it came: `command` (`view`, `create`, `str_replace`, `insert`, `delete` or
    /// `rename`) and what that needs.
    #[serde(deserialize_with = "crate::params::whole")]
    pub arguments: Json,
    /// Who writes: the session.
    pub session: Option<String>,
    /// Who writes: the agent.
    pub agent: Option<String>,
}

/// Result of `files.tool`. A refusal is a result, for a model reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolResult {
    /// What the model is told, in the tool's own forms.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// The command was not done; the text says why.
    pub is_error: bool,
    /// The newest revision of the profile's files.
    pub revision: u64,
    /// What the guard found in a refused text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<Finding>>,
    /// What the guard only warns of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<Finding>>,
}

/// Params of `files.log`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogParams {
    /// Only changes of this file, or in this folder; of all files when absent.
    pub path: Option<String>,
    /// Changes at most, 1 to 1,000; 50 when absent.
    pub limit: Option<u64>,
    /// Only changes of revisions below this one.
    pub before: Option<u64>,
    /// The texts before and after each change too; those that the guard blocks only with `raw`.
    pub texts: Option<bool>,
    /// Texts although the guard blocks them: for people, not for a model.
    pub raw: Option<bool>,
}

/// Result of `files.log`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogResult {
    /// The changes, newest first.
    pub rows: Vec<LogRow>,
    /// Older ones are kept that were not asked for.
    pub more: bool,
    /// Lines of the journal that are damaged and left out.
    pub damaged: u64,
}

/// One change of memory files, as the journal has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "FilesLogRow"))]
pub struct LogRow {
    /// The revision that it made.
    pub revision: u64,
    /// When, in Unix seconds.
    pub time: f64,
    /// `create`, `write`, `str_replace`, `insert`, `delete`, `rename`, `undo`, `restore`, or `external` for a change by
    /// another program.
    pub action: String,
    /// Who did it: the session.
    pub session: Option<String>,
    /// Who did it: the agent.
    pub agent: Option<String>,
    /// The files that it changed.
    pub files: Vec<LogFile>,
}

/// What a change did to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "FilesLogFile"))]
pub struct LogFile {
    /// Its path.
    pub path: String,
    /// Its bytes before; null when there was none.
    pub bytes_before: Option<u64>,
    /// Its bytes after; null when it was gone.
    pub bytes_after: Option<u64>,
    /// Its text before, where `texts` was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub before: Option<String>,
    /// Its text after, where `texts` was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub after: Option<String>,
}
