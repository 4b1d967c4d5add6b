//! Whether the database is reachable and since when, and the last known state of its stores.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use herma_shared::SharedError;
use tokio::sync::watch;

use crate::data::clock::unix_now;

/// The state of the connection to the database.
#[derive(Debug, Clone, Default)]
pub(crate) struct LinkState {
    /// Whether the last request was answered; `None` before the first request.
    pub is_up: Option<bool>,
    /// Since when that is so, in Unix seconds.
    pub since: Option<f64>,
    /// The error, if the last request failed.
    pub error: Option<SharedError>,
}

/// The state of a store in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SharedStoreState {
    /// Its revision.
    pub revision: u64,
    /// The store's birth mark, which differs if the store was created again.
    pub born: String,
}

/// The knowledge about the database.
#[derive(Debug)]
pub(super) struct Link {
    state: Mutex<LinkState>,
    stores: Mutex<HashMap<(String, String), Seen>>,
    returns: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Seen {
    standing: Option<SharedStoreState>,
    /// When the store was last known to be equal here and there.
    same_at: Option<Instant>,
    /// Why the store can't be written, regardless of the state of the database.
    trouble: Option<SharedError>,
    /// Whether the trouble stays until the profile joins again.
    stays: bool,
}

impl Default for Link {
    fn default() -> Self {
        Self { state: Mutex::default(), stores: Mutex::default(), returns: watch::Sender::new(0) }
    }
}

impl Link {
    pub(super) fn state(&self) -> LinkState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn returns(&self) -> watch::Receiver<u64> {
        self.returns.subscribe()
    }

    /// Notes that the database answered.
    pub(super) fn answered(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_up != Some(true) {
            if state.is_up == Some(false) {
                tracing::info!("the shared database is there again");
            }
            *state = LinkState { is_up: Some(true), since: Some(unix_now()), error: None };
            drop(state);
            self.returns.send_modify(|count| *count += 1);
        }
    }

    /// Notes that the database did not answer, or that its answer was unusable.
    pub(super) fn failed(&self, error: &SharedError) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_up != Some(false) {
            tracing::warn!("{error}");
            state.since = Some(unix_now());
        }
        state.is_up = Some(false);
        state.error = Some(error.clone());
    }

    /// Returns why a store can't be written now, as far as that is known.
    pub(super) fn trouble(&self, profile: &str, target: &str) -> Option<SharedError> {
        let state = self.state();
        match state.is_up {
            Some(false) => state.error,
            _ => self.own_trouble(profile, target),
        }
    }

    /// Returns why a store can't be written, regardless of the state of the database.
    pub(super) fn own_trouble(&self, profile: &str, target: &str) -> Option<SharedError> {
        self.seen(profile, target, |seen| seen.trouble.clone())
    }

    /// Forgets a store's trouble, because its profile joined again.
    pub(super) fn joined(&self, profile: &str, target: &str) {
        self.seen(profile, target, |seen| *seen = Seen::default());
    }

    /// Notes that a store can't be written, or can again. With `stays`, the trouble stays until the profile joins
    /// again.
    pub(super) fn troubled(&self, profile: &str, target: &str, trouble: Option<SharedError>, stays: bool) {
        self.seen(profile, target, |seen| {
            if seen.stays {
                return;
            }
            seen.stays = stays;
            if let Some(error) = trouble.as_ref().filter(|error| seen.trouble.as_ref() != Some(error)) {
                tracing::error!("{error}");
            }
            seen.trouble = trouble;
        });
    }

    pub(super) fn standing(&self, profile: &str, target: &str) -> Option<SharedStoreState> {
        self.seen(profile, target, |seen| seen.standing.clone())
    }

    /// Notes the state of a store in the database. `is_same` says whether the store here has the same state.
    pub(super) fn set_store_state(&self, profile: &str, target: &str, standing: SharedStoreState, is_same: bool) {
        self.seen(profile, target, |seen| {
            seen.standing = Some(standing);
            if is_same {
                seen.same_at = Some(Instant::now());
            }
        });
    }

    /// Notes that the store here equals the one in the database.
    pub(super) fn is_same(&self, profile: &str, target: &str, revision: u64) {
        self.seen(profile, target, |seen| {
            seen.same_at = Some(Instant::now());
            if let Some(standing) = &mut seen.standing {
                standing.revision = standing.revision.max(revision);
            }
        });
    }

    pub(super) fn stale_s(&self, profile: &str, target: &str) -> Option<f64> {
        self.seen(profile, target, |seen| seen.same_at.map(|at| at.elapsed().as_secs_f64()))
    }

    fn seen<T>(&self, profile: &str, target: &str, with: impl FnOnce(&mut Seen) -> T) -> T {
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        with(stores.entry((profile.to_owned(), target.to_owned())).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_can_t_be_written_while_the_database_is_away_or_it_is_another_one() {
        let link = Link::default();
        let returns = link.returns();
        assert!(link.trouble("p", "user").is_none() && link.stale_s("p", "user").is_none());
        link.failed(&SharedError::Unreachable("gone".into()));
        assert_eq!(link.trouble("p", "user"), Some(SharedError::Unreachable("gone".into())));
        link.answered();
        assert_eq!(*returns.borrow(), 1);
        link.troubled("p", "user", Some(SharedError::Refused("another".into())), true);
        link.troubled("p", "user", None, false);
        assert!(link.trouble("p", "user").is_some() && link.trouble("p", "memory").is_none());
        link.joined("p", "user");
        assert!(link.trouble("p", "user").is_none());
        link.is_same("p", "user", 3);
        assert!(link.stale_s("p", "user").is_some_and(|age| age < 5.0));
    }
}
