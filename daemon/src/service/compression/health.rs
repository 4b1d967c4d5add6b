//! The health of the summarizers, over all sessions.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::data::summarizer_kind::Kind;

/// The last failure of each summarizer that has not succeeded since.
#[derive(Debug, Default)]
pub(crate) struct Health(Mutex<BTreeMap<&'static str, String>>);

impl Health {
    pub(crate) fn succeeded(&self, kind: Kind) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(kind.name());
    }

    /// Notes a failure. The text must be safe to show.
    pub(crate) fn failed(&self, kind: Kind, error: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(kind.name(), error.to_owned());
    }

    /// Returns `ok`, or the last failure.
    pub(crate) fn state(&self, kind: Kind) -> String {
        let failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failures.get(kind.name()).map_or_else(|| "ok".into(), |error| format!("failing: {error}"))
    }
}
