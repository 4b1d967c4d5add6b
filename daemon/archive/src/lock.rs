//! Locks, for agents that compress a session by themselves.

use rusqlite::{OptionalExtension, TransactionBehavior, params};

use crate::{Archive, ArchiveError, Reader};

impl Archive {
    /// Takes the lock of a session, which need not be known, for `ttl` seconds. Without a ttl it lasts until it is
    /// released or [`Self::drop_unbound_locks`] runs. Returns true if `holder` has the lock now. A holder that had it
    /// already keeps its earlier end. An expired lock belongs to no one. An empty id or holder gets no lock.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn lock(&mut self, session: &str, holder: &str, ttl: Option<f64>, now: f64) -> Result<bool, ArchiveError> {
        if session.is_empty() || holder.is_empty() {
            return Ok(false);
        }
        // SQLite stores NaN as NULL, and NULL means that a lock never expires.
        let until = ttl.map(|ttl| now + ttl).map(|until| if until.is_nan() { now } else { until });
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction
            .prepare_cached("DELETE FROM lock WHERE session = ?1 AND until <= ?2")?
            .execute(params![session, now])?;
        transaction
            .prepare_cached("INSERT OR IGNORE INTO lock (session, holder, until) VALUES (?1, ?2, ?3)")?
            .execute(params![session, holder, until])?;
        let is_held = transaction
            .prepare_cached("SELECT 1 FROM lock WHERE session = ?1 AND holder = ?2")?
            .exists([session, holder])?;
        transaction.commit()?;
        Ok(is_held)
    }

    /// Releases a lock. Returns false if `holder` does not have it, or no longer has it.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn unlock(&self, session: &str, holder: &str, now: f64) -> Result<bool, ArchiveError> {
        let query = "DELETE FROM lock WHERE session = ?1 AND holder = ?2 AND (until IS NULL OR until > ?3)";
        Ok(self.connection().prepare_cached(query)?.execute(params![session, holder, now])? > 0)
    }

    /// Releases a lock that has no ttl. A lock of the same holder with a ttl stays.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn unlock_unbound(&self, session: &str, holder: &str) -> Result<(), ArchiveError> {
        let query = "DELETE FROM lock WHERE session = ?1 AND holder = ?2 AND until IS NULL";
        self.connection().prepare_cached(query)?.execute([session, holder])?;
        Ok(())
    }

    /// Drops the locks without a ttl. They end with the connection that took them, and no connection outlives the
    /// daemon. Returns how many it dropped.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn drop_unbound_locks(&self) -> Result<u64, ArchiveError> {
        let query = "DELETE FROM lock WHERE until IS NULL";
        Ok(crate::transcript::to_u64(self.connection().prepare_cached(query)?.execute([])?))
    }
}

impl Reader {
    /// Returns the holder of a session's lock.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn lock_holder(&self, session: &str, now: f64) -> Result<Option<String>, ArchiveError> {
        let query = "SELECT holder FROM lock WHERE session = ?1 AND (until IS NULL OR until > ?2)";
        Ok(self.connection.prepare_cached(query)?.query_row(params![session, now], |row| row.get(0)).optional()?)
    }
}

#[cfg(test)]
mod tests;
