//! `session.*`: opening, freezing, closing. The rest has files of its own.

mod chain;
mod lock;
mod transcript;
mod usage;

use std::sync::Arc;

use herma_archive::engine::EngineRow;
use herma_archive::session::{SessionRow, SnapshotRow};
use herma_archive::{Archive, ArchiveError, Reader};
use herma_memory::{Target, render};
use herma_protocol::context::Settings;
use herma_protocol::session::{
    CloseParams, CloseResult, OpenParams, OpenResult, RefreshParams, Revisions, Snapshot, SnapshotParams,
};
use herma_protocol::{Method, Prepared, Reply};
use sha2::{Digest, Sha256};

pub(super) use chain::{list, next_title, resume_target, show, tip};
pub(super) use lock::{lock, lock_holder, unlock};
pub(super) use transcript::{append, remove};
pub(super) use usage::usage;

use super::{check_name, check_names, context};
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::data::profiles::DEFAULT_PROFILE;
use crate::service::compression::kept::Kept;
use crate::service::session::{Session, Sessions};
use crate::wire::caller::Caller;
use crate::wire::state::State;

/// Why a session ended that was open when the daemon was killed.
const CRASH: &str = "crash";

pub(super) async fn open(state: &State, caller: &Caller, params: OpenParams) -> Outcome<OpenResult> {
    check_id(&params.session)?;
    check_names(&[
        ("agent", params.agent.as_ref()),
        ("parent", params.parent.as_ref()),
        ("title", params.title.as_ref()),
        ("model", params.model.as_ref()),
    ])?;
    if params.context_length == Some(0) {
        return Err(Error::param("context_length", "must be at least 1"));
    }
    let (model, context_length) = (params.model.clone(), params.context_length);
    let (session, resumed) = match find(state, caller, &params.session).await? {
        Some(session) => {
            let id = session.id.clone();
            state.archive.note(move |archive| archive.reopen_session(&id)).await?;
            (session, true)
        }
        None => {
            if caller.profile() != DEFAULT_PROFILE {
                state.profiles.create(caller.profile())?;
            }
            create(state, caller, params).await?
        }
    };
    let _alone = session.configuring.lock().await;
    if resumed && (model.is_some() || context_length.is_some()) {
        let before = session.settings();
        let mut settings = before.clone();
        settings.model = model.or(settings.model);
        settings.context_length = context_length.or(settings.context_length);
        let settings = context::with_window(state, &before, context_length, settings).await?;
        save_settings(state, &session, settings).await?;
    }
    Ok(OpenResult {
        session: session.id.clone(),
        generation: session.generation(),
        resumed,
        snapshot: Snapshot::clone(&session.snapshot()),
    })
}

pub(super) fn snapshot_in_memory(
    state: &State,
    profile: Option<&str>,
    params: &SnapshotParams,
) -> Option<Outcome<Reply>> {
    let session = state.sessions.get(&params.session)?;
    if let Err(error) = check_profile(&session, profile) {
        return Some(Err(error));
    }
    let json = session.snapshot_json()?;
    Some(Ok(Reply::Prepared(Prepared { method: Method::SessionSnapshot, json })))
}

pub(super) async fn snapshot(state: &State, caller: &Caller, params: &SnapshotParams) -> Outcome<Snapshot> {
    Ok(Snapshot::clone(&*opened(state, caller, &params.session).await?.snapshot()))
}

/// Freezes both stores anew, for a prompt cache that is lost anyway.
pub(super) async fn refresh(state: &State, caller: &Caller, params: &RefreshParams) -> Outcome<Snapshot> {
    let session = opened(state, caller, &params.session).await?;
    let _alone = session.configuring.lock().await;
    let row = freeze(state, &session.profile).await?;
    if !state.archive.is_in_use() {
        session.set_snapshot(wire_snapshot(row));
        return Ok(Snapshot::clone(&session.snapshot()));
    }
    // Kept in both places or in none, also when nobody waits for it any more.
    let shared = Arc::clone(&session);
    let save = move |archive: &mut Archive| {
        archive.save_snapshot(&shared.id, &row)?;
        shared.set_snapshot(wire_snapshot(row));
        Ok(())
    };
    state.archive.call(save).await?;
    Ok(Snapshot::clone(&session.snapshot()))
}

pub(super) async fn close(state: &State, caller: &Caller, params: CloseParams) -> Outcome<CloseResult> {
    check_names(&[("reason", params.reason.as_ref())])?;
    let session = opened(state, caller, &params.session).await?;
    let _quiet = session
        .compressing
        .try_lock()
        .map_err(|_| Error::Busy(format!("session {:?} is being compressed; close it afterwards", session.id)))?;
    let _alone = session.configuring.lock().await;
    let (id, reason) = (session.id.clone(), params.reason.unwrap_or_else(|| "closed".into()));
    let sessions = Arc::clone(&state.sessions);
    // Closed in both places or in none, also when nobody waits for it any more.
    let close = move |archive: &mut Archive| {
        archive.close_session(&id, &reason, unix_now())?;
        sessions.forget(&id);
        Ok(())
    };
    state.archive.note(close).await?;
    state.sessions.forget(&session.id);
    state.compressions.forget(&session.id);
    Ok(CloseResult {})
}

/// A session that must have been opened.
pub(super) async fn opened(state: &State, caller: &Caller, id: &str) -> Outcome<Arc<Session>> {
    check_id(id)?;
    find(state, caller, id).await?.ok_or_else(|| {
        let words = format!("there is no session {id:?}; open it with session.open first");
        Error::NotFound(words)
    })
}

/// The id of a session that somebody wants to know something of; it is not opened for
/// that.
pub(super) async fn known(state: &State, caller: &Caller, id: &str) -> Outcome<String> {
    check_id(id)?;
    let profile = match state.sessions.get(id) {
        Some(session) => session.profile.clone(),
        None => kept(state, id.to_owned()).await?.ok_or_else(|| no_session(id))?.0.profile,
    };
    check_row_profile(id, &profile, caller.profile.as_deref())?;
    Ok(id.to_owned())
}

fn no_session(id: &str) -> Error {
    Error::NotFound(format!("there is no session {id:?}; session.list has those there are"))
}

/// A session, opened on the spot if it was not.
pub(super) async fn ensure(state: &State, caller: &Caller, id: &str) -> Outcome<Arc<Session>> {
    check_id(id)?;
    match find(state, caller, id).await? {
        Some(session) => Ok(session),
        None => {
            let params = OpenParams { session: id.to_owned(), ..OpenParams::default() };
            create(state, caller, params).await.map(|(session, _)| session)
        }
    }
}

/// Keeps what `context.configure` said, here and in the archive.
pub(super) async fn save_settings(state: &State, session: &Session, settings: Settings) -> Outcome<()> {
    let text = serde_json::to_string(&settings).map_err(|_| Error::internal("keeping settings"))?;
    let id = session.id.clone();
    state.archive.note(move |archive| archive.save_settings(&id, &text)).await?;
    *session.settings.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = settings;
    Ok(())
}

fn check_id(id: &str) -> Outcome<()> {
    if id.is_empty() {
        return Err(Error::param("session", "an id of 1 to 1,024 chars is needed"));
    }
    check_name("session", id)
}

/// A session belongs to the profile that it was opened with.
pub(super) fn check_profile(session: &Session, profile: Option<&str>) -> Outcome<()> {
    check_row_profile(&session.id, &session.profile, profile)
}

fn check_row_profile(id: &str, own: &str, named: Option<&str>) -> Outcome<()> {
    match named {
        Some(named) if named != own => {
            let words = format!("session {id:?} belongs to the profile {own:?}, not {named:?}");
            Err(Error::Conflict(words))
        }
        _ => Ok(()),
    }
}

async fn find(state: &State, caller: &Caller, id: &str) -> Outcome<Option<Arc<Session>>> {
    let session = match state.sessions.get(id) {
        Some(session) => session,
        None => {
            let wanted = id.to_owned();
            match kept(state, wanted).await? {
                None => return Ok(None),
                Some((row, engine)) => {
                    // Its agent did not notice that the daemon was killed.
                    if row.end_reason.as_deref() == Some(CRASH) {
                        let id = row.id.clone();
                        state.archive.tell(move |archive| archive.reopen_session(&id));
                    }
                    state.sessions.insert(from_row(row, engine))
                }
            }
        }
    };
    check_profile(&session, caller.profile.as_deref())?;
    if session.is_touched(unix_now()) {
        let id = session.id.clone();
        state.archive.tell_if_in_use(move |archive| archive.touch(&id, unix_now()));
    }
    Ok(Some(session))
}

/// What the archive has of a session and its engine; nothing when there is no archive.
async fn kept(state: &State, id: String) -> Outcome<Option<(SessionRow, Option<EngineRow>)>> {
    if state.archive.is_in_use() {
        return state.archive.call(move |archive| row_of(archive.reader(), &id)).await;
    }
    match state.archive.read(move |reader| row_of(reader, &id)).await {
        Err(Error::Unavailable(_)) => Ok(None),
        found => found,
    }
}

fn row_of(reader: &Reader, id: &str) -> Result<Option<(SessionRow, Option<EngineRow>)>, ArchiveError> {
    let Some(row) = reader.session(id)? else { return Ok(None) };
    Ok(Some((row, reader.engine(id)?)))
}

/// Freezes both stores and keeps the session. True when another connection was
/// faster: its snapshot counts. Without an archive it is kept as long as the daemon
/// runs.
async fn create(state: &State, caller: &Caller, params: OpenParams) -> Outcome<(Arc<Session>, bool)> {
    let profile = caller.profile().to_owned();
    let snapshot = freeze(state, &profile).await?;
    let named = params.context_length;
    let settings = Settings { model: params.model, context_length: named, ..Settings::default() };
    let settings = context::with_window(state, &Settings::default(), named, settings).await?;
    let row = SessionRow {
        id: params.session,
        profile,
        agent: params.agent,
        parent: params.parent,
        title: params.title,
        generation: 0,
        settings: serde_json::to_string(&settings).ok(),
        snapshot,
        started_at: unix_now(),
        ended_at: None,
        end_reason: None,
    };
    if !state.archive.is_in_use() {
        tracing::warn!("a session is only kept until the daemon ends: the archive is {}", state.archive.state());
        return Ok((state.sessions.insert(from_row(row, None)), false));
    }
    let (row, engine, existed) = state
        .archive
        .call(move |archive| match row_of(archive.reader(), &row.id)? {
            Some((first, engine)) => Ok((first, engine, true)),
            None => archive.create_session(&row).map(|()| (row, None, false)),
        })
        .await?;
    let session = state.sessions.insert(from_row(row, engine));
    check_profile(&session, caller.profile.as_deref())?;
    Ok((session, existed))
}

/// The blocks of a profile's stores as they are now.
pub(crate) async fn freeze(state: &State, profile: &str) -> Outcome<SnapshotRow> {
    let memory = state.store(profile, Target::Memory)?.view().await?;
    let user = state.store(profile, Target::User)?.view().await?;
    let blocks = [&memory, &user].map(|view| render::block(view.target, &view.shown, view.limit));
    let sha256 = hash(&blocks);
    let [memory_block, user_block] = blocks;
    Ok(SnapshotRow {
        memory: memory_block,
        user: user_block,
        sha256,
        memory_revision: memory.revision,
        user_revision: user.revision,
    })
}

/// Keeps the sessions that are in use in an archive that took the place of a damaged
/// one.
pub(crate) fn keep_again(sessions: &Sessions, archive: &mut Archive) {
    for session in sessions.all() {
        let Snapshot { memory, user, sha256, revision } = Snapshot::clone(&session.snapshot());
        let row = SessionRow {
            id: session.id.clone(),
            profile: session.profile.clone(),
            agent: None,
            parent: None,
            title: None,
            generation: session.generation(),
            settings: serde_json::to_string(&session.settings()).ok(),
            snapshot: SnapshotRow {
                memory,
                user,
                sha256,
                memory_revision: revision.memory,
                user_revision: revision.user,
            },
            started_at: unix_now(),
            ended_at: None,
            end_reason: None,
        };
        let engine = session.kept().row();
        let kept = archive.create_session(&row).and_then(|()| archive.save_engine(&row.id, &engine));
        if let Err(error) = kept {
            tracing::error!("a session that is in use could not be kept again: {error}");
        }
    }
}

fn hash(blocks: &[Option<String>; 2]) -> String {
    let [memory, user] = blocks;
    let text = format!("{}\n{}", memory.as_deref().unwrap_or_default(), user.as_deref().unwrap_or_default());
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_row(row: SessionRow, engine: Option<EngineRow>) -> Session {
    from_continuation(row, engine.map(Kept::read).unwrap_or_default())
}

/// A session that goes on with what another one's engine remembers.
pub(crate) fn from_continuation(row: SessionRow, kept: Kept) -> Session {
    let snapshot = wire_snapshot(row.snapshot);
    let settings = row.settings.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    Session::new(row.id, row.profile, snapshot, settings, row.generation, kept)
}

fn wire_snapshot(row: SnapshotRow) -> Snapshot {
    Snapshot {
        memory: row.memory,
        user: row.user,
        sha256: row.sha256,
        revision: Revisions { memory: row.memory_revision, user: row.user_revision },
    }
}
