//! The ledger: herma's changes to the context windows of sessions, with their costs and savings.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use herma_archive::ledger::{Call, Change, Kept, SessionLedger};
use herma_archive::usage::{Buckets, GroupBy};
use herma_context::Usage;
use herma_context::ledger::{self, Kind, Line};
use herma_context::usage::{self, MAX_TOKENS};
use herma_spill::catalog::Record;
use herma_spill::outputs::Outputs;
use serde_json::Value;

use super::caller::Caller;
use super::sessions::{ImportedMessages, ImportedPart, Importing, SessionService};
use crate::data::error::{Error, Outcome};
use crate::data::event::{Event, WindowChange};
use crate::data::names;
use crate::data::numbers::to_u64;
use crate::owners::archive::ArchiveHandle;
use crate::owners::blocking::blocking;
use crate::owners::events::Events;

/// The most calls, and the most changes, that one request records.
const LIMIT: usize = 10_000;

/// The key of rows without one.
const UNKNOWN: &str = "unknown";

/// Records ledgers and sums them up.
#[derive(Debug)]
pub(crate) struct LedgerService {
    pub sessions: Arc<SessionService>,
    pub archive: Arc<ArchiveHandle>,
    pub events: Events,
    pub outputs: Arc<Outputs>,
}

/// A call that a client reports.
#[derive(Debug, Clone)]
pub(crate) struct ReportedCall {
    /// Its id in the session.
    pub id: String,
    /// The time, in Unix seconds.
    pub time: f64,
    /// The model; `None` for the session's model.
    pub model: Option<String>,
    /// The provider.
    pub provider: Option<String>,
    /// The API that was used.
    pub api_mode: Option<String>,
    /// The usage object of the provider.
    pub usage: Value,
}

/// A part of the ledger, and its grouping.
#[derive(Debug, Clone)]
pub(crate) struct LedgerQuery {
    /// Limits the result to this session.
    pub session: Option<String>,
    /// Excludes rows before this time, in Unix seconds.
    pub since: Option<f64>,
    /// The grouping of the rows.
    pub by: GroupBy,
    /// Whether each group has a row for each agent.
    pub with_agents: bool,
}

/// What a row sums up.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowKey {
    /// The session, model, agent or day.
    pub key: String,
    /// The agent, if groups have a row for each.
    pub agent: Option<String>,
}

/// What was kept of a session at a time.
#[derive(Debug)]
struct KeptCounts {
    kept: Kept,
    spilled: u64,
}

/// The rows, while they are summed up.
type Rows = BTreeMap<RowKey, Sums>;

/// The sums of calls and changes. Costs are in tokens of plain input.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sums {
    /// The number of kept messages.
    pub messages: u64,
    /// The number of those that are the result of a search.
    pub found: u64,
    /// The number of outputs that were spilled, also of those that are gone.
    pub spilled: u64,
    /// The number of compressions that were not undone.
    pub compressed: u64,
    /// The number of calls of a model.
    pub calls: u64,
    /// The cost of these calls.
    pub cost: f64,
    /// The changes by kind, in the order of [`Kind::ALL`].
    pub parts: [Part; Kind::ALL.len()],
}

/// The sums of one kind of change.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Part {
    /// The number of changes.
    pub count: u64,
    /// The tokens with herma.
    pub added: u64,
    /// The tokens without herma.
    pub removed: u64,
    /// Their cost in the calls after them.
    pub cost: f64,
}

impl Sums {
    /// Returns what herma cost; below 0 for savings.
    pub(crate) fn difference(&self) -> f64 {
        self.parts.iter().map(|part| part.cost).sum()
    }

    fn add_line(&mut self, line: &Line) {
        let part = &mut self.parts[line.kind as usize];
        part.cost += line.cost;
        if let Some(change) = line.change {
            part.count += 1;
            part.added = part.added.saturating_add(change.added);
            part.removed = part.removed.saturating_add(change.removed);
        } else if line.kind == Kind::Summary && line.cost < 0.0 {
            // This request was not sent.
            part.count += 1;
        }
    }

    fn add_kept(&mut self, more: &KeptCounts) {
        self.messages = self.messages.saturating_add(more.kept.messages);
        self.found = self.found.saturating_add(more.kept.found);
        self.compressed = self.compressed.saturating_add(more.kept.compressions);
        self.spilled = self.spilled.saturating_add(more.spilled);
    }

    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.cost += other.cost;
        for (part, more) in self.parts.iter_mut().zip(&other.parts) {
            *part = part.plus(more);
        }
    }
}

impl Part {
    /// Returns the sum of both.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self {
            count: self.count + other.count,
            added: self.added.saturating_add(other.added),
            removed: self.removed.saturating_add(other.removed),
            cost: self.cost + other.cost,
        }
    }
}

impl LedgerService {
    /// Stores a client's report. Returns how many calls and how many changes are new.
    pub(crate) async fn record(
        &self,
        caller: &Caller,
        session: &str,
        calls: Vec<ReportedCall>,
        changes: Vec<ledger::Change>,
    ) -> Outcome<(u64, u64)> {
        check(&calls, &changes)?;
        let session = self.sessions.ensure(caller, session).await?;
        let model = session.settings().model;
        let calls = calls.into_iter().map(|call| kept_call(call, model.as_deref())).collect();
        let kept = changes.iter().map(kept_change).collect();
        let (calls, new) = self.archive.record_ledger(session.id.clone(), calls, kept).await?;
        if new > 0 {
            let change = WindowChange { session: session.id.clone(), changes };
            self.events.publish(Event::WindowChanged(Arc::new(change)));
        }
        Ok((to_u64(calls), to_u64(new)))
    }

    /// Stores the messages of an imported session and the calls of their model. The session stays closed. Nothing is
    /// stored if a call is invalid.
    pub(crate) async fn import(
        &self,
        caller: &Caller,
        of: Importing,
        messages: ImportedPart,
        calls: Vec<ReportedCall>,
    ) -> Outcome<ImportedMessages> {
        check(&calls, &[])?;
        let (session, model) = (of.session.clone(), of.model.clone());
        let imported = self.sessions.import(caller, of, messages).await?;
        if !calls.is_empty() {
            let calls = calls.into_iter().map(|call| kept_call(call, model.as_deref())).collect();
            self.archive.record_ledger(session, calls, Vec::new()).await?;
        }
        Ok(imported)
    }

    /// Returns the rows, and their sum.
    pub(crate) async fn read(&self, caller: &Caller, query: LedgerQuery) -> Outcome<(Vec<(RowKey, Sums)>, Sums)> {
        names::check_all(&[("session", query.session.as_ref())])?;
        let LedgerQuery { session, since, by, with_agents } = query;
        let ledgers = self.archive.ledgers(session.clone(), caller.profile.clone(), since).await?;
        let kept = self.archive.kept(session.clone(), caller.profile.clone(), since).await?;
        let kept = kept.into_iter().map(|kept| KeptCounts { kept, spilled: 0 });
        let spilled = self.spilled(session, caller.profile.clone(), since, by == GroupBy::Agent || with_agents).await?;
        let kept: Vec<KeptCounts> = kept.chain(spilled).collect();
        let mut rows = Rows::new();
        let of = |name: Option<&str>| with_agents.then(|| agent(name));
        for ledger in &ledgers {
            add_session(&mut rows, ledger, by, of(ledger.agent.as_deref()), since.unwrap_or(f64::MIN));
        }
        kept.iter().for_each(|more| add_kept(&mut rows, more, by, of(more.kept.agent.as_deref())));
        let mut rows: Vec<(RowKey, Sums)> = rows.into_iter().collect();
        if by != GroupBy::Day {
            rows.sort_by(|(_, one), (_, other)| other.cost.total_cmp(&one.cost));
        }
        let mut all = Sums::default();
        rows.iter().for_each(|(_, sums)| all.add(sums));
        kept.iter().for_each(|more| all.add_kept(more));
        Ok((rows, all))
    }

    /// Returns each output that was spilled, as a count of its own. Only on request the agents of all sessions are read.
    async fn spilled(
        &self,
        session: Option<String>,
        profile: Option<String>,
        since: Option<f64>,
        with_agents: bool,
    ) -> Outcome<Vec<KeptCounts>> {
        let outputs = Arc::clone(&self.outputs);
        let records = blocking("ledger.read", move || {
            let is_asked = |record: &Record| {
                profile.as_deref().is_none_or(|profile| *record.profile == *profile)
                    && since.is_none_or(|since| record.created_at >= since)
            };
            Ok(outputs.list_where(session.as_deref(), usize::MAX, is_asked))
        })
        .await?;
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let agents = if with_agents { self.archive.agents().await? } else { HashMap::new() };
        let counts = records.iter().map(|record| {
            let (session, agent) = (record.session.to_string(), agents.get(&*record.session).cloned());
            KeptCounts { kept: Kept { session, agent, time: record.created_at, ..Kept::default() }, spilled: 1 }
        });
        Ok(counts.collect())
    }
}

fn check(calls: &[ReportedCall], changes: &[ledger::Change]) -> Outcome<()> {
    for (name, count) in [("calls", calls.len()), ("changes", changes.len())] {
        if count > LIMIT {
            return Err(Error::param(name, format!("{count} of them; at most {LIMIT} are allowed")));
        }
    }
    let is_time = |time: f64| time.is_finite() && time >= 0.0;
    for call in calls {
        if call.id.is_empty() {
            return Err(Error::param("calls", "the id of a call is empty"));
        }
        names::check_all(&[
            ("calls", Some(&call.id)),
            ("calls", call.model.as_ref()),
            ("calls", call.provider.as_ref()),
            ("calls", call.api_mode.as_ref()),
        ])?;
        if !is_time(call.time) {
            return Err(Error::param("calls", "the time of a call is no time in Unix seconds"));
        }
    }
    for change in changes {
        if !is_time(change.time) {
            return Err(Error::param("changes", "the time of a change is no time in Unix seconds"));
        }
        if change.added.max(change.removed) > MAX_TOKENS {
            return Err(Error::param("changes", format!("at most {MAX_TOKENS} tokens are allowed")));
        }
    }
    Ok(())
}

fn kept_call(call: ReportedCall, model: Option<&str>) -> Call {
    let used = usage::normalise(&call.usage, call.provider.as_deref(), call.api_mode.as_deref());
    let Usage { input, output, cache_read, cache_write, reasoning, .. } = used;
    Call {
        id: call.id,
        time: call.time,
        model: call.model.or_else(|| model.map(str::to_owned)),
        provider: call.provider,
        buckets: Buckets { input, output, cache_read, cache_write, reasoning },
    }
}

fn kept_change(change: &ledger::Change) -> Change {
    Change { time: change.time, kind: name(change.kind).to_owned(), added: change.added, removed: change.removed }
}

/// Returns the name of a kind in the archive.
const fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Definitions => "definitions",
        Kind::Context => "context",
        Kind::Tool => "tool",
        Kind::Output => "output",
        Kind::Compaction => "compaction",
        Kind::Handover => "handover",
        Kind::Summary => "summary",
    }
}

/// Adds the lines of a session to the rows, except those before `since`.
fn add_session(rows: &mut Rows, session: &SessionLedger, by: GroupBy, of: Option<String>, since: f64) {
    let calls: Vec<ledger::Call> =
        session.calls.iter().map(|call| ledger::Call { time: call.time, usage: used(&call.buckets) }).collect();
    let changes: Vec<ledger::Change> = session.changes.iter().filter_map(change).collect();
    let unknown = || UNKNOWN.to_owned();
    let key = |time: f64, call: Option<usize>| RowKey {
        key: match by {
            GroupBy::Session => session.session.clone(),
            GroupBy::Agent => agent(session.agent.as_deref()),
            GroupBy::Model => call.and_then(|call| session.calls[call].model.clone()).unwrap_or_else(unknown),
            GroupBy::Day => day(time).unwrap_or_else(unknown),
        },
        agent: of.clone(),
    };
    for line in ledger::lines(&calls, &changes).iter().filter(|line| line.time >= since) {
        rows.entry(key(line.time, line.call)).or_default().add_line(line);
    }
    for (index, call) in calls.iter().enumerate().filter(|(_, call)| call.time >= since) {
        let row = rows.entry(key(call.time, Some(index))).or_default();
        row.calls += 1;
        row.cost += ledger::cost(&call.usage);
    }
}

/// Adds what was kept of a session to its row. Sessions of which nothing changed have no row, and messages have no
/// model.
fn add_kept(rows: &mut Rows, more: &KeptCounts, by: GroupBy, of: Option<String>) {
    let Kept { session, agent: name, time, .. } = &more.kept;
    let key = match by {
        GroupBy::Session => session.clone(),
        GroupBy::Model => return,
        GroupBy::Agent => agent(name.as_deref()),
        GroupBy::Day => day(*time).unwrap_or_else(|| UNKNOWN.to_owned()),
    };
    let key = RowKey { key, agent: of };
    let row = if by == GroupBy::Session { rows.get_mut(&key) } else { Some(rows.entry(key).or_default()) };
    if let Some(row) = row {
        row.add_kept(more);
    }
}

fn agent(name: Option<&str>) -> String {
    name.unwrap_or(UNKNOWN).to_owned()
}

/// Converts a stored change; `None` if this version does not know its kind.
fn change(kept: &Change) -> Option<ledger::Change> {
    let kind = Kind::ALL.into_iter().find(|kind| name(*kind) == kept.kind)?;
    Some(ledger::Change { time: kept.time, kind, added: kept.added, removed: kept.removed })
}

fn used(buckets: &Buckets) -> Usage {
    let Buckets { input, output, cache_read, cache_write, reasoning } = *buckets;
    Usage { input, output, cache_read, cache_write, reasoning, ..Usage::default() }
}

/// Returns the day of a time, in this machine's time zone.
#[expect(clippy::cast_possible_truncation, reason = "a time beyond all dates is none")]
fn day(time: f64) -> Option<String> {
    let at = jiff::Timestamp::from_second(time as i64).ok()?;
    Some(at.to_zoned(jiff::tz::TimeZone::system()).date().to_string())
}
