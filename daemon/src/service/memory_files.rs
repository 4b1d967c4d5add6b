//! Memory files, as programs and models use them.

use std::sync::Arc;

use herma_guard::{Finding, Scope};
use herma_memory::Author;
use herma_memory::files::tool::{self, Command};
use herma_memory::files::{Answer, Edit, FilePath, FileRefusal, FileRow, FileStore, FileStoreError, Files, Place};
use herma_protocol::limits;

use super::caller::Caller;
use crate::data::error::{Error, Outcome};
use crate::owners::memory_files::MemoryFiles;

/// The size of the texts in one answer about the history, in bytes.
const LOG_BYTES: usize = 8 << 20;

/// The memory files of all profiles.
#[derive(Debug)]
pub(crate) struct FilesService {
    files: MemoryFiles,
}

/// A change by a person or a program.
#[derive(Debug)]
pub(crate) enum Change {
    /// Edits the files.
    Edit(Edit),
    /// Undoes the newest change.
    Undo(FilePath),
    /// Restores files to a revision.
    Restore(FilePath, u64),
}

/// A text and its revision.
#[derive(Debug)]
pub(crate) struct Text {
    pub text: Arc<str>,
    pub revision: u64,
}

/// The answer for a model.
#[derive(Debug)]
pub(crate) struct ToolAnswer {
    /// The text.
    pub text: String,
    /// Whether nothing was done.
    pub is_error: bool,
    /// The newest revision.
    pub revision: u64,
    /// The guard's findings in a refused text.
    pub findings: Vec<Finding>,
    /// The guard's findings that are only warnings.
    pub warnings: Vec<Finding>,
}

/// A part of the history.
#[derive(Debug)]
pub(crate) struct History {
    pub rows: Vec<FileRow>,
    pub more: bool,
    pub damaged: u64,
}

impl FilesService {
    pub(crate) const fn new(files: MemoryFiles) -> Self {
        Self { files }
    }

    /// Returns the files themselves.
    pub(crate) const fn files(&self) -> &MemoryFiles {
        &self.files
    }

    /// Returns the value that `told` makes of the files.
    pub(crate) async fn view<T: Send + 'static>(
        &self,
        caller: &Caller,
        told: impl FnOnce(&Files) -> T + Send + 'static,
    ) -> Outcome<T> {
        self.files.with(caller.profile(), |store| Ok(told(store.view()?))).await
    }

    /// Returns a file's text. If the guard blocks it, this needs `is_raw`.
    pub(crate) async fn read(
        &self,
        caller: &Caller,
        path: FilePath,
        revision: Option<u64>,
        is_raw: bool,
    ) -> Outcome<Text> {
        let read = move |store: &mut FileStore| {
            let text = match revision {
                Some(revision) => Text { text: store.text_at(&path, revision)?, revision },
                None => current(store, &path)?,
            };
            let ids = if is_raw { Vec::new() } else { store.policy().blocks(&text.text, Scope::Strict) };
            if ids.is_empty() {
                return Ok(text);
            }
            let ids = ids.into_iter().map(|id| id.to_string()).collect();
            Err(FileStoreError::from(FileRefusal::NotShown { path, ids }).into())
        };
        self.files.with(caller.profile(), read).await
    }

    /// Changes files. After the answer, the change is on the disk.
    pub(crate) async fn change(
        &self,
        caller: &Caller,
        change: Change,
        expected: Option<u64>,
        author: Author,
    ) -> Outcome<Answer> {
        if let Change::Edit(Edit::Write { text, .. }) = &change {
            check_length("text has", text)?;
        }
        let token = caller.token.clone();
        let work = move |store: &mut FileStore| {
            let transaction = store.begin()?;
            if !token.take() {
                return Err(gave_up());
            }
            let answer = match &change {
                Change::Edit(edit) => transaction.edit(edit, expected, &author),
                Change::Undo(path) => transaction.undo(path, expected, &author),
                Change::Restore(path, revision) => transaction.restore(path, *revision, expected, &author),
            };
            Ok(answer?)
        };
        self.files.with(caller.profile(), work).await
    }

    /// Does a model's tool call. A mistake in the call is part of the answer, and is no error.
    pub(crate) async fn tool(&self, caller: &Caller, arguments: &str, author: Author) -> Outcome<ToolAnswer> {
        check_length("arguments have", arguments)?;
        let (token, arguments) = (caller.token.clone(), arguments.to_owned());
        let work = move |store: &mut FileStore| match asked(store, &arguments, &author, || token.take()) {
            Ok(told) => Ok(told),
            Err(Error::Files(refusal)) => {
                let findings = match &*refusal {
                    FileRefusal::Poisoned { findings, .. } => findings.clone(),
                    _ => Vec::new(),
                };
                let revision = store.view()?.revision;
                let text = refusal.to_string();
                Ok(ToolAnswer { text, is_error: true, revision, findings, warnings: Vec::new() })
            }
            Err(error) => Err(error),
        };
        self.files.with(caller.profile(), work).await
    }

    /// Returns a part of the history of a path.
    pub(crate) async fn log(
        &self,
        caller: &Caller,
        path: FilePath,
        before: Option<u64>,
        limit: usize,
    ) -> Outcome<History> {
        let read = move |store: &mut FileStore| {
            let (rows, more) = store.log(&path, before, limit, LOG_BYTES)?;
            Ok(History { rows, more, damaged: store.damaged() })
        };
        self.files.with(caller.profile(), read).await
    }
}

fn current(store: &mut FileStore, path: &FilePath) -> Result<Text, FileStoreError> {
    match store.view()?.at(path) {
        Place::File(file) => Ok(Text { text: Arc::clone(&file.text), revision: file.revision }),
        Place::Folder => Err(FileRefusal::NoFile(path.clone()).into()),
        Place::Ignored(why) => Err(FileRefusal::Ignored { path: path.clone(), why: why.to_owned() }.into()),
        Place::Nothing => Err(FileRefusal::NotThere(path.clone()).into()),
    }
}

fn asked(
    store: &mut FileStore,
    arguments: &str,
    author: &Author,
    is_wanted: impl FnOnce() -> bool,
) -> Outcome<ToolAnswer> {
    match tool::read(arguments).map_err(FileStoreError::from)? {
        Command::View { path, range } => {
            let policy = Arc::clone(store.policy());
            let files = store.view()?;
            let text = tool::view(files, &path, range, &policy).map_err(FileStoreError::from)?;
            Ok(ToolAnswer {
                text,
                is_error: false,
                revision: files.revision,
                findings: Vec::new(),
                warnings: Vec::new(),
            })
        }
        Command::Edit(edit) => {
            let transaction = store.begin()?;
            if !is_wanted() {
                return Err(gave_up());
            }
            let Answer { done, revision, warnings, .. } = transaction.edit(&edit, None, author)?;
            Ok(ToolAnswer {
                text: tool::change_message(&done),
                is_error: false,
                revision,
                findings: Vec::new(),
                warnings,
            })
        }
    }
}

fn gave_up() -> Error {
    Error::Cancelled("nobody waits for the write any more")
}

/// Refuses a text that exceeds any file, without reading it.
fn check_length(what: &str, text: &str) -> Outcome<()> {
    if text.len() > limits::ENTRY {
        return Err(Error::TooLarge(format!("the {what} {} bytes; at most {} are taken", text.len(), limits::ENTRY)));
    }
    Ok(())
}
