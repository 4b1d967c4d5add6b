//! What went wrong with bringing messages, outputs and sessions to other hosts, each said once.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use herma_guard::{RedactOptions, redact};
use herma_shared::SharedError;

/// The pause after a session could not be told in time.
const SOON: Duration = Duration::from_secs(5);

/// The same where the database said no.
const LATER: Duration = Duration::from_mins(1);

/// What became of bringing messages.
#[derive(Debug, Default)]
pub(super) struct Brought {
    trouble: Mutex<Option<SharedError>>,
    outputs_trouble: Mutex<Option<SharedError>>,
    sessions_trouble: Mutex<Option<SharedError>>,
    /// Sessions that could not be told, and until when others have their turn.
    failed: Mutex<HashMap<String, Instant>>,
}

impl Brought {
    /// Why messages can't be brought.
    pub(super) fn trouble(&self) -> Option<SharedError> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why outputs can't be brought.
    pub(super) fn outputs_trouble(&self) -> Option<SharedError> {
        self.outputs_trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why sessions can't be told.
    pub(super) fn sessions_trouble(&self) -> Option<SharedError> {
        self.sessions_trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A session could not be told: others have their turn first.
    pub(super) fn note_failed_session(&self, session: String, error: &SharedError) {
        let pause = if error.is_passing() { SOON } else { LATER };
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).insert(session, Instant::now() + pause);
    }

    /// The sessions that could not be told a short while ago.
    pub(super) fn failed_sessions(&self) -> HashSet<String> {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.retain(|_, until| *until > Instant::now());
        failed.keys().cloned().collect()
    }

    /// Remembers what went wrong with messages, and says it once.
    pub(super) fn note(&self, trouble: Option<SharedError>) {
        if let Some(error) = changed(&self.trouble, trouble) {
            let words = masked(&error);
            tracing::warn!("messages are not brought to the shared database: {words}");
        }
    }

    /// The same of sessions.
    pub(super) fn note_sessions(&self, trouble: Option<SharedError>) {
        if let Some(error) = changed(&self.sessions_trouble, trouble) {
            let words = masked(&error);
            tracing::warn!("sessions can't go to other hosts: {words}");
        }
    }

    /// The same of outputs.
    pub(super) fn note_outputs(&self, trouble: Option<SharedError>) {
        if let Some(error) = changed(&self.outputs_trouble, trouble) {
            let words = masked(&error);
            tracing::warn!("outputs are not brought where other hosts find them: {words}");
        }
    }
}

/// What others said may have a secret in it.
fn masked(error: &SharedError) -> String {
    redact(&error.to_string(), RedactOptions::default()).text.into_owned()
}

/// Puts a trouble in the place of the one before, and gives it where it is another one.
fn changed(known: &Mutex<Option<SharedError>>, trouble: Option<SharedError>) -> Option<SharedError> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let new = trouble.clone().filter(|error| known.as_ref() != Some(error));
    *known = trouble;
    new
}
