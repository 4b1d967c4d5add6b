//! `recall.*`: getting back what left a context.

mod expand;
mod schema;

use std::sync::Arc;

use herma_archive::handle::Source;
use herma_archive::search::{Found, Kinds, Search};
use herma_archive::snippet::{Snippet, snippet};
use herma_protocol::recall::{Compression, DescribeParams, DescribeResult, Hit, Kind, SearchParams, SearchResult};
use herma_spill::page::Part;

pub(super) use expand::expand;
pub(super) use schema::schema;

use super::{blocking, check_names, narrow, session, wide};
use crate::caller::Caller;
use crate::fail::{self, Outcome};
use crate::librarian;
use crate::state::State;

/// Chars of a query.
const QUERY: usize = 1000;

/// Hits when the caller doesn't say.
const DEFAULT_HITS: u64 = 20;

/// Hits that one call may ask for.
const HITS: u64 = 100;

/// Messages that are put into the index at one time before a search.
const SLICE: usize = 2000;

pub(super) async fn search(state: &Arc<State>, caller: &Caller, params: SearchParams) -> Outcome<SearchResult> {
    check_names(&[("session", params.session.as_ref())])?;
    if params.query.chars().count() > QUERY {
        return Err(fail::invalid("query", format!("at most {QUERY} chars are allowed")));
    }
    let limit = params.limit.unwrap_or(DEFAULT_HITS);
    if !(1..=HITS).contains(&limit) {
        return Err(fail::invalid("limit", format!("must be from 1 to {HITS}")));
    }
    if params.since.is_some_and(f64::is_nan) || params.until.is_some_and(f64::is_nan) {
        return Err(fail::invalid("since", "must be a time in Unix seconds"));
    }
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
                limit: narrow(limit),
            })
        })
        .await?;
    let (state, query) = (Arc::clone(state), params.query);
    blocking("recall.search", move || Ok(shown(&state, &query, found))).await
}

/// What is searched must be in the index first: all messages, and the outputs as far
/// as that does not take long.
async fn catch_up(state: &Arc<State>, profile: Option<&str>) -> Outcome<()> {
    if !state.archive.is_in_use() {
        return Ok(());
    }
    state.librarian.settle().await;
    librarian::file_stores(state, profile).await?;
    while state.archive.call(|archive| archive.index_pending(SLICE)).await? > 0 {}
    Ok(())
}

fn kinds(wanted: Option<&[Kind]>) -> Kinds {
    let has = |kind| wanted.is_none_or(|wanted| wanted.contains(&kind));
    Kinds { messages: has(Kind::Message), outputs: has(Kind::Output), memory: has(Kind::Memory) }
}

fn shown(state: &State, query: &str, found: Found) -> SearchResult {
    let hits = found.hits.into_iter().filter_map(|hit| {
        let text = match (&hit.source, hit.text) {
            (_, Some(text)) => text,
            (Source::Output { handle, line, lines }, None) => {
                let part = Part::Lines { line: narrow(*line), lines: narrow(*lines) };
                // An output that was removed by hand is no hit any more.
                state.outputs.peek(handle, part).ok()?.text
            }
            (_, None) => String::new(),
        };
        let Snippet { text: snippet, start, end } = snippet(&text, query);
        let (kind, handle) = match &hit.source {
            Source::Message { .. } => (Kind::Message, hit.source.handle()),
            Source::Memory { .. } => (Kind::Memory, hit.source.handle()),
            Source::Output { handle, line, .. } => {
                (Kind::Output, format!("{handle}:{}", line.saturating_add(line_of(&text, query))))
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

/// Lines of a text before the one that has the hit.
fn line_of(text: &str, query: &str) -> u64 {
    let best = text.lines().enumerate().max_by_key(|(at, line)| {
        let Snippet { start, end, .. } = snippet(line, query);
        (end - start, std::cmp::Reverse(*at))
    });
    best.map_or(0, |(at, _)| wide(at))
}

pub(super) async fn describe(state: &State, caller: &Caller, params: DescribeParams) -> Outcome<DescribeResult> {
    let session = session::known(state, caller, &params.session).await?;
    let id = session.id.clone();
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
