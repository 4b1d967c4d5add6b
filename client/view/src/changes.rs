//! What a form asks for: changes of the memory, and the undo of a compaction.

use herma_client::protocol::context::undo::UndoParams as ContextUndo;
use herma_client::protocol::memory::{
    ApproveParams, RejectParams, RemoveParams, RevertParams, UndoParams, WriteResult,
};
use herma_client::protocol::recall::DescribeParams;
use http::StatusCode;

use crate::conversation::newest;
use crate::daemon::{Daemon, ViewError};
use crate::memory::{name, target};
use crate::request::{Params, address};

/// Makes a change, and returns the address of the page that shows it.
pub(crate) fn make(daemon: &Daemon, path: &str, params: &Params) -> Result<String, ViewError> {
    let profile = params.get("profile").unwrap_or(daemon.profile());
    match path {
        "/session/undo" => {
            let (session, handle) = (named(params, "session")?, named(params, "handle")?);
            let described = DescribeParams { session: session.clone() };
            let compressions = daemon.ask(|client| client.recall_describe(described.clone()))?.compressions;
            if newest(&compressions).is_none_or(|newest| newest.handle != handle) {
                return Err(ViewError::new(
                    StatusCode::CONFLICT,
                    "the session was compacted or undone since; load its page again",
                ));
            }
            let asked = ContextUndo { session: session.clone(), generation: None, messages: None, dry_run: None };
            daemon.change_of(profile, |client| client.context_undo(asked)).map_err(in_words_of_the_page)?;
            return Ok(address("/session", &[("id", &session)]));
        }
        "/memory/approve" => {
            let (ids, session) = chosen(params)?;
            // A text area ends its lines as HTTP does.
            let content = params.whole("content").map(|text| text.replace("\r\n", "\n"));
            let asked = ApproveParams { ids, session, content, ..ApproveParams::default() };
            let done = daemon.change_of(profile, |client| client.memory_approve(asked))?;
            if let Some(failed) = done.failed.first() {
                return Err(refused(&failed.result));
            }
        }
        "/memory/reject" => {
            let (ids, session) = chosen(params)?;
            let asked = RejectParams { ids, session, ..RejectParams::default() };
            daemon.change_of(profile, |client| client.memory_reject(asked))?;
        }
        "/memory/remove" => {
            let asked = RemoveParams {
                target: target(params)?,
                old_text: params.whole("entry").unwrap_or_default().to_owned(),
                session: None,
                agent: None,
                // The page may be older than the store, and a part of another entry is not meant.
                expected_revision: Some(revision(params)?),
                allow_drift: None,
            };
            written(&daemon.change_of(profile, |client| client.memory_remove(asked))?)?;
        }
        "/memory/undo" | "/memory/revert" => {
            let target = target(params)?;
            let revision = revision(params)?;
            let done = daemon.change_of(profile, |client| {
                if path == "/memory/undo" {
                    // The page may be older than the store.
                    let expected_revision = Some(revision);
                    client.memory_undo(UndoParams { target, session: None, agent: None, expected_revision })
                } else {
                    client.memory_revert(RevertParams {
                        target,
                        revision,
                        session: None,
                        agent: None,
                        expected_revision: None,
                    })
                }
            })?;
            written(&done)?;
            return Ok(address("/memory/history", &[("target", name(target)), ("profile", profile)]));
        }
        _ => return Err(ViewError::new(StatusCode::NOT_FOUND, "there is no such change")),
    }
    Ok(address("/memory", &[("profile", profile)]))
}

/// Returns the ids of the writes that a form is about, or the session whose writes these are.
fn chosen(params: &Params) -> Result<(Option<Vec<String>>, Option<String>), ViewError> {
    let (ids, session) = (params.all("id"), params.get("session").map(str::to_owned));
    match (ids.is_empty(), session) {
        (false, None) => Ok((Some(ids), None)),
        (true, Some(session)) => Ok((None, Some(session))),
        _ => Err(ViewError::wrong("name the writes, or their session")),
    }
}

/// Explains why a compaction can't be undone here.
fn in_words_of_the_page(error: ViewError) -> ViewError {
    match error.status {
        StatusCode::BAD_REQUEST => ViewError::new(
            StatusCode::CONFLICT,
            "herma doesn't have the list of this session: its agent keeps it, and can undo the compaction with `context.undo`",
        ),
        _ => error,
    }
}

fn named(params: &Params, name: &str) -> Result<String, ViewError> {
    params.get(name).map(str::to_owned).ok_or_else(|| ViewError::wrong(format!("no {name} is named")))
}

fn revision(params: &Params) -> Result<u64, ViewError> {
    params.number("revision").ok_or_else(|| ViewError::wrong("no revision is named"))
}

fn written(result: &WriteResult) -> Result<(), ViewError> {
    if result.success { Ok(()) } else { Err(refused(result)) }
}

fn refused(result: &WriteResult) -> ViewError {
    let words = result.error.clone().unwrap_or_else(|| "the memory refused the change".into());
    ViewError::new(StatusCode::CONFLICT, words)
}
