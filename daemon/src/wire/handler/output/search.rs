//! `output.search`.

use herma_protocol::output::search::{Match, SearchParams, SearchResult};
use herma_spill::search::{Needle, Query, Scope};

use crate::data::error::{Error, Outcome};
use crate::data::names;
use crate::data::numbers::{to_u64, to_usize};
use crate::service::caller::Caller;
use crate::wire::services::Services;

/// The default number of matches.
const DEFAULT_MATCHES: u64 = 50;

/// The largest number of matches in one call.
const MATCHES: u64 = 1000;

/// The largest number of context lines on each side.
const CONTEXT: u64 = 20;

pub(in crate::wire::handler) async fn search(
    services: &Services,
    caller: &Caller,
    params: SearchParams,
) -> Outcome<SearchResult> {
    names::check_all(&[("handle", params.handle.as_ref()), ("session", params.session.as_ref())])?;
    let limit = params.limit.unwrap_or(DEFAULT_MATCHES);
    if !(1..=MATCHES).contains(&limit) {
        return Err(Error::param("limit", format!("must be from 1 to {MATCHES}")));
    }
    let context = params.context.unwrap_or(0);
    if context > CONTEXT {
        return Err(Error::param("context", format!("at most {CONTEXT} lines are allowed")));
    }
    if let Some(handle) = &params.handle {
        services.outputs.spilled.check_profile(caller.profile.as_deref(), handle)?;
    }
    let scope = match (params.handle, params.session) {
        (Some(_), Some(_)) => return Err(Error::param("handle", "give either a handle or a session")),
        (Some(handle), None) => Scope::Handle(handle),
        (None, Some(session)) => Scope::Session(session),
        (None, None) => Scope::All,
    };
    let needle = if params.regex == Some(true) { Needle::Regex(params.query) } else { Needle::Literal(params.query) };
    let query = Query { needle, scope, context: to_usize(context), limit: to_usize(limit) };
    let found = services.outputs.search(caller, query).await?;
    let matches = found.matches.into_iter().map(|found| Match {
        handle: found.handle.to_string(),
        line: found.line,
        text: found.text,
        before: found.before,
        after: found.after,
        offset: found.offset,
        start: to_u64(found.start),
        end: to_u64(found.end),
        cut: found.cut,
    });
    Ok(SearchResult { matches: matches.collect(), more: found.more })
}
