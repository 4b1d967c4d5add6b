//! Locks of sessions, for agents that compress on their own.

use super::ArchiveHandle;
use crate::data::clock::unix_now;
use crate::data::error::Outcome;

impl ArchiveHandle {
    /// Takes a lock for `ttl_s` seconds, or without expiry. Calls `taken` with whether the lock was obtained; if
    /// `taken` returns false, the lock is released at once.
    pub(crate) async fn lock_session(
        &self,
        session: String,
        holder: String,
        ttl_s: Option<f64>,
        taken: impl FnOnce(bool) -> bool + Send + 'static,
    ) -> Outcome<bool> {
        self.write(move |archive| {
            let is_taken = archive.lock(&session, &holder, ttl_s, unix_now())?;
            if !taken(is_taken) && is_taken {
                archive.unlock_unbound(&session, &holder)?;
            }
            Ok(is_taken)
        })
        .await
    }

    /// Releases a lock. Calls `then` if the lock is free.
    pub(crate) async fn unlock_session(
        &self,
        session: String,
        holder: String,
        then: impl FnOnce() + Send + 'static,
    ) -> Outcome<bool> {
        self.write(move |archive| {
            let is_free = archive.unlock(&session, &holder, unix_now())?;
            if is_free {
                then();
            }
            Ok(is_free)
        })
        .await
    }

    /// Releases a lock without expiry, because its holder is gone.
    pub(crate) async fn release_session(&self, session: String, holder: String) {
        self.retry(move |archive| archive.unlock_unbound(&session, &holder)).await;
    }

    /// Returns the holder of a session's lock.
    pub(crate) async fn lock_holder(&self, session: String) -> Outcome<Option<String>> {
        self.read(move |reader| reader.lock_holder(&session, unix_now())).await
    }
}
