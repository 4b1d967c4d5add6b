//! Chains of sessions: continuations after a compression, titles, orphans.

use std::collections::HashSet;

use rusqlite::{OptionalExtension, params};

use crate::transcript::to_u64;
use crate::{Archive, ArchiveError, Reader};

/// The maximum number of continuations that are followed, far more than any session has. It also ends a cycle.
pub const LONGEST_CHAIN: usize = 10_000;

/// The maximum number of steps of [`Reader::tip`].
pub const TIP_STEPS: usize = 100;

/// The maximum number of children that a resumption follows.
pub const LONGEST_RESUMPTION: usize = 32;

/// Chars of a title that are kept when it gets a number. The number takes the rest of the maximum length of a title.
const BASE_CHARS: usize = 1_000;

/// Age in seconds from which a continuation that was never used counts as an orphan.
pub const ORPHAN_AGE: f64 = 7.0 * 24.0 * 3600.0;

/// Selects the session that another one continues.
const PREVIOUS: &str = "SELECT parent.id FROM session AS child JOIN session AS parent ON parent.id = child.parent
                        WHERE child.id = ?1 AND parent.end_reason = 'compression'
                        AND parent.profile = child.profile
                        AND child.started_at >= parent.ended_at";

/// Selects the newest session that continues another one.
const NEXT: &str = "SELECT child.id FROM session AS parent JOIN session AS child ON child.parent = parent.id
                    WHERE parent.id = ?1 AND parent.end_reason = 'compression'
                    AND child.started_at >= parent.ended_at ORDER BY child.started_at DESC, child.id DESC LIMIT 1";

/// Selects a session and all sessions that it continues, nearest first.
const LINEAGE: &str = "WITH RECURSIVE chain (id, depth) AS (
        SELECT ?1, 0
        UNION SELECT parent.id, chain.depth + 1 FROM chain
        JOIN session AS child ON child.id = chain.id
        JOIN session AS parent ON parent.id = child.parent
        WHERE parent.end_reason = 'compression' AND parent.profile = child.profile
        AND child.started_at >= parent.ended_at AND chain.depth < ?2
    ) SELECT id FROM chain ORDER BY depth";

impl Reader {
    /// Returns the newest continuation of a session that ended by compression, and so on to the end of the chain, at
    /// most [`TIP_STEPS`] away. Any other session, or an unknown one, is its own tip.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn tip(&self, id: &str) -> Result<String, ArchiveError> {
        self.follow(id, NEXT, TIP_STEPS)
    }

    /// Returns the tip, however long the chain is.
    pub(crate) fn end_of_chain(&self, id: &str) -> Result<String, ArchiveError> {
        self.follow(id, NEXT, LONGEST_CHAIN)
    }

    /// Returns the session at the other end: the one that the chain of continuations began with.
    pub(crate) fn lineage_root(&self, id: &str) -> Result<String, ArchiveError> {
        self.follow(id, PREVIOUS, LONGEST_CHAIN)
    }

    /// Returns the session and the sessions that it continues, nearest first.
    pub(crate) fn lineage(&self, id: &str) -> Result<Vec<String>, ArchiveError> {
        let mut query = self.connection.prepare_cached(LINEAGE)?;
        let rows = query.query_map(params![id, to_u64(LONGEST_CHAIN)], |row| row.get(0))?;
        let mut sessions: Vec<String> = rows.collect::<Result<_, _>>()?;
        let mut seen = HashSet::new();
        sessions.retain(|id| seen.insert(id.clone()));
        Ok(sessions)
    }

    fn follow(&self, id: &str, step: &str, most: usize) -> Result<String, ArchiveError> {
        let mut step = self.connection.prepare_cached(step)?;
        let mut at = id.to_owned();
        for _ in 0..most {
            match step.query_row([&at], |row| row.get(0)).optional()? {
                Some(next) => at = next,
                None => break,
            }
        }
        Ok(at)
    }

    /// Returns the session to resume: the session itself if it has messages. Otherwise this is the first session with
    /// messages among its latest child, that child's latest child, and so on. If none has messages, it is the session
    /// itself.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn resume_target(&self, id: &str) -> Result<String, ArchiveError> {
        let mut has_messages = self.connection.prepare_cached("SELECT messages > 0 FROM session WHERE id = ?1")?;
        let mut child = self
            .connection
            .prepare_cached("SELECT id FROM session WHERE parent = ?1 ORDER BY started_at DESC, id DESC LIMIT 1")?;
        if has_messages.query_row([id], |row| row.get(0)).optional()? != Some(false) {
            return Ok(id.to_owned());
        }
        let mut at = id.to_owned();
        for _ in 0..LONGEST_RESUMPTION {
            let Some(next) = child.query_row([&at], |row| row.get::<_, String>(0)).optional()? else { break };
            at = next;
            if has_messages.query_row([&at], |row| row.get(0))? {
                return Ok(at);
            }
        }
        Ok(id.to_owned())
    }

    /// Returns a title for a continuation: the title without its number, and the number after the highest in use. A
    /// title that no session has stays without a number.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn next_title(&self, title: &str) -> Result<String, ArchiveError> {
        let base = numbered(title).map_or(title, |(base, _)| base);
        // `$` is the char after `#`, so the range has every title that begins with the base, a space and `#`.
        let mut query = self.connection.prepare_cached(
            "SELECT title FROM session WHERE title = ?1
             UNION ALL SELECT title FROM session WHERE title >= ?1 || ' #' AND title < ?1 || ' $'",
        )?;
        let mut rows = query.query([base])?;
        let mut highest: Option<u64> = None;
        while let Some(row) = rows.next()? {
            let used = row.get_ref(0)?.as_str()?;
            let number = match numbered(used) {
                _ if used == base => Some(1),
                Some((other, number)) if other == base => Some(number),
                _ => None,
            };
            highest = highest.max(number);
        }
        let numbered = |highest: u64| {
            let base: String = base.chars().take(BASE_CHARS).collect();
            format!("{base} #{}", highest.saturating_add(1))
        };
        Ok(highest.map_or_else(|| base.to_owned(), numbered))
    }
}

impl Archive {
    /// Ends continuations that have messages but never called a model and are older than [`ORPHAN_AGE`]. The end reason
    /// is `orphaned_compression`, and their messages stay. Returns how many it ended.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn end_orphans(&self, now: f64) -> Result<u64, ArchiveError> {
        let query = "UPDATE session SET ended_at = ?1, end_reason = 'orphaned_compression'
             WHERE ended_at IS NULL AND messages > 0 AND started_at < ?2
             AND EXISTS (SELECT 1 FROM session AS parent
                         WHERE parent.id = session.parent AND parent.end_reason = 'compression')
             AND NOT EXISTS (SELECT 1 FROM usage WHERE usage.session = session.id)";
        Ok(to_u64(self.connection().prepare_cached(query)?.execute(params![now, now - ORPHAN_AGE])?))
    }
}

/// Splits a title into its base and its number, if it has one.
fn numbered(title: &str) -> Option<(&str, u64)> {
    let (base, number) = title.rsplit_once(" #")?;
    let is_number = !base.is_empty() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.parse().ok().map(|number| (base, number)))?
}

#[cfg(test)]
mod tests;
