//! The closed set of errors that a reply can contain.

mod form;

use serde::{Deserialize, Serialize};

use crate::{Json, limits};

/// The kind of an error, for programs. The set is closed: a new kind requires a new protocol version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The line or frame is not JSON, not UTF-8, or not a valid envelope.
    ParseError,
    /// The JSON is not a request.
    InvalidRequest,
    /// There is no such method; the message suggests the nearest name.
    UnknownMethod,
    /// A param is missing, unknown, of the wrong type or out of its range.
    InvalidParams,
    /// A bug in herma. Only this request failed.
    Internal,
    /// Something exceeds a named limit.
    TooLarge,
    /// A bounded queue is full, or the same operation is already running.
    Busy,
    /// The caller's deadline passed.
    DeadlineExceeded,
    /// The caller disconnected, or the daemon is stopping.
    Cancelled,
    /// There is no such session, handle or profile.
    NotFound,
    /// The object has changed since the caller read it.
    Conflict,
    /// A file exists but its content is not valid. It is left unchanged.
    Unreadable,
    /// The disk or a quota is full.
    StorageFull,
    /// A read, write or sync failed.
    StorageFailed,
    /// The system refused access to a file or a socket.
    PermissionDenied,
    /// A part of herma that the request needs is not available.
    Unavailable,
}

/// The party responsible for an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The caller: it sent a wrong request, set too short a deadline or went away.
    Caller,
    /// The disk, or its administrator.
    Disk,
    /// Another program, such as an LLM endpoint.
    Peer,
    /// herma itself.
    Herma,
}

impl ErrorKind {
    /// All kinds, in the order of the table in docs/protocol.md.
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

    /// Returns the JSON-RPC error code.
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

    /// Returns the name for `data.kind`.
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

    /// Returns whether the same call can succeed later without a change to the request.
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

    /// Returns the party responsible for errors of this kind.
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

/// An error on the wire: `message` is for people, `kind` for programs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({})", kind.name())]
pub struct RpcError {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// What is wrong, where, and what to do about it. Contains no secrets.
    pub message: String,
    /// A JSON object with data specific to this kind, such as `revision` and `entries` for a conflict.
    pub details: Option<Json>,
}

impl RpcError {
    /// Creates an error without details. Cuts a message of more than [`limits::ERROR_TEXT`] bytes.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let mut message = message.into();
        limits::cut_error(&mut message);
        Self { kind, message, details: None }
    }

    /// Adds details, which must serialize to a JSON object. Details that can't be written as JSON are left out.
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
