//! How the summarizers do, over all sessions.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::data::summarizer_kind::Kind;

/// The last failure of each summarizer that did not succeed since.
#[derive(Debug, Default)]
pub(crate) struct Health(Mutex<BTreeMap<&'static str, String>>);

impl Health {
    pub(crate) fn succeeded(&self, kind: Kind) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(kind.name());
    }

    /// Takes a text that may be shown.
    pub(crate) fn failed(&self, kind: Kind, error: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(kind.name(), error.to_owned());
    }

    /// `ok`, or what went wrong last.
    pub(crate) fn state(&self, kind: Kind) -> String {
        let failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failures.get(kind.name()).map_or_else(|| "ok".into(), |error| format!("failing: {error}"))
    }
}
