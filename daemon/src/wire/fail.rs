//! Turns the errors of the rooms into errors of the wire.

use herma_archive::ArchiveError;
use herma_disk::{Cause, DiskError};
use herma_memory::StoreError;
use herma_protocol::{ErrorKind, RpcError};
use herma_spill::SpillError;
use serde_json::json;

/// What a handler answers.
pub(crate) type Outcome<T> = Result<T, RpcError>;

/// `invalid_params`, naming the param.
pub(crate) fn invalid(param: &str, words: impl std::fmt::Display) -> RpcError {
    RpcError::new(ErrorKind::InvalidParams, format!("param `{param}`: {words}"))
        .with_details(&json!({ "param": param }))
}

/// A file operation that failed.
pub(crate) fn disk(error: &DiskError) -> RpcError {
    let kind = match error.cause() {
        Cause::Full => ErrorKind::StorageFull,
        Cause::Refused => ErrorKind::PermissionDenied,
        Cause::Missing | Cause::Failed => ErrorKind::StorageFailed,
        Cause::Unsuitable => ErrorKind::Unreadable,
    };
    RpcError::new(kind, error.to_string())
        .with_details(&json!({ "path": error.path, "reason": error.source.to_string() }))
}

/// A store that can't be used.
pub(crate) fn store(error: &StoreError) -> RpcError {
    match error {
        StoreError::Unreadable { path, reason } => RpcError::new(ErrorKind::Unreadable, error.to_string())
            .with_details(&json!({ "path": path, "reason": reason })),
        StoreError::Disk(error) => disk(error),
    }
}

/// An output that can't be given.
pub(crate) fn output(error: &SpillError) -> RpcError {
    match error {
        SpillError::NotFound(_) => RpcError::new(ErrorKind::NotFound, error.to_string()),
        SpillError::Expired { at, bytes, sha256, reason, .. } => {
            let details = json!({
                "expired_at": at, "bytes": bytes, "sha256": herma_spill::facts::hex(sha256), "reason": reason,
            });
            RpcError::new(ErrorKind::NotFound, error.to_string()).with_details(&details)
        }
        SpillError::NotText { path, byte } => RpcError::new(ErrorKind::Unreadable, error.to_string())
            .with_details(&json!({ "path": path, "reason": format!("not UTF-8 at byte {byte}") })),
        SpillError::Pattern(_) => invalid("query", error),
        SpillError::Cancelled => RpcError::new(ErrorKind::Cancelled, error.to_string()),
        SpillError::Outside(_) => invalid("path", error),
        SpillError::NotJson(_) => invalid("view", error),
        SpillError::Disk(error) => disk(error),
    }
}

/// A failure of the archive.
pub(crate) fn archive(error: &ArchiveError) -> RpcError {
    let kind = match error {
        ArchiveError::Newer { .. } | ArchiveError::Older { .. } => ErrorKind::Unavailable,
        ArchiveError::NoSession { .. } => ErrorKind::NotFound,
        ArchiveError::Misfit { .. } => ErrorKind::Conflict,
        ArchiveError::Damaged { .. } => {
            let words = "the archive is damaged; it is set aside and a new one begun: try again";
            return RpcError::new(ErrorKind::StorageFailed, words);
        }
        ArchiveError::Database(_) if error.is_full() => ErrorKind::StorageFull,
        ArchiveError::Database(_) if error.is_refused() => ErrorKind::PermissionDenied,
        ArchiveError::Database(_) => ErrorKind::StorageFailed,
    };
    RpcError::new(kind, error.to_string())
}

/// A full queue.
pub(crate) fn busy(what: &str) -> RpcError {
    RpcError::new(ErrorKind::Busy, format!("{what} has too much to do; try again in a moment"))
}

/// A fault of herma itself; the log says more.
pub(crate) fn internal(what: &str) -> RpcError {
    RpcError::new(ErrorKind::Internal, format!("{what} failed inside herma; its log says more"))
}
