//! A fake daemon that keeps one store in memory and records the requests.

mod kept;

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, MutexGuard};

use herma_client::protocol::binary::{self, ClientFrame};
use herma_client::protocol::daemon::SubscribeResult;
use herma_client::protocol::frame::Decoder;
use herma_client::protocol::memory::{
    Action, ApproveResult, Decided, ListResult, LogResult, LogRow, PendingResult, PendingWrite, RejectResult,
    StoreView, Target, WriteResult,
};
use herma_client::protocol::notification::{Cause, MemoryChanged, OutputExpired};
use herma_client::protocol::output::shelf::Reason;
use herma_client::protocol::profile::{self, Profile};
use herma_client::protocol::session::Snapshot;
use herma_client::protocol::{ErrorKind, Json, Notification, Reply, Request, RpcError, limits};
use tempfile::TempDir;

/// The state of the daemon.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// The entries of USER.md; MEMORY.md is empty.
    pub(crate) entries: Vec<String>,
    pub(crate) revision: u64,
    /// The journal, oldest first.
    pub(crate) rows: Vec<LogRow>,
    pub(crate) damaged: u64,
    /// The daemon refuses every write with this message.
    pub(crate) refusal: Option<String>,
    /// Another writer changes the store just before the next batch.
    pub(crate) overtaken: bool,
    /// The received writes.
    pub(crate) writes: Vec<Request>,
    /// The last request.
    pub(crate) last: Option<Request>,
}

/// The daemon and the folder of its socket.
#[derive(Debug)]
pub(crate) struct Fake {
    pub(crate) folder: TempDir,
    state: Arc<Mutex<State>>,
}

impl Fake {
    /// Starts a daemon whose USER.md had each of these lists in turn.
    pub(crate) fn with_history(lists: &[&[&str]]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("sock")).unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream.unwrap(), &shared));
            }
        });
        let fake = Self { folder, state };
        for list in lists {
            fake.state().put("batch", list.iter().map(|entry| (*entry).to_owned()).collect());
        }
        fake
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Returns the entries of USER.md.
    pub(crate) fn entries(&self) -> Vec<String> {
        self.state().entries.clone()
    }

    /// Returns `herma` for this daemon.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_herma"));
        command.arg("--no-spawn").arg("--home").arg(self.folder.path());
        command.arg("--socket").arg(self.folder.path().join("sock")).args(arguments);
        command.env_remove("VISUAL").env("TMPDIR", self.folder.path());
        command
    }

    pub(crate) fn herma(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs `herma memory edit` with an editor.
    pub(crate) fn edit(&self, editor: &str, arguments: &[&str]) -> Output {
        self.command(&[&["memory", "edit", "user"], arguments].concat()).env("EDITOR", editor).output().unwrap()
    }
}

fn serve(mut stream: UnixStream, state: &Mutex<State>) {
    let mut decoder = Decoder::new(limits::FRAME);
    let mut buffer = [0; 4096];
    loop {
        while let Some(frame) = decoder.next_frame().unwrap() {
            let ClientFrame { id, request } = binary::read_request(&decoder.take(&frame)).unwrap();
            let (header, request) = request.unwrap();
            if header.profile.as_deref() == Some("gone") {
                return;
            }
            // The fake behaves like a daemon that was started before an update.
            let unknown = "session.expired";
            let is_new =
                matches!(&request, Request::Subscribe(params) if params.topics.iter().any(|name| name == unknown));
            let is_subscription = matches!(request, Request::Subscribe(_)) && !is_new;
            let outcome = if is_new {
                Err(RpcError::new(ErrorKind::InvalidParams, "there is no topic \"session.expired\""))
            } else if header.profile.as_deref() == Some("missing") {
                Err(RpcError::new(ErrorKind::NotFound, "there is no profile \"missing\""))
            } else {
                state.lock().unwrap().answer(request)
            };
            let mut out = Vec::new();
            binary::append_reply(id, &outcome, &mut out).unwrap();
            if is_subscription {
                for notification in [changed("default"), changed("work"), expired()] {
                    binary::append_notification(&notification, &mut out).unwrap();
                }
            }
            stream.write_all(&out).unwrap();
            if is_subscription {
                return;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(count) => decoder.buffer().extend_from_slice(&buffer[..count]),
        }
    }
}

/// Returns the entries, with a placeholder for each that is poison.
fn guarded(entries: &[String], raw: Option<bool>) -> Vec<String> {
    let guard = |entry: &String| if entry.starts_with("poison") { "[BLOCKED]".into() } else { entry.clone() };
    if raw == Some(true) { entries.to_vec() } else { entries.iter().map(guard).collect() }
}

fn changed(profile: &str) -> Notification {
    let (target, cause) = (Target::User, Cause::Write);
    Notification::MemoryChanged(MemoryChanged {
        profile: profile.into(),
        target,
        revision: 9,
        cause,
        session: None,
        agent: None,
    })
}

fn expired() -> Notification {
    Notification::OutputExpired(OutputExpired {
        handle: "out_0".into(),
        session: "s".into(),
        tool: "terminal".into(),
        id: "call_0".into(),
        bytes: 7,
        sha256: "ab".into(),
        reason: Reason::Quota,
    })
}

impl State {
    fn put(&mut self, action: &str, after: Vec<String>) -> WriteResult {
        let before = std::mem::replace(&mut self.entries, after.clone());
        self.revision += 1;
        let (session, agent) = (None, Some("coder".into()));
        let (target, action, time) = (Target::User, action.to_owned(), 0.0);
        self.rows.push(LogRow {
            target,
            revision: self.revision,
            time,
            action,
            session,
            agent,
            host: None,
            before,
            after,
        });
        WriteResult {
            success: true,
            message: Some("Done.".into()),
            usage: Some("1%".into()),
            revision: Some(self.revision),
            ..WriteResult::default()
        }
    }

    fn view(&self, target: Target, raw: Option<bool>) -> StoreView {
        let entries = if target == Target::User { guarded(&self.entries, raw) } else { vec![] };
        StoreView { entries, revision: self.revision, usage: "1%".into(), over_limit: false, stale_s: None }
    }

    fn answer(&mut self, request: Request) -> Result<Reply, RpcError> {
        self.last = Some(request.clone());
        if request.method().effect() == herma_client::protocol::method::Effect::Write {
            self.writes.push(request.clone());
        }
        Ok(match request {
            Request::MemoryList(params) => {
                let view =
                    |target| params.target.is_none_or(|wanted| wanted == target).then(|| self.view(target, params.raw));
                let (memory, user) = (view(Target::Memory), view(Target::User));
                Reply::MemoryList(ListResult { memory, user, pending_count: None })
            }
            Request::MemoryBatch(params) => {
                if std::mem::take(&mut self.overtaken) {
                    let entries = [self.entries.clone(), vec!["of another".into()]].concat();
                    self.put("add", entries);
                }
                if params.expected_revision.is_some_and(|expected| expected != self.revision) {
                    return Err(RpcError::new(ErrorKind::Conflict, format!("it is at revision {}", self.revision)));
                }
                if self.refusal.is_some() {
                    return Ok(Reply::MemoryBatch(WriteResult {
                        error: self.refusal.clone(),
                        ..WriteResult::default()
                    }));
                }
                let mut entries = self.entries.clone();
                for operation in params.operations {
                    let at = operation.old_text.map(|text| entries.iter().position(|entry| *entry == text).unwrap());
                    match (operation.action, at) {
                        (Action::Replace, Some(at)) => entries[at] = operation.content.unwrap(),
                        (Action::Remove, Some(at)) => drop(entries.remove(at)),
                        _ => entries.push(operation.content.unwrap()),
                    }
                }
                if entries.is_empty() && params.allow_empty != Some(true) {
                    let error = Some("it would be empty".into());
                    return Ok(Reply::MemoryBatch(WriteResult { error, ..WriteResult::default() }));
                }
                if params.target == Target::Memory {
                    return Ok(Reply::MemoryBatch(WriteResult { success: true, ..WriteResult::default() }));
                }
                Reply::MemoryBatch(self.put("batch", entries))
            }
            Request::MemoryLog(params) => {
                let rows =
                    self.rows.iter().rev().filter(|row| params.before.is_none_or(|before| row.revision < before));
                let guarded = |row: &LogRow| {
                    let (before, after) = (guarded(&row.before, params.raw), guarded(&row.after, params.raw));
                    LogRow { before, after, ..row.clone() }
                };
                let mut rows: Vec<LogRow> = rows.map(guarded).collect();
                let limit = usize::try_from(params.limit.unwrap()).unwrap();
                let more = rows.len() > limit;
                rows.truncate(limit);
                Reply::MemoryLog(LogResult { rows, more, damaged: self.damaged, pending_count: None })
            }
            Request::MemoryUndo(_) => {
                let before = self.rows.last().unwrap().before.clone();
                Reply::MemoryUndo(self.put("undo", before))
            }
            Request::MemoryRestore(params) => {
                let row = self.rows.iter().find(|row| row.revision == params.revision);
                let after = row.ok_or_else(|| RpcError::new(ErrorKind::NotFound, "it is not kept"))?.after.clone();
                Reply::MemoryRestore(self.put("restore", after))
            }
            Request::MemoryPending(_) => Reply::MemoryPending(PendingResult {
                pending: vec![PendingWrite {
                    id: "0a1b2c3d".into(),
                    target: Target::User,
                    action: "add".into(),
                    summary: "likes tea".into(),
                    created_at: 0.0,
                    session: None,
                    agent: None,
                    payload: Json::parse("{}".into()).unwrap(),
                }],
            }),
            Request::MemoryApprove(params) => {
                let failed = vec![Decided {
                    id: "2".into(),
                    result: WriteResult { error: Some("full".into()), ..WriteResult::default() },
                }];
                let approved = vec![Decided { id: "1".into(), result: self.put("add", vec!["one".into()]) }];
                let failed = if params.all == Some(true) { failed } else { vec![] };
                Reply::MemoryApprove(ApproveResult { approved, failed })
            }
            Request::MemoryReject(params) => Reply::MemoryReject(RejectResult { rejected: params.ids.unwrap() }),
            Request::SessionRefresh(_) => {
                Reply::SessionRefresh(Snapshot { user: Some("the block".into()), ..Snapshot::default() })
            }
            Request::ProfileCreate(_) => Reply::ProfileCreate(profile::CreateResult { created: true }),
            Request::ProfileList(_) => {
                let default = Profile { name: "default".into(), memory_limit: 2200, user_limit: 1375 };
                Reply::ProfileList(profile::ListResult { profiles: vec![default] })
            }
            Request::Subscribe(params) => Reply::Subscribe(SubscribeResult { topics: params.topics }),
            other => kept::answer(other)?,
        })
    }
}
