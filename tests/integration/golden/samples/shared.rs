//! Samples of stores that several hosts share.

use herma_protocol::memory::{PendingResult, QueuedParams, QueuedResult, Target};
use herma_protocol::shared::{
    InitParams, InitResult, JoinParams, JoinResult, JoinedStore, LeaveParams, LeaveResult, LeftOut, Messages, Outputs,
    Sessions, State, StatusParams, StatusResult, Store,
};
use herma_protocol::{Reply, Request};

use super::stores::pending_result;

pub(super) fn status() -> (Request, Reply) {
    let store = Store {
        profile: "work".into(),
        target: Target::User,
        joined: true,
        revision: 251,
        shared_revision: Some(252),
        stale_s: Some(61.5),
        edited: true,
        queued: 2,
        error: Some("it is another store".into()),
    };
    let result = StatusResult {
        configured: true,
        host: Some("attic".into()),
        space: Some("team".into()),
        database: Some("agents@db.example.org:5432/herma".into()),
        open: Some(false),
        state: State::Down,
        since: Some(1_790_000_000.25),
        error: Some("the shared database can't be reached: connection refused".into()),
        offline: "queue".into(),
        stores: vec![store],
        outputs: Some(Outputs { url: Some("s3://agents/outputs".into()), error: Some("no such bucket".into()) }),
        sessions: Some(Sessions { waiting: 2, error: Some("the shared database can't be reached".into()) }),
        left_out: vec!["revision 9 of default's user, which attic wrote, has entries that can't be read".into()],
        messages: Some(Messages { waiting: 1_200, error: Some("the shared database can't be reached".into()) }),
    };
    (Request::SharedStatus(StatusParams {}), Reply::SharedStatus(result))
}

pub(super) fn init() -> (Request, Reply) {
    let params = InitParams {
        url: Some("postgres://owner@db.example.org/herma".into()),
        password: Some("hunter2".into()),
        role: Some("agents".into()),
        print: Some(false),
    };
    let result = InitResult { found: Some(0), version: 1, sql: Some("BEGIN;".into()) };
    (Request::SharedInit(params), Reply::SharedInit(result))
}

pub(super) fn join() -> (Request, Reply) {
    let left_out = LeftOut {
        entry: "likes milk".into(),
        why: "the store would have 1,400 of 1,375 chars with it".into(),
        pending_id: Some("0a1b2c3d".into()),
    };
    let store = JoinedStore {
        target: Target::User,
        revision: 253,
        found: 7,
        brought: vec!["likes tea".into()],
        left_out: vec![left_out],
    };
    let result = JoinResult { profile: "work".into(), stores: vec![store] };
    (Request::SharedJoin(JoinParams {}), Reply::SharedJoin(result))
}

pub(super) fn leave() -> (Request, Reply) {
    let result = LeaveResult { profile: "work".into(), pending: 2 };
    (Request::SharedLeave(LeaveParams {}), Reply::SharedLeave(result))
}

pub(super) fn queued() -> (Request, Reply) {
    let PendingResult { pending } = pending_result();
    (Request::MemoryQueued(QueuedParams {}), Reply::MemoryQueued(QueuedResult { queued: pending }))
}
