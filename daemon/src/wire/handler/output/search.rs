//! `output.search`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use herma_protocol::output::search::{Match, SearchParams, SearchResult};
use herma_spill::search::{Needle, Query, Scope};

use crate::data::error::{Error, Outcome};
use crate::wire::caller::Caller;
use crate::wire::handler::{blocking, check_names, narrow, wide};
use crate::wire::state::State;

/// Matches when the caller doesn't say.
const DEFAULT_MATCHES: u64 = 50;

/// Matches that one call may ask for.
const MATCHES: u64 = 1000;

/// Lines of context on each side.
const CONTEXT: u64 = 20;

/// Ends a search when nobody waits for it any more.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(in crate::wire::handler) async fn search(
    state: &Arc<State>,
    caller: &Caller,
    params: SearchParams,
) -> Outcome<SearchResult> {
    check_names(&[("handle", params.handle.as_ref()), ("session", params.session.as_ref())])?;
    let limit = params.limit.unwrap_or(DEFAULT_MATCHES);
    if !(1..=MATCHES).contains(&limit) {
        return Err(Error::param("limit", format!("must be from 1 to {MATCHES}")));
    }
    let context = params.context.unwrap_or(0);
    if context > CONTEXT {
        return Err(Error::param("context", format!("at most {CONTEXT} lines are allowed")));
    }
    if let Some(handle) = &params.handle {
        super::check_profile(state, caller, handle)?;
    }
    let profile = caller.profile.clone();
    let scope = match (params.handle, params.session) {
        (Some(_), Some(_)) => return Err(Error::param("handle", "give either a handle or a session")),
        (Some(handle), None) => Scope::Handle(handle),
        (None, Some(session)) => Scope::Session(session),
        (None, None) => Scope::All,
    };
    let needle = if params.regex == Some(true) { Needle::Regex(params.query) } else { Needle::Literal(params.query) };
    let query = Query { needle, scope, context: narrow(context), limit: narrow(limit) };
    let stop = Arc::new(AtomicBool::new(false));
    let _waiting = StopOnDrop(Arc::clone(&stop));
    let state = Arc::clone(state);
    blocking("output.search", move || {
        let is_cancelled = || stop.load(Ordering::Relaxed);
        let found = state.outputs.search(&query, &is_cancelled).map_err(Error::from)?;
        let is_own = |found: &herma_spill::search::Match| {
            profile.as_deref().is_none_or(|profile| {
                state.outputs.record(found.handle).is_some_and(|record| *record.profile == *profile)
            })
        };
        let matches = found.matches.into_iter().filter(is_own).map(|found| Match {
            handle: found.handle.to_string(),
            line: found.line,
            text: found.text,
            before: found.before,
            after: found.after,
            offset: found.offset,
            start: wide(found.start),
            end: wide(found.end),
            cut: found.cut,
        });
        Ok(SearchResult { matches: matches.collect(), more: found.more })
    })
    .await
}
