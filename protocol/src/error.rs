//! The closed set of errors that a request can be answered with.

mod form;

use serde::{Deserialize, Serialize};

use crate::{Json, limits};

/// What went wrong, for programs. The set is closed: a new kind is a new
/// protocol version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The line or frame is not JSON, not UTF-8, or no envelope.
    ParseError,
    /// JSON, but no request.
    InvalidRequest,
    /// No method of that name; the message names the nearest.
    UnknownMethod,
    /// A param is missing, unknown, of the wrong type or out of its range.
    InvalidParams,
    /// A fault of herma itself. Only this one request failed.
    Internal,
    /// Something is over a named limit.
    TooLarge,
    /// A bounded queue is full, or the same thing is already being done.
    Busy,
    /// The caller's deadline passed first.
    DeadlineExceeded,
    /// The caller went away, or the daemon is stopping.
    Cancelled,
    /// No such session, handle or profile.
    NotFound,
    /// The thing has changed since the caller looked.
    Conflict,
    /// A file exists but can't be read as what it should be. It is left alone.
    Unreadable,
    /// The disk is full, or a quota is.
    StorageFull,
    /// A read, write or sync failed.
    StorageFailed,
    /// The system refused access to a file or a socket.
    PermissionDenied,
    /// A part of herma that the request needs is not in use.
    Unavailable,
}

/// Whose fault an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The caller's: the same call will fail again.
    Caller,
    /// The disk's, or whoever manages it.
    Disk,
    /// Another program's, an LLM endpoint's for instance.
    Peer,
    /// herma's own.
    Herma,
}

impl ErrorKind {
    /// Every kind, in the order of the table in docs/protocol.md.
    pub const ALL: [Self; 16] = [
        Self::ParseError,
        Self::InvalidRequest,
        Self::UnknownMethod,
        Self::InvalidParams,
        Self::Internal,
        Self::TooLarge,
        Self::Busy,
        Self::DeadlineExceeded,
        Self::Cancelled,
        Self::NotFound,
        Self::Conflict,
        Self::Unreadable,
        Self::StorageFull,
        Self::StorageFailed,
        Self::PermissionDenied,
        Self::Unavailable,
    ];

    /// The JSON-RPC code.
    #[must_use]
    pub const fn code(self) -> i32 {
        match self {
            Self::ParseError => -32700,
            Self::InvalidRequest => -32600,
            Self::UnknownMethod => -32601,
            Self::InvalidParams => -32602,
            Self::Internal => -32603,
            Self::TooLarge => -32001,
            Self::Busy => -32002,
            Self::DeadlineExceeded => -32003,
            Self::Cancelled => -32004,
            Self::NotFound => -32005,
            Self::Conflict => -32006,
            Self::Unreadable => -32007,
            Self::StorageFull => -32008,
            Self::StorageFailed => -32009,
            Self::PermissionDenied => -32010,
            Self::Unavailable => -32011,
        }
    }

    /// The name that stands in `data.kind`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ParseError => "parse_error",
            Self::InvalidRequest => "invalid_request",
            Self::UnknownMethod => "unknown_method",
            Self::InvalidParams => "invalid_params",
            Self::Internal => "internal",
            Self::TooLarge => "too_large",
            Self::Busy => "busy",
            Self::DeadlineExceeded => "deadline_exceeded",
            Self::Cancelled => "cancelled",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Unreadable => "unreadable",
            Self::StorageFull => "storage_full",
            Self::StorageFailed => "storage_failed",
            Self::PermissionDenied => "permission_denied",
            Self::Unavailable => "unavailable",
        }
    }

    /// Whether the very same call can succeed later without anyone mending
    /// what the caller sent.
    #[must_use]
    pub const fn retry(self) -> bool {
        match self {
            Self::Busy
            | Self::DeadlineExceeded
            | Self::Cancelled
            | Self::StorageFull
            | Self::StorageFailed
            | Self::Unreadable
            | Self::PermissionDenied
            | Self::Unavailable => true,
            Self::ParseError
            | Self::InvalidRequest
            | Self::UnknownMethod
            | Self::InvalidParams
            | Self::Internal
            | Self::TooLarge
            | Self::NotFound
            | Self::Conflict => false,
        }
    }

    /// Whose fault an error of this kind is.
    #[must_use]
    pub const fn fault(self) -> Fault {
        match self {
            Self::ParseError
            | Self::InvalidRequest
            | Self::UnknownMethod
            | Self::InvalidParams
            | Self::TooLarge
            | Self::DeadlineExceeded
            | Self::Cancelled
            | Self::NotFound
            | Self::Conflict => Fault::Caller,
            Self::Unreadable | Self::StorageFull | Self::StorageFailed | Self::PermissionDenied => Fault::Disk,
            Self::Internal | Self::Busy | Self::Unavailable => Fault::Herma,
        }
    }
}

/// An error as it travels: `message` for people, `kind` for programs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({})", kind.name())]
pub struct RpcError {
    /// What went wrong.
    pub kind: ErrorKind,
    /// What was wrong, where, and what to do. No secrets.
    pub message: String,
    /// A JSON object with what this kind of error adds, such as `revision` and
    /// `entries` of a conflict.
    pub details: Option<Json>,
}

impl RpcError {
    /// An error without details. A message of more than [`limits::ERROR_TEXT`] bytes is cut.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let mut message = message.into();
        limits::cut_error(&mut message);
        Self { kind, message, details: None }
    }

    /// Adds the details that belong to this error; `details` must be a JSON
    /// object. One that has no JSON form is left out.
    #[must_use]
    pub fn with_details(mut self, details: &impl Serialize) -> Self {
        self.details = Json::from_value(details).ok();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_on_the_wire_are_the_names_of_the_table() {
        for kind in ErrorKind::ALL {
            let json = serde_json::to_string(&kind).unwrap_or_default();
            assert_eq!(json, format!("\"{}\"", kind.name()));
        }
    }

    #[test]
    fn codes_are_distinct() {
        let mut codes: Vec<i32> = ErrorKind::ALL.iter().map(|kind| kind.code()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), ErrorKind::ALL.len());
    }
}
