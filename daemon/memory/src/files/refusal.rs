//! Why something is not done with files, in words for a model. Where the tool's own documentation or its reference
//! implementation has words for it, it is those.

use herma_guard::{Finding, Severity};

use super::path::{FilePath, PathError};

/// Lines that are told where a text is too often.
pub(super) const LINES_TOLD: usize = 100;

/// Why something is not done; nothing has changed then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileRefusal {
    /// It is no path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The arguments can't be used.
    #[error("{0}")]
    Arguments(String),
    /// Nothing is there to look at or to change.
    #[error("The path {0} does not exist. Please provide a valid path.")]
    NotThere(FilePath),
    /// Nothing is there to remove or to rename.
    #[error("The path {0} does not exist")]
    Missing(FilePath),
    /// A folder is there.
    #[error("The path {0} is not a file.")]
    NoFile(FilePath),
    /// A file is there already.
    #[error("File {0} already exists")]
    Exists(FilePath),
    /// Something has the new name already.
    #[error("The destination {0} already exists")]
    Taken(FilePath),
    /// A file is where a folder would have to be.
    #[error("{path} can't be made: {file} is a file, not a directory")]
    BelowFile {
        /// What was to be made.
        path: FilePath,
        /// The file in the way.
        file: FilePath,
    },
    /// A folder would be in itself.
    #[error("{from} can't be renamed to {to}, which is inside it")]
    IntoItself {
        /// The folder.
        from: FilePath,
        /// Its new name.
        to: FilePath,
    },
    /// A name that differs only in ways that some file systems don't tell apart.
    #[error("{path} can't be made: {there} is there, and some file systems take both names for one")]
    Alike {
        /// What was to be made.
        path: FilePath,
        /// What is there.
        there: FilePath,
    },
    /// Names that begin with a dot are left to other programs.
    #[error("{0} can't be made: names that begin with a dot are not kept")]
    Hidden(FilePath),
    /// The root stays.
    #[error("Cannot delete the /memories directory itself")]
    DeleteRoot,
    /// The root stays where it is.
    #[error("Cannot rename the /memories directory itself")]
    RenameRoot,
    /// The text that is to be replaced is not there.
    #[error("No replacement was performed, old_str `{}` did not appear verbatim in {path}.", echo(old))]
    NoMatch {
        /// The file.
        path: FilePath,
        /// What was looked for.
        old: String,
    },
    /// It is there more than once.
    #[error(
        "No replacement was performed. Multiple occurrences of old_str `{}` in lines: {}. Please ensure it is unique",
        echo(old),
        numbers(lines)
    )]
    Several {
        /// What was looked for.
        old: String,
        /// The lines that they begin in, from 1.
        lines: Vec<usize>,
    },
    /// The file has no such line.
    #[error("Invalid `insert_line` parameter: {line}. It should be within the range [0, {lines}].")]
    NoLine {
        /// The one that was named.
        line: i64,
        /// How many there are.
        lines: usize,
    },
    /// The file has no such lines.
    #[error(
        "Invalid `view_range` parameter: [{from}, {to}]. {path} has {lines} lines; the range is [first, last] with 1 <= first <= last, or -1 as last for the end."
    )]
    NoRange {
        /// The file.
        path: FilePath,
        /// The first one that was asked for.
        from: i64,
        /// The last one.
        to: i64,
        /// How many there are.
        lines: usize,
    },
    /// It has more lines than the tool can number.
    #[error("File {0} exceeds maximum line limit of 999,999 lines.")]
    TooManyLines(FilePath),
    /// The text is too long for a file.
    #[error("{path} would have {bytes} bytes; a memory file has at most {limit}. Keep less in it, or split it.")]
    TooLong {
        /// The file.
        path: FilePath,
        /// Bytes that it would have.
        bytes: usize,
        /// Bytes that it may have.
        limit: usize,
    },
    /// All files together would be too long.
    #[error(
        "The memory files would have {bytes} bytes together; at most {limit} are kept. Delete or shorten some first."
    )]
    Full {
        /// Bytes that they would have.
        bytes: u64,
        /// Bytes that they may have.
        limit: u64,
    },
    /// There would be too many.
    #[error(
        "There would be {count} memory files; at most {limit} are kept. Delete some first, or put several into one."
    )]
    TooMany {
        /// How many there would be.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// There would be too many folders.
    #[error(
        "There would be {count} folders; at most {limit} are kept. Delete some first, or use those that are there."
    )]
    TooManyFolders {
        /// How many there would be.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The guard blocks the text.
    #[error("{message}")]
    Poisoned {
        /// The guard's words.
        message: String,
        /// What it found.
        findings: Vec<Finding>,
    },
    /// A char that no text for people has.
    #[error("The text has the control char U+{:04X} at char {at}; only line feed, carriage return and tab are kept", u32::from(*char))]
    Control {
        /// Which.
        char: char,
        /// Where, in chars from 0.
        at: usize,
    },
    /// The guard blocks what another program wrote there.
    #[error("The content of {path} is not shown, for it looks like an attack ({}). A person can look at it with `herma files show --raw`.", ids.join(", "))]
    NotShown {
        /// The file.
        path: FilePath,
        /// What the guard found.
        ids: Vec<String>,
    },
    /// What is there is not kept.
    #[error("{path} is left alone: {why}")]
    Unkept {
        /// Where.
        path: FilePath,
        /// Why.
        why: String,
    },
    /// It has changed since the caller looked.
    #[error("{path} is at revision {revision}, not {expected}; read it again")]
    Stale {
        /// The file or folder.
        path: FilePath,
        /// The revision that the caller saw.
        expected: u64,
        /// The one there is; 0 when nothing is there.
        revision: u64,
    },
    /// The journal has no change that could be taken back.
    #[error("there is nothing to undo: the journal has no earlier text of {0}")]
    NothingToUndo(FilePath),
    /// What the change made has changed since.
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

/// A text of the caller's, not longer than it helps.
fn echo(text: &str) -> String {
    const MOST: usize = 2_000;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn numbers(lines: &[usize]) -> String {
    let mut text = lines.iter().take(LINES_TOLD).map(usize::to_string).collect::<Vec<_>>().join(", ");
    if lines.len() > LINES_TOLD {
        text.push_str(", …");
    }
    text
}
