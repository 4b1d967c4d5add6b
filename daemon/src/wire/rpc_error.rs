//! Converts the daemon's errors into errors of the wire. Only this file does that.

use herma_archive::ArchiveError;
use herma_disk::{Cause, DiskError};
use herma_memory::StoreError;
use herma_memory::files::FileRefusal;
use herma_protocol::{ErrorKind, RpcError};
use herma_shared::SharedError;
use herma_spill::SpillError;
use serde_json::{Value, json};

use crate::data::error::Error;

/// The answer to a request.
pub(super) type Answer<T> = Result<T, RpcError>;

impl From<Error> for RpcError {
    fn from(error: Error) -> Self {
        let (kind, details) = kind_and_details(&error);
        let plain = Self::new(kind, error.to_string());
        if details.is_null() { plain } else { plain.with_details(&details) }
    }
}

/// Returns the kind and the details for programs. The details are `null` if the kind is enough.
fn kind_and_details(error: &Error) -> (ErrorKind, Value) {
    match error {
        Error::Param { name, .. } => (ErrorKind::InvalidParams, json!({ "param": name })),
        Error::Params(_) => (ErrorKind::InvalidParams, Value::Null),
        Error::NotFound(_) => (ErrorKind::NotFound, Value::Null),
        Error::NoPendingWrite { id } => (ErrorKind::NotFound, json!({ "id": id })),
        Error::Conflict(_) => (ErrorKind::Conflict, Value::Null),
        Error::StaleRevision { revision, entries, .. } => {
            (ErrorKind::Conflict, json!({ "revision": revision, "entries": entries }))
        }
        Error::StalePosition { generation, position, .. } => {
            (ErrorKind::Conflict, json!({ "generation": generation, "position": position }))
        }
        Error::OwnWrite { id } => (ErrorKind::PermissionDenied, json!({ "id": id })),
        Error::TooLarge(_) => (ErrorKind::TooLarge, Value::Null),
        Error::Busy(_) => (ErrorKind::Busy, Value::Null),
        Error::Cancelled(_) => (ErrorKind::Cancelled, Value::Null),
        Error::Unavailable(_) => (ErrorKind::Unavailable, Value::Null),
        Error::Internal(_) => (ErrorKind::Internal, Value::Null),
        Error::Disk(error) => disk(error),
        Error::Store(error) => store(error),
        Error::Files(refusal) => files(refusal),
        Error::Output(error) => output(error),
        Error::Archive(error) => (archive(error), Value::Null),
        Error::SharedRead(error) => (shared(error), Value::Null),
        Error::Shared(error) => (shared(error), json!({ "shared": false })),
    }
}

fn disk(error: &DiskError) -> (ErrorKind, Value) {
    let kind = match error.cause() {
        Cause::Full => ErrorKind::StorageFull,
        Cause::Refused => ErrorKind::PermissionDenied,
        Cause::Missing | Cause::Failed => ErrorKind::StorageFailed,
        Cause::Unsuitable => ErrorKind::Unreadable,
    };
    (kind, json!({ "path": error.path, "reason": error.source.to_string() }))
}

fn store(error: &StoreError) -> (ErrorKind, Value) {
    match error {
        StoreError::Unreadable { path, reason } => (ErrorKind::Unreadable, json!({ "path": path, "reason": reason })),
        StoreError::Disk(error) => disk(error),
    }
}

fn files(refusal: &FileRefusal) -> (ErrorKind, Value) {
    match refusal {
        FileRefusal::NotThere(_) | FileRefusal::Missing(_) | FileRefusal::NothingToUndo(_) => {
            (ErrorKind::NotFound, Value::Null)
        }
        FileRefusal::Stale { revision, .. } => (ErrorKind::Conflict, json!({ "revision": revision })),
        FileRefusal::Exists(_)
        | FileRefusal::Taken(_)
        | FileRefusal::Alike { .. }
        | FileRefusal::ChangedSince { .. } => (ErrorKind::Conflict, Value::Null),
        FileRefusal::TooLong { .. } => (ErrorKind::TooLarge, Value::Null),
        FileRefusal::Full { .. } | FileRefusal::TooMany { .. } | FileRefusal::TooManyFolders { .. } => {
            (ErrorKind::StorageFull, Value::Null)
        }
        FileRefusal::NotShown { path, ids } => {
            (ErrorKind::Unreadable, json!({ "path": path.to_string(), "findings": ids }))
        }
        FileRefusal::Ignored { path, why } => {
            (ErrorKind::Unreadable, json!({ "path": path.to_string(), "reason": why }))
        }
        FileRefusal::Poisoned { findings, .. } => {
            let ids: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
            (ErrorKind::InvalidParams, json!({ "findings": ids }))
        }
        _ => (ErrorKind::InvalidParams, Value::Null),
    }
}

fn output(error: &SpillError) -> (ErrorKind, Value) {
    match error {
        SpillError::NotFound(_) => (ErrorKind::NotFound, Value::Null),
        SpillError::Expired { at, bytes, sha256, reason, .. } => {
            let sha256 = base16ct::lower::encode_string(sha256);
            let details = json!({ "expired_at": at, "bytes": bytes, "sha256": sha256, "reason": reason });
            (ErrorKind::NotFound, details)
        }
        SpillError::NotText { path, byte } => {
            (ErrorKind::Unreadable, json!({ "path": path, "reason": format!("not UTF-8 at byte {byte}") }))
        }
        SpillError::Pattern(_) | SpillError::Outside(_) | SpillError::NotJson(_) => {
            (ErrorKind::InvalidParams, Value::Null)
        }
        SpillError::Cancelled => (ErrorKind::Cancelled, Value::Null),
        SpillError::Disk(error) => disk(error),
    }
}

fn shared(error: &SharedError) -> ErrorKind {
    match error {
        SharedError::Forbidden(_) | SharedError::Rejected(_) | SharedError::PasswordInClear => {
            ErrorKind::PermissionDenied
        }
        SharedError::Refused(_) => ErrorKind::StorageFailed,
        _ => ErrorKind::Unavailable,
    }
}

fn archive(error: &ArchiveError) -> ErrorKind {
    match error {
        ArchiveError::Newer { .. } | ArchiveError::Older { .. } => ErrorKind::Unavailable,
        ArchiveError::NoSession { .. } => ErrorKind::NotFound,
        ArchiveError::Misfit { .. } => ErrorKind::Conflict,
        ArchiveError::Damaged { .. } => ErrorKind::StorageFailed,
        ArchiveError::Database(_) if error.is_locked() => ErrorKind::Busy,
        ArchiveError::Database(_) if error.is_full() => ErrorKind::StorageFull,
        ArchiveError::Database(_) if error.is_refused() => ErrorKind::PermissionDenied,
        ArchiveError::Database(_) => ErrorKind::StorageFailed,
    }
}
