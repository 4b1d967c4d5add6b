//! Reasons to refuse a command on files, in words for a model. Uses the words of the tool's documentation or of its
//! reference implementation where they exist.

use herma_guard::{Finding, Severity};

use super::path::{FilePath, PathError};

/// Maximum number of lines that an error lists for a text with several occurrences.
pub(super) const MAX_LISTED_LINES: usize = 100;

/// The reason why a command is refused. The files are then unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileRefusal {
    /// The text is not a path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The arguments are invalid.
    #[error("{0}")]
    Arguments(String),
    /// Nothing is at the path to view or to change.
    #[error("The path {0} does not exist. Please provide a valid path.")]
    NotThere(FilePath),
    /// Nothing is at the path to remove or to rename.
    #[error("The path {0} does not exist")]
    Missing(FilePath),
    /// The path is a folder.
    #[error("The path {0} is not a file.")]
    NoFile(FilePath),
    /// The path already exists.
    #[error("File {0} already exists")]
    Exists(FilePath),
    /// The new name already exists.
    #[error("The destination {0} already exists")]
    Taken(FilePath),
    /// A file is in the place of a folder.
    #[error("{path} can't be made: {file} is a file, not a directory")]
    BelowFile {
        /// The path to create.
        path: FilePath,
        /// The file in its place.
        file: FilePath,
    },
    /// A folder would be inside itself.
    #[error("{from} can't be renamed to {to}, which is inside it")]
    IntoItself {
        /// The folder.
        from: FilePath,
        /// Its new name.
        to: FilePath,
    },
    /// Some file systems treat the new name and an existing one as the same.
    #[error("{path} can't be made: {there} is there, and some file systems take both names for one")]
    Alike {
        /// The path to create.
        path: FilePath,
        /// The existing path.
        there: FilePath,
    },
    /// The name begins with a dot. Such names belong to other programs.
    #[error("{0} can't be made: names that begin with a dot are not kept")]
    Hidden(FilePath),
    /// The root can't be deleted.
    #[error("Cannot delete the /memories directory itself")]
    DeleteRoot,
    /// The root can't be renamed.
    #[error("Cannot rename the /memories directory itself")]
    RenameRoot,
    /// The text to replace does not occur.
    #[error("No replacement was performed, old_str `{}` did not appear verbatim in {path}.", echo(old))]
    NoMatch {
        /// The file.
        path: FilePath,
        /// The text that was looked for.
        old: String,
    },
    /// The text to replace occurs more than once.
    #[error(
        "No replacement was performed. Multiple occurrences of old_str `{}` in lines: {}. Please ensure it is unique",
        echo(old),
        numbers(lines)
    )]
    Several {
        /// The text that was looked for.
        old: String,
        /// The lines in which the occurrences begin, from 1.
        lines: Vec<usize>,
    },
    /// The file has no such line.
    #[error("Invalid `insert_line` parameter: {line}. It should be within the range [0, {lines}].")]
    NoLine {
        /// The requested line.
        line: i64,
        /// The number of lines.
        lines: usize,
    },
    /// The file has no such lines.
    #[error(
        "Invalid `view_range` parameter: [{from}, {to}]. {path} has {lines} lines; the range is [first, last] with 1 <= first <= last, or -1 as last for the end."
    )]
    NoRange {
        /// The file.
        path: FilePath,
        /// The requested first line.
        from: i64,
        /// The requested last line.
        to: i64,
        /// The number of lines.
        lines: usize,
    },
    /// The file has more lines than the tool can number.
    #[error("File {0} exceeds maximum line limit of 999,999 lines.")]
    TooManyLines(FilePath),
    /// The text is too long for a file.
    #[error("{path} would have {bytes} bytes; a memory file has at most {limit}. Keep less in it, or split it.")]
    TooLong {
        /// The file.
        path: FilePath,
        /// Bytes after the change.
        bytes: usize,
        /// Maximum bytes.
        limit: usize,
    },
    /// All files together would be too long.
    #[error(
        "The memory files would have {bytes} bytes together; at most {limit} are kept. Delete or shorten some first."
    )]
    Full {
        /// Bytes after the change.
        bytes: u64,
        /// Maximum bytes.
        limit: u64,
    },
    /// There would be too many files.
    #[error(
        "There would be {count} memory files; at most {limit} are kept. Delete some first, or put several into one."
    )]
    TooMany {
        /// The number after the change.
        count: usize,
        /// The maximum number.
        limit: usize,
    },
    /// There would be too many folders.
    #[error(
        "There would be {count} folders; at most {limit} are kept. Delete some first, or use those that are there."
    )]
    TooManyFolders {
        /// The number after the change.
        count: usize,
        /// The maximum number.
        limit: usize,
    },
    /// The guard blocks the text.
    #[error("{message}")]
    Poisoned {
        /// The guard's message.
        message: String,
        /// The guard's findings.
        findings: Vec<Finding>,
    },
    /// The text has a control char that texts for people do not have.
    #[error("The text has the control char U+{:04X} at char {at}; only line feed, carriage return and tab are kept", u32::from(*char))]
    Control {
        /// The char.
        char: char,
        /// Its position, in chars from 0.
        at: usize,
    },
    /// The guard blocks content that another program wrote.
    #[error("The content of {path} is not shown, for it looks like an attack ({}). A person can look at it with `herma files show --raw`.", ids.join(", "))]
    NotShown {
        /// The file.
        path: FilePath,
        /// The ids of the guard's findings.
        ids: Vec<String>,
    },
    /// The entry at the path is not kept.
    #[error("{path} is left alone: {why}")]
    Ignored {
        /// The path.
        path: FilePath,
        /// The reason.
        why: String,
    },
    /// The path has changed since the caller last saw it.
    #[error("{path} is at revision {revision}, not {expected}; read it again")]
    Stale {
        /// The file or folder.
        path: FilePath,
        /// The revision that the caller saw.
        expected: u64,
        /// The current revision; 0 if nothing is at the path.
        revision: u64,
    },
    /// The journal has no change to undo.
    #[error("there is nothing to undo: the journal has no earlier text of {0}")]
    NothingToUndo(FilePath),
    /// A file has changed since the revision that would be undone.
    #[error(
        "revision {revision} can't be taken back: {path} has changed since; restore puts it back as it was at a revision"
    )]
    ChangedSince {
        /// The revision.
        revision: u64,
        /// The file.
        path: FilePath,
    },
}

impl FileRefusal {
    pub(super) fn poisoned(text: &str, findings: Vec<Finding>) -> Self {
        let first = findings.iter().find(|finding| finding.severity == Severity::Block);
        let message = first.map(|finding| herma_guard::threat_message(finding, text));
        let message = message.unwrap_or_else(|| "Blocked: this text may not be kept".into());
        Self::Poisoned { message, findings }
    }
}

/// A text from the caller, shortened to a helpful length.
fn echo(text: &str) -> String {
    const MOST: usize = 2_000;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn numbers(lines: &[usize]) -> String {
    let mut text = lines.iter().take(MAX_LISTED_LINES).map(usize::to_string).collect::<Vec<_>>().join(", ");
    if lines.len() > MAX_LISTED_LINES {
        text.push_str(", …");
    }
    text
}
