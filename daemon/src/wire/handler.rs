//! What each method does: one file per resource. Here wire types become domain
//! types and back.

mod constraint;
mod context;
mod daemon;
mod guard;
mod memory;
mod output;
mod profile;
mod recall;
mod session;
mod trajectory;

use std::sync::Arc;

use herma_protocol::{Reply, Request};
use tokio::sync::Semaphore;

pub(crate) use memory::{domain_target, wire_target};
pub(crate) use output::reason as wire_reason;
pub(crate) use session::{freeze, from_continuation, keep_again};

use crate::data::error::{Error, Outcome};
use crate::wire::caller::Caller;
use crate::wire::state::State;

/// Texts up to this many bytes are worked on without leaving the connection's
/// task.
const SHORT: usize = 16 << 10;

/// Answers what needs neither a disk nor another thread.
pub(crate) fn at_once(state: &State, profile: Option<&str>, request: &Request) -> Option<Outcome<Reply>> {
    Some(match request {
        Request::Ping(_) => Ok(Reply::Ping(daemon::ping())),
        Request::SessionSnapshot(params) => session::snapshot_in_memory(state, profile, params)?,
        Request::Hello(params) => daemon::hello(state, params).map(Reply::Hello),
        Request::Shutdown(params) => Ok(Reply::Shutdown(daemon::shutdown(state, params))),
        Request::MemorySchema(_) => memory::schema().map(Reply::MemorySchema),
        Request::ContextConstants(_) => Ok(Reply::ContextConstants(context::constants())),
        Request::ContextStatus(params) => context::status_in_memory(state, profile, params)?.map(Reply::ContextStatus),
        Request::ContextCheck(params) => context::check_in_memory(state, profile, params)?.map(Reply::ContextCheck),
        Request::OutputPreview(params) if params.content.len() <= SHORT => {
            output::preview(params).map(Reply::OutputPreview)
        }
        Request::GuardScan(params) if params.text.as_ref().is_none_or(|text| text.len() <= SHORT) => {
            Ok(Reply::GuardScan(guard::scan(&state.config.policy, params)))
        }
        _ => return None,
    })
}

/// Answers any request.
pub(crate) async fn handle(state: &Arc<State>, caller: &Caller, request: Request) -> Outcome<Reply> {
    match request {
        Request::Hello(params) => daemon::hello(state, &params).map(Reply::Hello),
        Request::Ping(_) => Ok(Reply::Ping(daemon::ping())),
        Request::Status(_) => daemon::status(state).await.map(Reply::Status),
        Request::Shutdown(params) => Ok(Reply::Shutdown(daemon::shutdown(state, &params))),
        Request::MemoryAdd(params) => memory::add(state, caller, params).await.map(Reply::MemoryAdd),
        Request::MemoryReplace(params) => memory::replace(state, caller, params).await.map(Reply::MemoryReplace),
        Request::MemoryRemove(params) => memory::remove(state, caller, params).await.map(Reply::MemoryRemove),
        Request::MemoryBatch(params) => memory::batch(state, caller, params).await.map(Reply::MemoryBatch),
        Request::MemoryList(params) => memory::list(state, caller, &params).await.map(Reply::MemoryList),
        Request::MemoryTool(params) => memory::tool(state, caller, params).await.map(Reply::MemoryTool),
        Request::MemorySchema(_) => memory::schema().map(Reply::MemorySchema),
        Request::SessionOpen(params) => session::open(state, caller, params).await.map(Reply::SessionOpen),
        Request::SessionSnapshot(params) => session::snapshot(state, caller, &params).await.map(Reply::SessionSnapshot),
        Request::SessionClose(params) => session::close(state, caller, params).await.map(Reply::SessionClose),
        Request::OutputAdmit(params) => output::admit(state, caller, params).await.map(Reply::OutputAdmit),
        Request::OutputSettleTurn(params) => {
            output::settle_turn(state, caller, params).await.map(Reply::OutputSettleTurn)
        }
        Request::OutputPreview(params) => {
            blocking("output.preview", move || output::preview(&params)).await.map(Reply::OutputPreview)
        }
        Request::OutputRead(params) => output::read(state, caller, params).await.map(Reply::OutputRead),
        Request::ContextConfigure(params) => {
            context::configure(state, caller, params).await.map(Reply::ContextConfigure)
        }
        Request::ContextStatus(params) => context::status(state, caller, &params).await.map(Reply::ContextStatus),
        Request::ContextConstants(_) => Ok(Reply::ContextConstants(context::constants())),
        Request::ContextEstimate(params) => {
            blocking("context.estimate", move || context::estimate(params)).await.map(Reply::ContextEstimate)
        }
        Request::ContextPlan(params) => context::plan(state, caller, params).await.map(Reply::ContextPlan),
        Request::ContextCompress(params) => context::compress(state, caller, params).await.map(Reply::ContextCompress),
        Request::GuardScan(params) => {
            let policy = Arc::clone(&state.config.policy);
            blocking("guard.scan", move || Ok(guard::scan(&policy, &params))).await.map(Reply::GuardScan)
        }
        Request::GuardRedact(params) => {
            let by_default = state.config.redact;
            blocking("guard.redact", move || Ok(guard::redact(params, by_default))).await.map(Reply::GuardRedact)
        }
        Request::MemoryLog(params) => memory::log(state, caller, params).await.map(Reply::MemoryLog),
        Request::MemoryUndo(params) => memory::undo(state, caller, params).await.map(Reply::MemoryUndo),
        Request::MemoryRestore(params) => memory::restore(state, caller, params).await.map(Reply::MemoryRestore),
        Request::MemoryPending(_) => memory::pending(state, caller).await.map(Reply::MemoryPending),
        Request::MemoryApprove(params) => memory::approve(state, caller, params).await.map(Reply::MemoryApprove),
        Request::MemoryReject(params) => memory::reject(state, caller, params).await.map(Reply::MemoryReject),
        Request::SessionRefresh(params) => session::refresh(state, caller, &params).await.map(Reply::SessionRefresh),
        Request::ProfileCreate(params) => profile::create(state, &params).map(Reply::ProfileCreate),
        Request::ProfileList(_) => profile::list(state).map(Reply::ProfileList),
        Request::SessionAppend(params) => session::append(state, caller, params).await.map(Reply::SessionAppend),
        Request::SessionList(params) => session::list(state, caller, params).await.map(Reply::SessionList),
        Request::SessionShow(params) => session::show(state, caller, params).await.map(Reply::SessionShow),
        Request::SessionTip(params) => session::tip(state, params).await.map(Reply::SessionTip),
        Request::SessionResumeTarget(params) => {
            session::resume_target(state, params).await.map(Reply::SessionResumeTarget)
        }
        Request::SessionNextTitle(params) => session::next_title(state, params).await.map(Reply::SessionNextTitle),
        Request::SessionLock(params) => session::lock(state, caller, params).await.map(Reply::SessionLock),
        Request::SessionUnlock(params) => session::unlock(state, params).await.map(Reply::SessionUnlock),
        Request::SessionLockHolder(params) => session::lock_holder(state, params).await.map(Reply::SessionLockHolder),
        Request::SessionRemove(params) => session::remove(state, caller, params).await.map(Reply::SessionRemove),
        Request::SessionUsage(params) => session::usage(state, caller, params).await.map(Reply::SessionUsage),
        Request::OutputSearch(params) => output::search(state, caller, params).await.map(Reply::OutputSearch),
        Request::OutputList(params) => output::list(state, caller, params).await.map(Reply::OutputList),
        Request::OutputRemove(params) => output::remove(state, caller, params).await.map(Reply::OutputRemove),
        Request::OutputGc(params) => output::gc(state, params).await.map(Reply::OutputGc),
        Request::ContextRecordUsage(params) => {
            context::record_usage(state, caller, params).await.map(Reply::ContextRecordUsage)
        }
        Request::RecallSearch(params) => recall::search(state, caller, params).await.map(Reply::RecallSearch),
        Request::RecallExpand(params) => recall::expand(state, caller, params).await.map(Reply::RecallExpand),
        Request::RecallDescribe(params) => recall::describe(state, caller, params).await.map(Reply::RecallDescribe),
        Request::RecallSchema(_) => recall::schema().map(Reply::RecallSchema),
        Request::ContextClassifyError(params) => {
            context::classify_error(state, caller, params).await.map(Reply::ContextClassifyError)
        }
        Request::ContextCacheControl(params) => context::cache_control(params).await.map(Reply::ContextCacheControl),
        Request::ContextManual(params) => context::manual(params).await.map(Reply::ContextManual),
        Request::ContextCheck(params) => context::check(state, caller, params).await.map(Reply::ContextCheck),
        Request::ContextReset(params) => context::reset(state, caller, params).await.map(Reply::ContextReset),
        Request::ContextResume(params) => context::resume(state, caller, params).await.map(Reply::ContextResume),
        Request::ContextCompactAhead(params) => {
            context::compact_ahead(state, caller, params).await.map(Reply::ContextCompactAhead)
        }
        Request::ConstraintAdd(params) => constraint::add(state, caller, params).await.map(Reply::ConstraintAdd),
        Request::ConstraintList(params) => constraint::list(state, caller, params).await.map(Reply::ConstraintList),
        Request::ConstraintRemove(params) => {
            constraint::remove(state, caller, params).await.map(Reply::ConstraintRemove)
        }
        Request::TrajectoryCompress(params) => trajectory::compress(state, params).await.map(Reply::TrajectoryCompress),
        // A connection answers it itself, for only it can tell later.
        Request::Subscribe(_) => Err(Error::internal("subscribe")),
    }
}

/// The session whose order a request keeps.
pub(crate) fn session_of(request: &Request) -> Option<&str> {
    match request {
        Request::SessionOpen(params) => Some(&params.session),
        Request::SessionSnapshot(params) => Some(&params.session),
        Request::SessionClose(params) => Some(&params.session),
        Request::OutputAdmit(params) => Some(&params.session),
        Request::OutputSettleTurn(params) => Some(&params.session),
        Request::ContextConfigure(params) => Some(&params.session),
        Request::ContextStatus(params) => Some(&params.session),
        Request::ContextCompress(params) => Some(&params.session),
        Request::ContextPlan(params) => params.session.as_deref(),
        Request::MemoryAdd(params) => params.session.as_deref(),
        Request::MemoryReplace(params) => params.session.as_deref(),
        Request::MemoryRemove(params) => params.session.as_deref(),
        Request::MemoryBatch(params) => params.session.as_deref(),
        Request::MemoryTool(params) => params.session.as_deref(),
        Request::MemoryUndo(params) => params.session.as_deref(),
        Request::MemoryRestore(params) => params.session.as_deref(),
        Request::SessionRefresh(params) => Some(&params.session),
        Request::SessionAppend(params) => Some(&params.session),
        Request::SessionShow(params) => Some(&params.session),
        Request::SessionTip(params) => Some(&params.session),
        Request::SessionResumeTarget(params) => Some(&params.session),
        Request::SessionLock(params) => Some(&params.session),
        Request::SessionUnlock(params) => Some(&params.session),
        Request::SessionLockHolder(params) => Some(&params.session),
        Request::SessionRemove(params) => Some(&params.session),
        Request::SessionUsage(params) => params.session.as_deref(),
        Request::OutputSearch(params) => params.session.as_deref(),
        Request::OutputList(params) => params.session.as_deref(),
        Request::ContextRecordUsage(params) => params.session.as_deref(),
        Request::RecallSearch(params) => params.session.as_deref(),
        Request::RecallDescribe(params) => Some(&params.session),
        Request::ContextCheck(params) => Some(&params.session),
        Request::ContextReset(params) => Some(&params.session),
        Request::ContextCompactAhead(params) => Some(&params.session),
        Request::ContextClassifyError(params) => params.session.as_deref(),
        Request::ConstraintAdd(params) => Some(&params.session),
        Request::ConstraintList(params) => Some(&params.session),
        Request::ConstraintRemove(params) => Some(&params.session),
        _ => None,
    }
}

/// Work that may run at one time beside the connections. What waits for its turn
/// waits with its request, and ends with it.
static AT_WORK: Semaphore = Semaphore::const_new(24);

/// Does long work where it keeps nobody waiting.
pub(crate) async fn blocking<T: Send + 'static>(
    what: &str,
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    let turn = AT_WORK.acquire().await.map_err(|_| Error::internal(what))?;
    let work = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(turn);
        done
    });
    work.await.unwrap_or_else(|_| {
        tracing::error!(method = what, "a request panicked");
        Err(Error::internal(what))
    })
}

/// Checks a name that came from outside.
fn check_name(param: &str, name: &str) -> Outcome<()> {
    let chars = name.chars().count();
    if chars > herma_protocol::limits::NAME {
        return Err(Error::param(
            param,
            format!("{chars} chars; at most {} are allowed", herma_protocol::limits::NAME),
        ));
    }
    if name.chars().any(char::is_control) {
        return Err(Error::param(param, "control characters are not allowed"));
    }
    Ok(())
}

fn check_names(names: &[(&str, Option<&String>)]) -> Outcome<()> {
    names.iter().try_for_each(|(param, name)| name.map_or(Ok(()), |name| check_name(param, name)))
}

pub(crate) fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn narrow(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
