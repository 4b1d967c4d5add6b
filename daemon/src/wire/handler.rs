//! The handlers of all methods, one file per resource. They convert wire types to domain types and back.

mod constraint;
pub(super) mod context;
mod daemon;
mod files;
pub(super) mod guard;
pub(super) mod ledger;
pub(super) mod memory;
pub(super) mod output;
mod profile;
mod recall;
mod session;
mod shared;
mod trajectory;

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use herma_protocol::{Reply, Request};

use super::services::Services;
use crate::data::error::{Error, Outcome};
use crate::owners::blocking::blocking;
use crate::service::caller::Caller;

/// The size up to which texts are processed within the connection's task, in bytes.
const SHORT: usize = 16 << 10;

/// Answers a request that [`may_be_quick`], if it needs neither a disk nor another thread. Otherwise drops the handler
/// that was started, which then has no effect.
pub(super) fn at_once(services: &Arc<Services>, caller: &Caller, request: &Request) -> Option<Outcome<Reply>> {
    if let Request::SessionSnapshot(params) = request {
        return session::snapshot_in_memory(services, caller, params);
    }
    let answer = pin!(handle(services, caller, request.clone()));
    match answer.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}

/// Whether a request is a read that usually needs only memory, and is small enough to be copied for an attempt.
pub(super) fn may_be_quick(request: &Request) -> bool {
    match request {
        Request::Ping(_)
        | Request::Hello(_)
        | Request::Shutdown(_)
        | Request::MemorySchema(_)
        | Request::SessionSnapshot(_)
        | Request::ContextConstants(_)
        | Request::ContextStatus(_) => true,
        Request::ContextCheck(params) => params.messages.is_none(),
        Request::OutputPreview(params) => params.content.len() <= SHORT,
        Request::GuardScan(params) => params.text.as_ref().is_none_or(|text| text.len() <= SHORT),
        _ => false,
    }
}

/// Answers any request.
pub(super) async fn handle(services: &Arc<Services>, caller: &Caller, request: Request) -> Outcome<Reply> {
    match request {
        Request::Hello(params) => daemon::hello(services, &params).map(Reply::Hello),
        Request::Ping(_) => Ok(Reply::Ping(daemon::ping())),
        Request::Status(_) => daemon::status(services).await.map(Reply::Status),
        Request::Shutdown(params) => Ok(Reply::Shutdown(daemon::shutdown(services, &params))),
        Request::MemoryAdd(params) => memory::add(services, caller, params).await.map(Reply::MemoryAdd),
        Request::MemoryReplace(params) => memory::replace(services, caller, params).await.map(Reply::MemoryReplace),
        Request::MemoryRemove(params) => memory::remove(services, caller, params).await.map(Reply::MemoryRemove),
        Request::MemoryBatch(params) => memory::batch(services, caller, params).await.map(Reply::MemoryBatch),
        Request::MemoryList(params) => memory::list(services, caller, &params).await.map(Reply::MemoryList),
        Request::MemoryTool(params) => memory::tool(services, caller, params).await.map(Reply::MemoryTool),
        Request::MemorySchema(_) => memory::schema(services).map(Reply::MemorySchema),
        Request::SessionOpen(params) => session::open(services, caller, params).await.map(Reply::SessionOpen),
        Request::SessionSnapshot(params) => session::snapshot(services, caller, &params).await,
        Request::SessionClose(params) => session::close(services, caller, params).await.map(Reply::SessionClose),
        Request::OutputAdmit(params) => output::admit(services, caller, params).await.map(Reply::OutputAdmit),
        Request::OutputSettleTurn(params) => {
            output::settle_turn(services, caller, params).await.map(Reply::OutputSettleTurn)
        }
        Request::OutputPreview(params) => output::preview(params).await.map(Reply::OutputPreview),
        Request::OutputRead(params) => output::read(services, caller, params).await.map(Reply::OutputRead),
        Request::ContextConfigure(params) => {
            context::configure(services, caller, params).await.map(Reply::ContextConfigure)
        }
        Request::ContextStatus(params) => context::status(services, caller, params).await.map(Reply::ContextStatus),
        Request::ContextConstants(_) => Ok(Reply::ContextConstants(context::constants())),
        Request::ContextEstimate(params) => {
            blocking("context.estimate", move || context::estimate(params)).await.map(Reply::ContextEstimate)
        }
        Request::ContextPlan(params) => context::plan(services, caller, params).await.map(Reply::ContextPlan),
        Request::ContextCompress(params) => {
            context::compress(services, caller, params).await.map(Reply::ContextCompress)
        }
        Request::GuardScan(params) => guard::scan(services, params).await.map(Reply::GuardScan),
        Request::GuardScrub(params) => guard::scrub(services, params).await.map(Reply::GuardScrub),
        Request::GuardRedact(params) => guard::redact(services, params).await.map(Reply::GuardRedact),
        Request::MemoryLog(params) => memory::log(services, caller, params).await.map(Reply::MemoryLog),
        Request::MemoryUndo(params) => memory::undo(services, caller, params).await.map(Reply::MemoryUndo),
        Request::MemoryRestore(params) => memory::restore(services, caller, params).await.map(Reply::MemoryRestore),
        Request::MemoryRevert(params) => memory::revert(services, caller, params).await.map(Reply::MemoryRevert),
        Request::MemoryPending(_) => memory::pending(services, caller).await.map(Reply::MemoryPending),
        Request::MemoryApprove(params) => memory::approve(services, caller, params).await.map(Reply::MemoryApprove),
        Request::MemoryReject(params) => memory::reject(services, caller, params).await.map(Reply::MemoryReject),
        Request::SessionRefresh(params) => session::refresh(services, caller, &params).await.map(Reply::SessionRefresh),
        Request::ProfileCreate(params) => profile::create(services, &params).map(Reply::ProfileCreate),
        Request::ProfileList(_) => profile::list(services).map(Reply::ProfileList),
        Request::SessionAppend(params) => session::append(services, caller, params).await.map(Reply::SessionAppend),
        Request::SessionImport(params) => session::import(services, caller, params).await.map(Reply::SessionImport),
        Request::SessionList(params) => session::list(services, caller, params).await.map(Reply::SessionList),
        Request::SessionMessages(params) => {
            session::messages(services, caller, params).await.map(Reply::SessionMessages)
        }
        Request::SessionShow(params) => session::show(services, caller, params).await.map(Reply::SessionShow),
        Request::SessionTip(params) => session::tip(services, params).await.map(Reply::SessionTip),
        Request::SessionResumeTarget(params) => {
            session::resume_target(services, params).await.map(Reply::SessionResumeTarget)
        }
        Request::SessionNextTitle(params) => session::next_title(services, params).await.map(Reply::SessionNextTitle),
        Request::SessionUpdate(params) => session::update(services, caller, params).await.map(Reply::SessionUpdate),
        Request::SessionLock(params) => session::lock(services, caller, params).await.map(Reply::SessionLock),
        Request::SessionUnlock(params) => session::unlock(services, params).await.map(Reply::SessionUnlock),
        Request::SessionLockHolder(params) => {
            session::lock_holder(services, params).await.map(Reply::SessionLockHolder)
        }
        Request::SessionRemove(params) => session::remove(services, caller, params).await.map(Reply::SessionRemove),
        Request::SessionUsage(params) => session::usage(services, caller, params).await.map(Reply::SessionUsage),
        Request::OutputSearch(params) => output::search(services, caller, params).await.map(Reply::OutputSearch),
        Request::OutputList(params) => output::list(services, caller, params).await.map(Reply::OutputList),
        Request::OutputRemove(params) => output::remove(services, caller, params).await.map(Reply::OutputRemove),
        Request::OutputGc(params) => output::gc(services, params).await.map(Reply::OutputGc),
        Request::ContextRecordUsage(params) => {
            context::record_usage(services, caller, params).await.map(Reply::ContextRecordUsage)
        }
        Request::RecallSearch(params) => recall::search(services, caller, params).await.map(Reply::RecallSearch),
        Request::RecallExpand(params) => recall::expand(services, caller, params).await.map(Reply::RecallExpand),
        Request::RecallDescribe(params) => recall::describe(services, caller, params).await.map(Reply::RecallDescribe),
        Request::RecallAsk(params) => recall::ask(services, caller, params).await.map(Reply::RecallAsk),
        Request::RecallState(params) => recall::state(services, caller, params).await.map(Reply::RecallState),
        Request::RecallSchema(_) => recall::schema(services).map(Reply::RecallSchema),
        Request::ContextClassifyError(params) => {
            context::classify_error(services, caller, params).await.map(Reply::ContextClassifyError)
        }
        Request::ContextCacheControl(params) => context::cache_control(params).await.map(Reply::ContextCacheControl),
        Request::ContextManual(params) => context::manual(params).await.map(Reply::ContextManual),
        Request::ContextTools(params) => context::tools(services, caller, params).await.map(Reply::ContextTools),
        Request::ContextCheck(params) => context::check(services, caller, params).await.map(Reply::ContextCheck),
        Request::ContextUndo(params) => context::undo(services, caller, params).await.map(Reply::ContextUndo),
        Request::ContextPin(params) => context::pin(services, caller, params).await.map(Reply::ContextPin),
        Request::ContextPins(params) => context::pins(services, caller, params).await.map(Reply::ContextPins),
        Request::ContextUnpin(params) => context::unpin(services, caller, params).await.map(Reply::ContextUnpin),
        Request::ContextOpen(params) => context::open(services, caller, params).await.map(Reply::ContextOpen),
        Request::ContextFold(params) => context::fold(services, caller, params).await.map(Reply::ContextFold),
        Request::ContextSchema(_) => context::schema().map(Reply::ContextSchema),
        Request::ContextEpisode(params) => context::episode(services, caller, params).await.map(Reply::ContextEpisode),
        Request::ContextDiscard(params) => context::discard(services, caller, params).await.map(Reply::ContextDiscard),
        Request::ContextReset(params) => context::reset(services, caller, params).await.map(Reply::ContextReset),
        Request::ContextResume(params) => context::resume(services, caller, params).await.map(Reply::ContextResume),
        Request::ContextCompactAhead(params) => {
            context::compact_ahead(services, caller, params).await.map(Reply::ContextCompactAhead)
        }
        Request::ConstraintAdd(params) => constraint::add(services, caller, params).await.map(Reply::ConstraintAdd),
        Request::ConstraintList(params) => constraint::list(services, caller, params).await.map(Reply::ConstraintList),
        Request::ConstraintRemove(params) => {
            constraint::remove(services, caller, params).await.map(Reply::ConstraintRemove)
        }
        Request::TrajectoryCompress(params) => {
            trajectory::compress(services, params).await.map(Reply::TrajectoryCompress)
        }
        Request::SharedStatus(_) => shared::status(services).await.map(Reply::SharedStatus),
        Request::SharedInit(params) => shared::init(services, params).await.map(Reply::SharedInit),
        Request::SharedJoin(_) => shared::join(services, caller).await.map(Reply::SharedJoin),
        Request::SharedLeave(_) => shared::leave(services, caller).await.map(Reply::SharedLeave),
        Request::MemoryQueued(_) => memory::queued(services, caller).await.map(Reply::MemoryQueued),
        Request::FilesList(params) => files::list(services, caller, params).await.map(Reply::FilesList),
        Request::FilesRead(params) => files::read(services, caller, params).await.map(Reply::FilesRead),
        Request::FilesWrite(params) => files::write(services, caller, params).await.map(Reply::FilesWrite),
        Request::FilesDelete(params) => files::delete(services, caller, params).await.map(Reply::FilesDelete),
        Request::FilesRename(params) => files::rename(services, caller, params).await.map(Reply::FilesRename),
        Request::FilesTool(params) => files::tool(services, caller, params).await.map(Reply::FilesTool),
        Request::FilesLog(params) => files::log(services, caller, params).await.map(Reply::FilesLog),
        Request::FilesUndo(params) => files::undo(services, caller, params).await.map(Reply::FilesUndo),
        Request::FilesRestore(params) => files::restore(services, caller, params).await.map(Reply::FilesRestore),
        Request::LedgerRecord(params) => ledger::record(services, caller, params).await.map(Reply::LedgerRecord),
        Request::LedgerRead(params) => ledger::read(services, caller, params).await.map(Reply::LedgerRead),
        // The connection answers it itself, because only the connection can send notifications later.
        Request::Subscribe(_) => Err(Error::internal("subscribe")),
    }
}
