//! `recall.*`: getting back what left a context.

mod expand;
mod schema;

use std::collections::HashMap;
use std::sync::Arc;

use herma_archive::handle::Source;
use herma_archive::search::{Found, Kinds, Search};
use herma_archive::snippet::{Snippet, snippet};
use herma_guard::{Policy, Scope};
use herma_protocol::recall::{Compression, DescribeParams, DescribeResult, Hit, Kind, SearchParams, SearchResult};
use herma_spill::page::Part;
use tokio::sync::Semaphore;

pub(super) use expand::expand;
pub(super) use schema::schema;

use super::{blocking, check_names, narrow, session, wide};
use crate::data::error::{Error, Outcome};
use crate::service::recall_index;
use crate::wire::caller::Caller;
use crate::wire::state::State;

/// What a model sees of a change that it must not see.
const BLOCKED: &str = "[BLOCKED: an entry of a store is not shown, for the guard refuses it]";

/// Chars of a query.
const QUERY: usize = 1000;

/// Hits when the caller doesn't say.
const DEFAULT_HITS: u64 = 20;

/// Hits that one call may ask for.
const HITS: u64 = 100;

/// Hits in one output at most: a long one would leave no room for anything else.
const OF_ONE_OUTPUT: usize = 3;

/// How many more hits are looked at than are given, so that enough are left.
const DEEPER: usize = 4;

/// Searches at one time.
static SEARCHING: Semaphore = Semaphore::const_new(1);

/// Messages that are put into the index at one time before a search.
const SLICE: usize = 2000;

pub(super) async fn search(state: &Arc<State>, caller: &Caller, params: SearchParams) -> Outcome<SearchResult> {
    check_names(&[("session", params.session.as_ref())])?;
    if params.query.chars().count() > QUERY {
        return Err(Error::param("query", format!("at most {QUERY} chars are allowed")));
    }
    let limit = params.limit.unwrap_or(DEFAULT_HITS);
    if !(1..=HITS).contains(&limit) {
        return Err(Error::param("limit", format!("must be from 1 to {HITS}")));
    }
    if params.since.is_some_and(f64::is_nan) || params.until.is_some_and(f64::is_nan) {
        return Err(Error::param("since", "must be a time in Unix seconds"));
    }
    // One at a time: others have work to do on the same threads.
    let _turn = SEARCHING.acquire().await.map_err(|_| Error::internal("recall.search"))?;
    catch_up(state, caller.profile.as_deref()).await?;
    let (query, profile, session) = (params.query.clone(), caller.profile.clone(), params.session);
    let kinds = kinds(params.kinds.as_deref());
    let found = state
        .archive
        .read(move |reader| {
            reader.search(&Search {
                query: &query,
                session: session.as_deref(),
                profile: profile.as_deref(),
                kinds,
                since: params.since,
                until: params.until,
                limit: narrow(limit) * DEEPER,
            })
        })
        .await?;
    let (state, query) = (Arc::clone(state), params.query);
    blocking("recall.search", move || Ok(result(&state, &query, spread(found, narrow(limit))))).await
}

/// What is searched must be in the index first: all messages, and the outputs as far
/// as that does not take long.
async fn catch_up(state: &Arc<State>, profile: Option<&str>) -> Outcome<()> {
    if !state.archive.is_in_use() {
        return Ok(());
    }
    state.recall_indexer.settle().await;
    recall_index::file_stores(state, profile).await?;
    while state.archive.call(|archive| archive.index_pending(SLICE)).await? > 0 {}
    Ok(())
}

fn kinds(wanted: Option<&[Kind]>) -> Kinds {
    let has = |kind| wanted.is_none_or(|wanted| wanted.contains(&kind));
    Kinds { messages: has(Kind::Message), outputs: has(Kind::Output), memory: has(Kind::Memory) }
}

/// The best hits, but few of one output.
fn spread(found: Found, limit: usize) -> Found {
    let mut of_output: HashMap<String, usize> = HashMap::new();
    let total = found.hits.len();
    let mut hits = found.hits;
    hits.retain(|hit| match &hit.source {
        Source::Output { handle, .. } => {
            let count = of_output.entry(handle.clone()).or_default();
            *count += 1;
            *count <= OF_ONE_OUTPUT
        }
        _ => true,
    });
    hits.truncate(limit);
    Found { more: found.more || hits.len() < total, hits }
}

fn result(state: &State, query: &str, found: Found) -> SearchResult {
    let hits = found.hits.into_iter().filter_map(|hit| {
        let text = match (&hit.source, hit.text) {
            (_, Some(text)) => text,
            (Source::Output { handle, start, chars, .. }, None) => {
                let part = Part::Chars { offset: narrow(*start), limit: narrow(*chars).max(1) };
                // An output that was removed by hand is no hit any more.
                state.outputs.peek(handle, part).ok()?.text
            }
            (_, None) => String::new(),
        };
        let text = match hit.source {
            Source::Memory { .. } => shown(&state.config.guard.severity, &text),
            _ => text,
        };
        let Snippet { text: snippet, start, end, before } = snippet(&text, query);
        let (kind, handle) = match &hit.source {
            Source::Message { .. } => (Kind::Message, hit.source.handle()),
            Source::Memory { .. } => (Kind::Memory, hit.source.handle()),
            Source::Output { handle, line, .. } => {
                let above = text.chars().take(before).filter(|char| *char == '\n').count();
                (Kind::Output, format!("{handle}:{}", line.saturating_add(wide(above))))
            }
        };
        Some(Hit {
            handle,
            kind,
            session: hit.session,
            role: hit.role,
            time: hit.time,
            snippet,
            start: wide(start),
            end: wide(end),
            score: hit.score,
        })
    });
    SearchResult { hits: hits.collect(), more: found.more, recalled: true }
}

/// A change of a store as a model may see it by the rules that hold now.
fn shown(policy: &Policy, text: &str) -> String {
    match policy.blocks(text, Scope::Strict).is_empty() {
        true => text.to_owned(),
        false => BLOCKED.to_owned(),
    }
}

pub(super) async fn describe(state: &State, caller: &Caller, params: DescribeParams) -> Outcome<DescribeResult> {
    let id = session::known(state, caller, &params.session).await?;
    let compressions = state.archive.read(move |reader| reader.describe(&id)).await?;
    let compressions = compressions.into_iter().map(|one| Compression {
        generation: one.generation,
        time: one.time,
        handle: one.handle,
        messages: one.messages,
        chars: one.chars,
        summary: one.summary,
    });
    Ok(DescribeResult { compressions: compressions.collect() })
}
