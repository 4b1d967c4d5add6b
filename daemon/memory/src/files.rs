//! The files of a profile that models keep with the tool `memory_20250818`: a tree of short texts below [`ROOT`]. Every
//! change is journalled and can be undone.
//!
//! * [`path`]: validated names that can't leave the root.
//! * [`edit`]: applies a change to the files, without touching the disk.
//! * [`refusal`]: why a change is refused, in words for a model.
//! * [`tool`]: the tool's six commands and its answers.
//! * [`row`]: a change in the journal.
//! * [`store`]: the files on disk: look, apply, journal, put in place, answer.

pub mod edit;
mod file_set;
mod limits;
pub mod path;
pub mod refusal;
pub mod row;
mod rules;
pub mod store;
pub mod tool;

pub use edit::{Done, Edit};
pub use file_set::{Entry, FileSet, Files, Place};
pub use limits::FileLimits;
pub use path::{FilePath, PathError, ROOT};
pub use refusal::FileRefusal;
pub use row::{FileAction, FileChange, FileRow};
pub use store::{Answer, FileEvent, FileStore, FileStoreError, Transaction};
