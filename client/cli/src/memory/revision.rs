//! `herma memory show`, `herma memory diff`: stores at earlier revisions.

use herma_base::{CliContext, Failure, out};
use herma_client::Client;
use herma_client::protocol::memory::{LogParams, LogResult, LogRow, Target};
use serde::Serialize;

use super::change::Change;
use super::list;
use super::view::{self, Entries};
use super::{Store, name};

/// The rows read at one time in the search for the oldest.
const PAGE: u64 = 200;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  herma memory show user 12\n  herma memory show memory 0 --raw --json")]
pub(crate) struct Show {
    /// The store
    store: Store,
    /// The revision
    revision: u64,
    /// Show entries even if the guard blocks them
    #[arg(long)]
    raw: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  herma memory diff user            # what the newest revision changed\n  herma memory diff user 12         # from revision 12 to now\n  herma memory diff user 12 15"
)]
pub(crate) struct Diff {
    /// The store
    store: Store,
    /// The first revision
    from: Option<u64>,
    /// The last revision; the newest when left out
    to: Option<u64>,
    /// Show entries even if the guard blocks them
    #[arg(long)]
    raw: bool,
}

/// A store at a revision.
#[derive(Debug, Serialize)]
struct StoreRevision {
    target: Target,
    revision: u64,
    entries: Vec<String>,
}

/// The difference between two revisions.
#[derive(Debug, Serialize)]
struct Difference<'a> {
    target: Target,
    from: u64,
    to: u64,
    added: Vec<&'a str>,
    removed: Vec<&'a str>,
    unchanged: usize,
}

pub(super) fn show(context: &CliContext<'_>, arguments: &Show) -> Result<(), Failure> {
    let mut past = StoreHistory::of(context, arguments.store, arguments.raw.into())?;
    let held = past.at(arguments.revision)?;
    out::show(context.common, &held, |held| {
        format!("{} at revision {}\n{}", name(held.target), held.revision, list::numbered(&held.entries))
    })
}

pub(super) fn diff(context: &CliContext<'_>, arguments: &Diff) -> Result<(), Failure> {
    let mut past = StoreHistory::of(context, arguments.store, arguments.raw.into())?;
    let (from, to) = match (arguments.from, arguments.to) {
        (Some(from), Some(to)) => (past.at(from)?, past.at(to)?),
        (Some(from), None) => (past.at(from)?, past.at(past.newest)?),
        (None, _) => past.newest_change()?,
    };
    let change = Change::between(&from.entries, &to.entries);
    if context.common.json {
        let (added, removed) = (change.added(), change.removed());
        let unchanged = change.unchanged;
        return out::json(&Difference {
            target: to.target,
            from: from.revision,
            to: to.revision,
            added,
            removed,
            unchanged,
        });
    }
    let head = format!("{}, revision {} to {}\n", name(to.target), from.revision, to.revision);
    out::changes(&format!("{head}{}", change.lines()))
}

/// The history of a store.
struct StoreHistory<'a> {
    context: &'a CliContext<'a>,
    client: Client,
    target: Target,
    entries: Entries,
    newest: u64,
    now: Vec<String>,
}

impl<'a> StoreHistory<'a> {
    fn of(context: &'a CliContext<'a>, store: Store, entries: Entries) -> Result<Self, Failure> {
        let (mut client, target) = (context.connect()?, store.into());
        let view = view::view(context, &mut client, target, entries)?;
        Ok(Self { context, client, target, entries, newest: view.revision, now: view.entries })
    }

    /// Returns the store at a revision.
    fn at(&mut self, revision: u64) -> Result<StoreRevision, Failure> {
        let name = name(self.target);
        if revision > self.newest {
            let words = format!("there is no revision {revision} of {name} yet; it is at revision {}", self.newest);
            return Err(Failure::File(words));
        }
        if revision == self.newest {
            return Ok(self.held(revision, self.now.clone()));
        }
        let found = self.rows(Some(revision + 1), 1)?;
        if let Some(row) = found.rows.into_iter().next() {
            if row.revision < revision && found.damaged > 0 {
                let words = format!(
                    "the journal is damaged and has no row for revision {revision}; this is revision {}",
                    row.revision
                );
                out::problem(self.context.common, &words);
            }
            return Ok(self.held(revision, row.after));
        }
        match self.oldest()? {
            Some(row) if row.revision == revision + 1 => Ok(self.held(revision, row.before)),
            Some(row) => {
                let oldest = row.revision.saturating_sub(1);
                let words = format!("revision {revision} of {name} is not kept; the oldest that is kept is {oldest}");
                Err(Failure::File(words))
            }
            None => {
                let words = format!("revision {revision} of {name} is not kept; only revision {} is", self.newest);
                Err(Failure::File(words))
            }
        }
    }

    /// Returns the store before and after its newest change.
    fn newest_change(&mut self) -> Result<(StoreRevision, StoreRevision), Failure> {
        match self.rows(None, 1)?.rows.into_iter().next() {
            Some(row) => {
                let before = self.held(row.revision.saturating_sub(1), row.before);
                Ok((before, self.held(row.revision, row.after)))
            }
            None => Err(Failure::File(format!("no change of {} is kept", name(self.target)))),
        }
    }

    fn oldest(&mut self) -> Result<Option<LogRow>, Failure> {
        let mut oldest: Option<LogRow> = None;
        loop {
            let before = oldest.as_ref().map(|row| row.revision);
            let page = self.rows(before, PAGE)?;
            let last = page.rows.into_iter().last();
            let is_end = !page.more || last.is_none();
            oldest = last.or(oldest);
            if is_end {
                return Ok(oldest);
            }
        }
    }

    fn rows(&mut self, before: Option<u64>, limit: u64) -> Result<LogResult, Failure> {
        let raw = Some(self.entries == Entries::Raw);
        Ok(self.client.memory_log(LogParams {
            target: Some(self.target),
            limit: Some(limit),
            before,
            raw,
            ..LogParams::default()
        })?)
    }

    fn held(&self, revision: u64, entries: Vec<String>) -> StoreRevision {
        StoreRevision { target: self.target, revision, entries }
    }
}
