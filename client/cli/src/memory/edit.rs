//! `herma memory edit`.

use std::path::Path;

use herma_base::{CliContext, Failure, out};
use herma_client::ClientError;
use herma_client::protocol::ErrorKind;
use herma_client::protocol::memory::{BatchParams, StoreView, Target, WriteResult};

use super::editor::{self, Draft};
use super::operations::{applied, operations, run_batches};
use super::view::{self, Entries};
use super::write::conclude;
use super::{Store, entries, name};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The entries stand in the file with a line that is only \"§\" between them. What was changed is applied as one batch, if nobody else wrote meanwhile; if it can't be, the file is kept. New entries come to stand at the end of the store.\n\nThe editor is $VISUAL, else $EDITOR, else vi.\n\nExamples:\n  herma memory edit user\n  EDITOR='code --wait' herma memory edit memory"
)]
pub(crate) struct Arguments {
    /// The store
    store: Store,
    /// Allow a file without entries, which empties the store
    #[arg(long)]
    allow_empty: bool,
    /// Continue even if an entry is longer than the whole limit
    #[arg(long)]
    allow_drift: bool,
    /// The name of the writer
    #[arg(long, value_name = "NAME", default_value = "cli")]
    agent: String,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let target = arguments.store.into();
    let view = view::view(context, &mut context.connect()?, target, Entries::Raw)?;
    let text = entries::join(&view.entries);
    if entries::split(&text) != view.entries {
        let words = format!(
            "an entry of {name} can't be edited in a file: it has a line that is only \"§\", or spaces at an end; `herma memory replace {name}` changes it",
            name = name(target)
        );
        return Err(Failure::File(words));
    }
    let draft = Draft::new(name(target), &text)?;
    let opened = editor::open(draft.path());
    let edited = match (opened, draft.text()) {
        (Ok(()), Ok(edited)) => edited,
        // The user changed nothing, so the file is not kept.
        (Err(failure), Ok(edited)) if edited == text => return Err(failure),
        (Err(failure), _) | (Ok(()), Err(failure)) => return Err(kept(context, draft, target, failure)),
    };
    match apply(context, arguments, &view, &edited) {
        Ok(()) => Ok(()),
        // The write is done. Only its result could not be printed.
        Err(Failure::Closed) => Err(Failure::Closed),
        Err(failure) if edited.trim().is_empty() => Err(failure),
        Err(failure) => Err(kept(context, draft, target, failure)),
    }
}

/// Applies the edited text. Returns an error if the daemon refused the write or could not be reached.
fn apply(context: &CliContext<'_>, arguments: &Arguments, view: &StoreView, edited: &str) -> Result<(), Failure> {
    let target = arguments.store.into();
    let wanted = entries::split(edited);
    let operations = operations(&view.entries, &wanted);
    if operations.is_empty() {
        let message = Some("nothing changed".into());
        let result = WriteResult { success: true, target: Some(target), message, ..WriteResult::default() };
        return out::show(context.common, &result, |_| "nothing changed".into());
    }
    if wanted.is_empty() && !arguments.allow_empty {
        let words = format!(
            "no entry is left in the file; nothing was done. `herma memory edit {} --allow-empty` lets you empty the store",
            name(target)
        );
        return Err(Failure::File(words));
    }
    let order_holds = applied(&view.entries, &operations) == wanted;
    // A new connection: the daemon may have been restarted while the editor was open.
    let mut daemon = context.connect()?;
    let result = run_batches(operations, view.stale_s.is_some(), |operations| {
        let params = BatchParams {
            target,
            operations,
            allow_empty: Some(wanted.is_empty()),
            session: None,
            agent: Some(arguments.agent.clone()),
            expected_revision: Some(view.revision),
            allow_drift: Some(arguments.allow_drift),
        };
        daemon.memory_batch(params).map_err(|error| explain_conflict(error, target))
    })?;
    conclude(context, &result)?;
    if !order_holds {
        let words = format!("new and moved entries are at the end of {}, not where the file has them", name(target));
        out::note(context.common, &words);
    }
    Ok(())
}

/// Words a conflict for a user who edited a file.
fn explain_conflict(error: ClientError, target: Target) -> ClientError {
    match error {
        ClientError::Rpc(mut error) if error.kind == ErrorKind::Conflict => {
            error.message =
                format!("{} was changed while you edited it, nothing was done: {}", name(target), error.message);
            ClientError::Rpc(error)
        }
        error => error,
    }
}

/// Keeps the user's text and prints its path.
fn kept(context: &CliContext<'_>, draft: Draft, target: Target, failure: Failure) -> Failure {
    let path = draft.keep();
    out::problem(context.common, &advice(context, &path, target));
    failure
}

fn advice(context: &CliContext<'_>, path: &Path, target: Target) -> String {
    let path = path.display();
    let diff = context.common.command(&format!("memory import {path} {} --replace --dry-run", name(target)));
    format!("your text is kept in {path}; what it would change now: {diff}")
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::RpcError;

    use super::*;

    #[test]
    fn only_a_conflict_gets_other_words() {
        let error = |kind| ClientError::Rpc(RpcError::new(kind, "revision 3"));
        let words = explain_conflict(error(ErrorKind::Conflict), Target::User).to_string();
        assert_eq!(words, "user was changed while you edited it, nothing was done: revision 3 (conflict)");
        assert_eq!(explain_conflict(error(ErrorKind::Busy), Target::User).to_string(), "revision 3 (busy)");
    }
}
