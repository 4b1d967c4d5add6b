//! The errors of the shared database.

use std::error::Error;
use std::io;

use tokio_postgres::error::SqlState;

/// An error of the shared database. None of these contains a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SharedError {
    /// The database can't be reached, or does not answer in time. Nothing was changed.
    #[error("the shared database can't be reached: {0}")]
    Unreachable(String),
    /// The connection broke, or time ran out, after the change was sent. The change may have been made.
    #[error("the shared database went away while it worked on a change; whether it was done is not known yet: {0}")]
    Unsettled(String),
    /// Another change holds the row, or came first. Nothing was changed, and other requests are not affected.
    #[error("another change of the same in the shared database is in the way: {0}")]
    Contended(String),
    /// The database has no tables of herma.
    #[error("the shared database has no tables of herma yet; its owner has to run `herma shared init`")]
    NoTables,
    /// The tables are of an earlier version.
    #[error(
        "the tables of the shared database have version {found}, and this version of herma needs {needed}; \
         whoever owns it runs `herma shared init`"
    )]
    OldTables {
        /// The version of the tables.
        found: i32,
        /// The version that this herma needs.
        needed: i32,
    },
    /// Its tables have a version from before the first release.
    #[error(
        "the tables of the shared database have version {0}, which was never released: export each space with the herma that \
         made them, drop the schema `herma`, run `herma shared init` and import the spaces"
    )]
    UnreleasedTables(i32),
    /// The tables are of a later version.
    #[error(
        "the tables of the shared database have version {found}, and this version of herma knows them up to {known}; \
         it has to be brought up to date"
    )]
    NewTables {
        /// The version of the tables.
        found: i32,
        /// The newest version that this herma knows.
        known: i32,
    },
    /// The database rejects that role and password.
    #[error(
        "the shared database does not let this host in ({0}): look at the role in `shared.url`, at `shared.password_env` and \
         `shared.password_file`, which are read when the daemon starts, and at pg_hba.conf"
    )]
    Rejected(String),
    /// The server requests the password in a form that others could read or guess it from.
    #[error(
        "the shared database asks for the password in clear, or as an MD5 digest, on a line without TLS, and got none: have the role \
         log in by scram-sha-256, or the server speak TLS (`sslmode=require`); where the line is safe, \
         `shared.password_in_clear = true` allows it"
    )]
    PasswordInClear,
    /// The role may not do that.
    #[error(
        "the role may not do that in the shared database ({0}); see docs/sharing.md for what it needs, and whether it is a member of the space"
    )]
    Forbidden(String),
    /// The space has no such store.
    #[error("{profile}'s {target} is not shared in the space {space:?}; `herma shared join` brings it there")]
    NoStore {
        /// The space.
        space: String,
        /// The profile.
        profile: String,
        /// The store.
        target: String,
    },
    /// An error of the object store.
    #[error("the object store for outputs says: {0}")]
    NoObjects(String),
    /// Any other error of the database.
    #[error("the shared database says: {0}")]
    Refused(String),
}

impl SharedError {
    /// Whether a retry may succeed.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Unsettled(_) | Self::Contended(_))
    }

    /// Converts the error of a connection that could not be opened, or of a query that changes nothing.
    pub(crate) fn of_question(error: &tokio_postgres::Error) -> Self {
        match ServerError::of(error) {
            ServerError::Nothing if asks_in_clear(error) => Self::PasswordInClear,
            ServerError::Nothing => match words(error) {
                words if words.contains("password missing") => Self::Rejected(words),
                words => Self::Unreachable(words),
            },
            ServerError::GoesAway(words) => Self::Unreachable(words),
            ServerError::Refuses(error) => error,
        }
    }

    /// Converts the error of a change that was sent.
    pub(crate) fn of_change(error: &tokio_postgres::Error) -> Self {
        match ServerError::of(error) {
            ServerError::Nothing => Self::Unsettled(words(error)),
            ServerError::GoesAway(words) => Self::Unsettled(words),
            ServerError::Refuses(error) => error,
        }
    }
}

/// The error for a server that requests the password in clear, or as an MD5 digest, which is as unsafe: its reader can
/// try out passwords, and a false server chooses the salt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it asks for the password in clear, or as an MD5 digest, on a line without TLS")]
pub(crate) struct CleartextPasswordError;

/// The server's own part of an error.
enum ServerError {
    Nothing,
    GoesAway(String),
    Refuses(SharedError),
}

impl ServerError {
    fn of(error: &tokio_postgres::Error) -> Self {
        let Some(said) = error.as_db_error() else { return Self::Nothing };
        let (code, words) = (said.code(), said.message().to_owned());
        match code.code().get(..2) {
            // The operator intervenes, the system fails, resources run out, or a connection ends.
            Some("57" | "58" | "53" | "08") => Self::GoesAway(words),
            // Another change holds the row, or came first. The server rolled the transaction back.
            _ if *code == SqlState::LOCK_NOT_AVAILABLE
                || *code == SqlState::T_R_DEADLOCK_DETECTED
                || *code == SqlState::T_R_SERIALIZATION_FAILURE =>
            {
                Self::Refuses(SharedError::Contended(words))
            }
            _ if *code == SqlState::UNDEFINED_TABLE || *code == SqlState::INVALID_SCHEMA_NAME => {
                Self::Refuses(SharedError::NoTables)
            }
            Some("28") => Self::Refuses(SharedError::Rejected(words)),
            // The server is read-only: it failed over, or its disk is full.
            _ if *code == SqlState::READ_ONLY_SQL_TRANSACTION => Self::GoesAway(words),
            _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => Self::Refuses(SharedError::Forbidden(words)),
            _ => Self::Refuses(SharedError::Refused(words)),
        }
    }
}

/// Whether a connection was refused because its server requests the password in clear.
fn asks_in_clear(error: &tokio_postgres::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.and_then(io::Error::get_ref).is_some_and(|inner| inner.is::<CleartextPasswordError>())
}

/// Returns the messages of an error and its causes, outermost first.
fn words(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}
