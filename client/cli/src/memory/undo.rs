//! `herma memory undo`, `herma memory restore`, `herma memory revert`.

use herma_base::{CliContext, Failure, out};
use herma_client::Client;
use herma_client::protocol::memory::{LogParams, RestoreParams, RevertParams, UndoParams, WriteResult};

use super::Store;
use super::change::Change;
use super::write::{Writing, conclude, written};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The text before the newest revision becomes a new revision, so that a second undo brings the change back; `herma memory restore` goes further.\n\nExample:\n  herma memory undo user"
)]
pub(crate) struct Undo {
    /// The store
    store: Store,
    #[command(flatten)]
    writing: Writing,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The text of that revision becomes a new revision. `herma memory log` lists the revisions, `herma memory show` prints one.\n\nExample:\n  herma memory restore memory 12"
)]
pub(crate) struct Restore {
    /// The store
    store: Store,
    /// The revision to restore
    revision: u64,
    #[command(flatten)]
    writing: Writing,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Entries that the change removed are back, entries that it added are gone, and later changes stay. It is refused if a later change replaced or removed an entry that it added. `herma memory log` lists the revisions.\n\nExample:\n  herma memory revert memory 12"
)]
pub(crate) struct Revert {
    /// The store
    store: Store,
    /// The revision whose change to undo
    revision: u64,
    #[command(flatten)]
    writing: Writing,
}

pub(super) fn undo(context: &CliContext<'_>, arguments: &Undo) -> Result<(), Failure> {
    let mut client = context.connect()?;
    let result = client.memory_undo(UndoParams {
        target: arguments.store.into(),
        session: None,
        agent: Some(arguments.writing.agent.clone()),
        expected_revision: arguments.writing.expected_revision,
    })?;
    report(context, client, arguments.store, &result)
}

pub(super) fn restore(context: &CliContext<'_>, arguments: &Restore) -> Result<(), Failure> {
    let mut client = context.connect()?;
    let result = client.memory_restore(RestoreParams {
        target: arguments.store.into(),
        revision: arguments.revision,
        session: None,
        agent: Some(arguments.writing.agent.clone()),
        expected_revision: arguments.writing.expected_revision,
    })?;
    report(context, client, arguments.store, &result)
}

pub(super) fn revert(context: &CliContext<'_>, arguments: &Revert) -> Result<(), Failure> {
    let mut client = context.connect()?;
    let result = client.memory_revert(RevertParams {
        target: arguments.store.into(),
        revision: arguments.revision,
        session: None,
        agent: Some(arguments.writing.agent.clone()),
        expected_revision: arguments.writing.expected_revision,
    })?;
    report(context, client, arguments.store, &result)
}

/// Prints the result and, for people, the change.
fn report(context: &CliContext<'_>, mut client: Client, store: Store, result: &WriteResult) -> Result<(), Failure> {
    let revision = match result.revision {
        Some(revision) if result.success && !context.common.json => revision,
        _ => return conclude(context, result),
    };
    let params = LogParams {
        target: Some(store.into()),
        limit: Some(1),
        before: Some(revision.saturating_add(1)),
        ..LogParams::default()
    };
    // The write is done, so an unreadable log must not look like a failure.
    let rows = client.memory_log(params).map(|log| log.rows).unwrap_or_default();
    let row = rows.into_iter().find(|row| row.revision == revision);
    let lines = row.map(|row| Change::between(&row.before, &row.after).lines()).unwrap_or_default();
    out::changes(&format!("{lines}{}", written(context.common, result)))
}
