//! `herma memory undo`, `herma memory restore`, `herma memory revert`.

use herma_base::{CliContext, Failure, out};
use herma_client::Client;
use herma_client::protocol::memory::{LogParams, RestoreParams, RevertParams, UndoParams, WriteResult};

use super::Store;
use super::change::Change;
use super::write::{Writing, conclude, written};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The text before the newest revision becomes a new revision, so that a second undo brings the change back; `herma memory restore` goes back to any revision, and `herma memory revert` undoes an older change and keeps the later ones.\n\nExample:\n  herma memory undo user"
)]
pub(crate) struct Undo {
    /// The store
    store: Store,
    #[command(flatten)]
    writing: Writing,
}

// No doc comment: clap would show it in the place of the two commands' own.
#[derive(Debug, clap::Args)]
pub(crate) struct OfRevision {
    /// The store
    store: Store,
    /// The revision; `herma memory log` lists them
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

pub(super) fn restore(context: &CliContext<'_>, arguments: &OfRevision) -> Result<(), Failure> {
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

pub(super) fn revert(context: &CliContext<'_>, arguments: &OfRevision) -> Result<(), Failure> {
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
