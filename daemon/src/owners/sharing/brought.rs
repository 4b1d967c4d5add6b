//! Problems of uploading messages, outputs and sessions for other hosts. Each is logged once.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use herma_guard::{RedactOptions, redact};
use herma_shared::SharedError;

/// The pause after a session could not be published because of a passing error.
const SOON: Duration = Duration::from_secs(5);

/// The pause after the database refused a session.
const LATER: Duration = Duration::from_mins(1);

/// The current problems of uploads.
#[derive(Debug, Default)]
pub(super) struct UploadProblems {
    trouble: Mutex<Option<SharedError>>,
    outputs_trouble: Mutex<Option<SharedError>>,
    sessions_trouble: Mutex<Option<SharedError>>,
    /// Sessions that could not be published, each with the time until which others go first.
    failed: Mutex<HashMap<String, Instant>>,
}

impl UploadProblems {
    /// Returns why messages can't be uploaded.
    pub(super) fn trouble(&self) -> Option<SharedError> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns why outputs can't be uploaded.
    pub(super) fn outputs_trouble(&self) -> Option<SharedError> {
        self.outputs_trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns why sessions can't be published.
    pub(super) fn sessions_trouble(&self) -> Option<SharedError> {
        self.sessions_trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes that a session could not be published, so that others go first.
    pub(super) fn note_failed_session(&self, session: String, error: &SharedError) {
        let pause = if error.is_passing() { SOON } else { LATER };
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).insert(session, Instant::now() + pause);
    }

    /// Returns the sessions that could not be published a short while ago.
    pub(super) fn failed_sessions(&self) -> HashSet<String> {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.retain(|_, until| *until > Instant::now());
        failed.keys().cloned().collect()
    }

    /// Remembers the problem with messages, and logs it once.
    pub(super) fn note(&self, trouble: Option<SharedError>) {
        if let Some(error) = changed(&self.trouble, trouble) {
            let words = masked(&error);
            tracing::warn!("messages are not brought to the shared database: {words}");
        }
    }

    /// Remembers the problem with sessions, and logs it once.
    pub(super) fn note_sessions(&self, trouble: Option<SharedError>) {
        if let Some(error) = changed(&self.sessions_trouble, trouble) {
            let words = masked(&error);
            tracing::warn!("sessions can't go to other hosts: {words}");
        }
    }

    /// Remembers the problem with outputs, and logs it once.
    pub(super) fn note_outputs(&self, trouble: Option<SharedError>) {
        if let Some(error) = changed(&self.outputs_trouble, trouble) {
            let words = masked(&error);
            tracing::warn!("outputs are not brought where other hosts find them: {words}");
        }
    }
}

/// Masks secrets, which an error text from outside may contain.
fn masked(error: &SharedError) -> String {
    redact(&error.to_string(), RedactOptions::default()).text.into_owned()
}

/// Replaces a problem, and returns the new one if it differs.
fn changed(known: &Mutex<Option<SharedError>>, trouble: Option<SharedError>) -> Option<SharedError> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let new = trouble.clone().filter(|error| known.as_ref() != Some(error));
    *known = trouble;
    new
}
