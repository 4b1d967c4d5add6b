//! Why the database did not do what it was asked.

use std::error::Error;
use std::io;

use tokio_postgres::error::SqlState;

/// Why the database did not do what it was asked. No password stands in any of these.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SharedError {
    /// It can't be reached, or does not answer in time. Nothing was done.
    #[error("the shared database can't be reached: {0}")]
    Unreachable(String),
    /// The connection broke, or time ran out, after the change was sent: it may have been done.
    #[error("the shared database went away while it worked on a change; whether it was done is not known yet: {0}")]
    Unsettled(String),
    /// Another change holds what is wanted, or came between. Nothing was done, and all else goes on.
    #[error("another change of the same in the shared database is in the way: {0}")]
    Contended(String),
    /// It has no tables of herma.
    #[error("the shared database has no tables of herma yet; whoever owns it runs `herma shared init`")]
    NoTables,
    /// Its tables are those of an earlier version.
    #[error(
        "the tables of the shared database have version {found}, and this version of herma needs {needed}; \
         whoever owns it runs `herma shared init`"
    )]
    OldTables {
        /// What is there.
        found: i32,
        /// What is needed.
        needed: i32,
    },
    /// Its tables have a version from before the first release.
    #[error(
        "the tables of the shared database have version {0}, which was never released: export each space with the herma that \
         made them, drop the schema `herma`, run `herma shared init` and import the spaces"
    )]
    UnreleasedTables(i32),
    /// Its tables are those of a later version.
    #[error(
        "the tables of the shared database have version {found}, and this version of herma knows them up to {known}; \
         it has to be brought up to date"
    )]
    NewTables {
        /// What is there.
        found: i32,
        /// What is known.
        known: i32,
    },
    /// It lets nobody in by that role and password.
    #[error(
        "the shared database does not let this host in ({0}): look at the role in `shared.url`, at `shared.password_env` and \
         `shared.password_file`, which are read when the daemon starts, and at pg_hba.conf"
    )]
    Rejected(String),
    /// It asks for the password in a form that others could read or try out.
    #[error(
        "the shared database asks for the password in clear, or as an MD5 digest, on a line without TLS, and got none: have the role \
         log in by scram-sha-256, or the server speak TLS (`sslmode=require`); where the line is safe, \
         `shared.password_in_clear = true` allows it"
    )]
    PasswordInClear,
    /// The role may not do it.
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
    /// The object store does not do what it was asked.
    #[error("the object store for outputs says: {0}")]
    NoObjects(String),
    /// It said something else.
    #[error("the shared database says: {0}")]
    Refused(String),
}

impl SharedError {
    /// Whether it may go better by itself.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Unsettled(_) | Self::Contended(_))
    }

    /// Of a connection that could not be made, or a question that changes nothing.
    pub(crate) fn of_question(error: &tokio_postgres::Error) -> Self {
        match Said::of(error) {
            Said::Nothing if asks_in_clear(error) => Self::PasswordInClear,
            Said::Nothing => match words(error) {
                words if words.contains("password missing") => Self::Rejected(words),
                words => Self::Unreachable(words),
            },
            Said::GoesAway(words) => Self::Unreachable(words),
            Said::Refuses(error) => error,
        }
    }

    /// Of a change that was sent.
    pub(crate) fn of_change(error: &tokio_postgres::Error) -> Self {
        match Said::of(error) {
            Said::Nothing => Self::Unsettled(words(error)),
            Said::GoesAway(words) => Self::Unsettled(words),
            Said::Refuses(error) => error,
        }
    }
}

/// The server asks for the password in clear, or for an MD5 digest of it, which is as good as that: who has it can try
/// out passwords, and as a false server chooses what goes into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it asks for the password in clear, or as an MD5 digest, on a line without TLS")]
pub(crate) struct AsksInClear;

/// What the server itself said.
enum Said {
    Nothing,
    GoesAway(String),
    Refuses(SharedError),
}

impl Said {
    fn of(error: &tokio_postgres::Error) -> Self {
        let Some(said) = error.as_db_error() else { return Self::Nothing };
        let (code, words) = (said.code(), said.message().to_owned());
        match code.code().get(..2) {
            // The operator intervenes, the system fails, resources run out, a connection ends.
            Some("57" | "58" | "53" | "08") => Self::GoesAway(words),
            // Another change holds the row, or came first; the server took back what was begun.
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

/// Whether a connection was given up for what its server asked for.
fn asks_in_clear(error: &tokio_postgres::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.and_then(io::Error::get_ref).is_some_and(|inner| inner.is::<AsksInClear>())
}

/// An error and its causes, outermost first.
fn words(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}
