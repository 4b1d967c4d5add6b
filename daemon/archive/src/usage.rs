//! The tokens that model calls used.

use rusqlite::types::ToSql;
use rusqlite::{Row, params};

use crate::{Archive, ArchiveError, Reader};

/// The tokens of one call. Each token is counted in one field only, except that `output` includes `reasoning`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Buckets {
    /// Tokens read, without the cached ones.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens read from the provider's cache.
    pub cache_read: u64,
    /// Tokens written to the provider's cache.
    pub cache_write: u64,
    /// Tokens written but not shown.
    pub reasoning: u64,
}

/// One model call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UsageRow<'a> {
    /// The session of the call.
    pub session: Option<&'a str>,
    /// The id of the call in its session, if it has one.
    pub call: Option<&'a str>,
    /// When, in Unix seconds.
    pub time: f64,
    /// The model.
    pub model: Option<&'a str>,
    /// The agent; the session's agent if absent.
    pub agent: Option<&'a str>,
    /// The provider.
    pub provider: Option<&'a str>,
    /// The tokens.
    pub buckets: Buckets,
}

/// Selects the calls to add up, and how to group them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UsageQuery<'a> {
    /// Only of this session.
    pub session: Option<&'a str>,
    /// Only of this profile's sessions.
    pub profile: Option<&'a str>,
    /// Only from this time on, in Unix seconds.
    pub since: Option<f64>,
    /// Only before this time, in Unix seconds.
    pub until: Option<f64>,
    /// The key of the groups.
    pub by: GroupBy,
}

/// How usage is grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// The session's id.
    Session,
    /// The model.
    Model,
    /// The agent.
    Agent,
    /// The day, as `2026-11-21`, in the machine's time zone.
    Day,
}

/// The sum of several calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of calls.
    pub calls: u64,
    /// As in [`Buckets`].
    pub input: u64,
    /// As in [`Buckets`].
    pub output: u64,
    /// As in [`Buckets`].
    pub cache_read: u64,
    /// As in [`Buckets`].
    pub cache_write: u64,
    /// As in [`Buckets`].
    pub reasoning: u64,
}

impl Totals {
    /// Returns how many tokens were sent.
    #[must_use]
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Returns how many tokens were sent and written.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output)
    }

    fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.calls, other.calls),
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
            (&mut self.reasoning, other.reasoning),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(more);
        }
    }
}

/// SQLite returns an error for a sum of integers that overflows, and that error would stay for ever. A sum of floats is
/// exact up to 2^53, and the cast stops at the largest integer.
const SUMS: &str = "count(*), CAST(total(usage.input) AS INTEGER), CAST(total(usage.output) AS INTEGER), \
     CAST(total(cache_read) AS INTEGER), CAST(total(cache_write) AS INTEGER), CAST(total(reasoning) AS INTEGER)";

/// The number of these columns.
const SUMS_COUNT: usize = 6;

fn totals(row: &Row<'_>, first: usize) -> rusqlite::Result<Totals> {
    Ok(Totals {
        calls: row.get(first)?,
        input: row.get(first + 1)?,
        output: row.get(first + 2)?,
        cache_read: row.get(first + 3)?,
        cache_write: row.get(first + 4)?,
        reasoning: row.get(first + 5)?,
    })
}

impl Archive {
    /// Records the usage of a call; returns whether the call is new. A call with an id that is recorded again keeps its
    /// first time and its largest counts, because a client may write it down before it has ended. Nothing is recorded
    /// for a removed session.
    ///
    /// # Errors
    /// A number of 2^63 and more, or a failure of the database.
    pub fn record_usage(&self, usage: &UsageRow<'_>) -> Result<bool, ArchiveError> {
        let UsageRow { session, call, time, model, agent, provider, buckets } = *usage;
        let Buckets { input, output, cache_read, cache_write, reasoning } = buckets;
        let is_known = call.is_some() && self.is_recorded(session, call)?;
        let recorded = self
            .connection()
            .prepare_cached(
                "INSERT INTO usage (session, call, time, model, agent, provider, input, output, cache_read, cache_write,
                                    reasoning)
                 SELECT ?1,?2,?3,?4,coalesce(?5,(SELECT agent FROM session WHERE id = ?1)),?6,?7,?8,?9,?10,?11
                 WHERE ?1 IS NULL OR EXISTS (SELECT 1 FROM session WHERE id = ?1)
                 ON CONFLICT (session, call) WHERE call IS NOT NULL DO UPDATE SET
                    time = min(time, excluded.time), input = max(input, excluded.input),
                    output = max(output, excluded.output), cache_read = max(cache_read, excluded.cache_read),
                    cache_write = max(cache_write, excluded.cache_write), reasoning = max(reasoning, excluded.reasoning)",
            )?
            .execute(params![
                session,
                call,
                time,
                model,
                agent,
                provider,
                input,
                output,
                cache_read,
                cache_write,
                reasoning
            ])?;
        Ok(recorded > 0 && !is_known)
    }

    fn is_recorded(&self, session: Option<&str>, call: Option<&str>) -> Result<bool, ArchiveError> {
        let mut query =
            self.connection().prepare_cached("SELECT EXISTS (SELECT 1 FROM usage WHERE session = ?1 AND call = ?2)")?;
        Ok(query.query_row([session, call], |row| row.get(0))?)
    }
}

impl Reader {
    /// Returns the calls added up by session, model, agent or day, and the total of all. The groups are sorted by
    /// total, the largest first, and an unknown value has the key `unknown`. Days are sorted oldest first.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn usage(&self, query: &UsageQuery<'_>) -> Result<(Vec<(String, Totals)>, Totals), ArchiveError> {
        let key = match query.by {
            GroupBy::Session => "usage.session",
            GroupBy::Model => "model",
            GroupBy::Agent => "usage.agent",
            GroupBy::Day => "date(usage.time, 'unixepoch', 'localtime')",
        };
        let mut values: Vec<&dyn ToSql> = Vec::new();
        let mut conditions = String::new();
        let mut and = |condition: &str, value| {
            values.push(value);
            conditions.push_str(&format!(" AND {condition} ?{}", values.len()));
        };
        if let Some(session) = &query.session {
            and("usage.session =", session);
        }
        if let Some(profile) = &query.profile {
            and("(SELECT profile FROM session WHERE session.id = usage.session) =", profile);
        }
        if let Some(since) = &query.since {
            and("usage.time >=", since);
        }
        if let Some(until) = &query.until {
            and("usage.time <", until);
        }
        let sql =
            format!("SELECT coalesce({key}, 'unknown'), {SUMS} FROM usage WHERE 1{conditions} GROUP BY 1 ORDER BY 1");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map(values.as_slice(), |row| Ok((row.get(0)?, totals(row, 1)?)))?;
        let mut rows: Vec<(String, Totals)> = rows.collect::<Result<_, _>>()?;
        if query.by != GroupBy::Day {
            rows.sort_by_key(|(_, totals)| std::cmp::Reverse(totals.total()));
        }
        let mut all = Totals::default();
        rows.iter().for_each(|(_, totals)| all.add(totals));
        Ok((rows, all))
    }

    /// Returns the calls of a session added up, and the tokens of the newest one's prompt.
    pub(crate) fn session_totals(&self, session: &str) -> Result<(Totals, Option<u64>), ArchiveError> {
        // With max(), the other columns are those of its row. Large whole numbers would overflow.
        let prompt = "CAST(0.0 + input + cache_read + cache_write AS INTEGER)";
        let query = format!("SELECT {SUMS}, max(time), {prompt} FROM usage WHERE session = ?1");
        let read = |row: &Row<'_>| Ok((totals(row, 0)?, row.get(SUMS_COUNT + 1)?));
        Ok(self.connection.prepare_cached(&query)?.query_row([session], read)?)
    }
}

#[cfg(test)]
mod tests;
