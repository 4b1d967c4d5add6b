//! Sessions: opening, snapshots, settings, transcripts and closing.

mod handover;
mod import;
mod lineage;
mod removal;
mod transcript;
mod windows;

use std::sync::Arc;

use herma_archive::handover::MOVED;
use herma_archive::session::{SessionNames, SessionRow};
use herma_context::Capture;

pub(crate) use self::handover::Turns;
use self::handover::{SessionAccess, check_here};
pub(crate) use self::import::{ImportedMessages, ImportedPart, Importing};
use super::caller::Caller;
use super::compression::CompressionService;
use super::session::{Session, SessionTable, check_profile};
use super::settings::SessionSettings;
use super::snapshot::{Frozen, freeze, is_genuine};
use super::spilled_outputs::SpilledOutputs;
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::data::event::{Event, SessionChange, SessionState};
use crate::data::names;
use crate::data::profiles::{DEFAULT_PROFILE, Profiles};
use crate::owners::archive::ArchiveHandle;
use crate::owners::events::Events;
use crate::owners::sharing::Sharing;
use crate::owners::stores::Stores;

/// The end reason of a session that was open when the daemon was killed.
const CRASH: &str = "crash";

/// The end reason of a closed session, if the client gave none.
const CLOSED: &str = "closed";

/// The sessions of a home.
#[derive(Debug)]
pub(crate) struct SessionService {
    /// What is kept of messages and outputs that are read from the files of other programs.
    pub capture: Capture,
    pub table: Arc<SessionTable>,
    pub archive: Arc<ArchiveHandle>,
    pub stores: Arc<Stores>,
    pub profiles: Profiles,
    pub compression: Arc<CompressionService>,
    pub outputs: Arc<SpilledOutputs>,
    pub events: Events,
    pub sharing: Arc<Sharing>,
    pub turns: Turns,
}

/// An opened session.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The session.
    pub session: Arc<Session>,
    /// Whether it existed before.
    pub resumed: bool,
    /// The host from which it moved here, if another one had it.
    pub moved_from: Option<String>,
}

/// The parameters for opening a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Opening {
    /// The session's id.
    pub session: String,
    /// The name of the agent.
    pub agent: Option<String>,
    /// The session that it continues or branches from.
    pub parent: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// The model that the agent uses.
    pub model: Option<String>,
    /// The model's window in tokens, at least 1.
    pub context_length: Option<u64>,
    /// The folder that the agent works in.
    pub cwd: Option<String>,
    /// The branch of the folder's repository.
    pub branch: Option<String>,
    /// Whether its messages stay on this host. Once set, this remains.
    pub is_host_bound: bool,
    /// Whether its messages and outputs are read from the files of another program. Once set, this remains.
    pub is_captured: bool,
}

impl SessionService {
    /// Opens a session.
    pub(crate) async fn open(&self, caller: &Caller, opening: Opening) -> Outcome<Opened> {
        check_names(&opening)?;
        let (named, said) = self.known_of(opening.clone(), opening.is_captured);
        let opening = Opening { title: named.title.clone(), ..opening };
        let given = named.clone();
        let is_host_bound = opening.is_host_bound;
        let Opened { session, resumed, moved_from } =
            match self.find(caller, &opening.session, SessionAccess::Open).await? {
                Some(found) => {
                    self.archive.reopen_session(found.session.id.clone()).await?;
                    found
                }
                None => {
                    if caller.profile() != DEFAULT_PROFILE {
                        self.profiles.create(caller.profile())?;
                    }
                    self.create(caller, opening, SessionAccess::Open).await?
                }
            };
        let configuring = session.configuring.lock().await;
        if resumed {
            self.archive.name_session(session.id.clone(), named).await?;
            if said.clone().over(session.settings()) != session.settings() {
                self.say(&session, said).await?;
            }
        }
        if resumed && is_host_bound && session.settings().host_bound != Some(true) {
            self.say(&session, SessionSettings { host_bound: Some(true), ..SessionSettings::default() }).await?;
            self.archive.mark_for_removal(session.id.clone()).await?;
        }
        drop(configuring);
        self.publish(&session, if resumed { SessionState::Resumed } else { SessionState::Opened }, given);
        Ok(Opened { session, resumed, moved_from })
    }

    fn publish(&self, session: &Session, state: SessionState, names: SessionNames) {
        let change = SessionChange { session: session.id.clone(), profile: session.profile.clone(), state, names };
        self.events.publish(Event::SessionChanged(Arc::new(change)));
    }

    /// Stores what is known of a session, which must have been opened or imported. A closed one stays closed.
    pub(crate) async fn update(&self, caller: &Caller, update: Opening) -> Outcome<()> {
        check_names(&update)?;
        let session = self.opened(caller, &update.session).await?;
        let _alone = session.configuring.lock().await;
        let is_captured = session.settings().captured == Some(true);
        let (named, said) = self.known_of(update, is_captured);
        self.archive.name_session(session.id.clone(), named.clone()).await?;
        if said.clone().over(session.settings()) != session.settings() {
            self.say(&session, said).await?;
        }
        self.publish(&session, SessionState::Updated, named);
        Ok(())
    }

    /// Returns the names and settings of a session that a request gives.
    fn known_of(&self, opening: Opening, is_captured: bool) -> (SessionNames, SessionSettings) {
        let Opening { title, agent, cwd, branch, model, context_length, .. } = opening;
        let title = title.map(|title| if is_captured { self.capture.text(&title).into_owned() } else { title });
        let captured = is_captured.then_some(true);
        let said = SessionSettings { model, context_length, captured, ..SessionSettings::default() };
        (SessionNames { title, agent, cwd, branch }, said)
    }

    /// Returns what is kept of a session's messages and outputs; `None` if they are kept as they are.
    pub(crate) fn capture_of(&self, session: &Session) -> Option<Capture> {
        (session.settings().captured == Some(true)).then_some(self.capture)
    }

    /// Adds settings to those of a session, whose `configuring` lock the caller holds. Returns the earlier settings.
    async fn say(&self, session: &Session, said: SessionSettings) -> Outcome<SessionSettings> {
        let before = session.settings();
        let after = self.settled(&before, said).await?;
        self.save_settings(session, after).await?;
        Ok(before)
    }

    /// Returns the settings after more were added. If they name no window, and the session has none or gets another
    /// model or endpoint, the window that a provider reported is used.
    pub(crate) async fn settled(&self, before: &SessionSettings, said: SessionSettings) -> Outcome<SessionSettings> {
        let named = said.context_length;
        self.with_window(before, named, said.over(before.clone())).await
    }

    /// Stores the settings of a session, in memory and in the archive.
    pub(crate) async fn save_settings(&self, session: &Session, settings: SessionSettings) -> Outcome<()> {
        self.archive.save_settings(session.id.clone(), settings.text()).await?;
        session.set_settings(settings);
        Ok(())
    }

    /// Takes new snapshots of both stores, for a client whose prompt cache is lost anyway.
    pub(crate) async fn refresh(&self, caller: &Caller, id: &str) -> Outcome<Arc<Frozen>> {
        let session = self.opened(caller, id).await?;
        let _alone = session.configuring.lock().await;
        let snapshot = freeze(&self.stores, &session.profile).await?;
        if self.archive.is_in_use() {
            // The snapshot is stored in both places or in none, even if the caller no longer waits.
            let shared = Arc::clone(&session);
            let then = move |snapshot| shared.set_snapshot(snapshot);
            self.archive.save_snapshot(session.id.clone(), snapshot, then).await?;
        } else {
            session.set_snapshot(snapshot);
        }
        Ok(session.snapshot())
    }

    /// Closes a session.
    pub(crate) async fn close(&self, caller: &Caller, id: &str, reason: Option<String>) -> Outcome<()> {
        names::check_all(&[("reason", reason.as_ref())])?;
        let session = self.opened(caller, id).await?;
        let _quiet = session
            .begin_compressing()
            .ok_or_else(|| Error::Busy(format!("session {:?} is being compressed; close it afterwards", session.id)))?;
        let _alone = session.configuring.lock().await;
        let reason = reason.unwrap_or_else(|| CLOSED.into());
        // The session is closed in both places or in none, even if the caller no longer waits.
        let (table, id) = (Arc::clone(&self.table), session.id.clone());
        self.archive.close_session(session.id.clone(), reason, move || table.forget(&id)).await?;
        self.table.forget(&session.id);
        self.compression.forget(&session.id);
        self.publish(&session, SessionState::Closed, SessionNames::default());
        if self.sharing.hands_over(&session.profile) && session.settings().host_bound != Some(true) {
            Box::pin(self.sharing.tell_closed(&self.archive, &session.id)).await;
        }
        Ok(())
    }

    /// Returns a session, which must have been opened.
    pub(crate) async fn opened(&self, caller: &Caller, id: &str) -> Outcome<Arc<Session>> {
        check_id(id)?;
        self.find(caller, id, SessionAccess::Use)
            .await?
            .map(|found| found.session)
            .ok_or_else(|| Error::NotFound(format!("there is no session {id:?}; open it with session.open first")))
    }

    /// Returns a session for inspection. This does not count as use, so nothing is noted, and the session is not loaded
    /// into memory.
    pub(crate) async fn inspected(&self, caller: &Caller, id: &str) -> Outcome<Arc<Session>> {
        check_id(id)?;
        if let Some(found) = self.inspected_in_memory(caller, id) {
            return found;
        }
        let kept = self.archive.session(id.to_owned()).await?.ok_or_else(|| no_session(id))?;
        check_profile(id, &kept.0.profile, caller.profile.as_deref())?;
        Ok(Arc::new(Session::kept(kept)))
    }

    /// Like `inspected`, without reading the archive; `None` if the session is not in memory.
    pub(crate) fn inspected_in_memory(&self, caller: &Caller, id: &str) -> Option<Outcome<Arc<Session>>> {
        let session = self.table.get(id)?;
        let checked = session.check_profile(caller.profile.as_deref()).and_then(|()| check_here(&session));
        Some(checked.map(|()| session))
    }

    /// Returns the snapshot of a session that was opened.
    pub(crate) async fn snapshot(&self, caller: &Caller, id: &str) -> Outcome<Arc<Frozen>> {
        let session = self.inspected(caller, id).await?;
        let frozen = session.snapshot();
        if frozen.blocks.sha256.is_empty() {
            return Err(Error::NotFound(format!(
                "session {id:?} was imported and never opened: nothing is frozen for it"
            )));
        }
        if is_genuine(&frozen.blocks, self.stores.policy()) {
            return Ok(frozen);
        }
        Ok(Arc::new(Frozen::new(freeze(&self.stores, &session.profile).await?)))
    }

    /// Checks that a session exists and belongs to the caller's profile, and returns its id. Does not open it.
    pub(crate) async fn known(&self, caller: &Caller, id: &str) -> Outcome<String> {
        check_id(id)?;
        let profile = match self.table.get(id) {
            Some(session) => session.profile.clone(),
            None => self.archive.session(id.to_owned()).await?.ok_or_else(|| no_session(id))?.0.profile,
        };
        check_profile(id, &profile, caller.profile.as_deref())?;
        Ok(id.to_owned())
    }

    /// Returns a session, and opens it if it does not exist.
    pub(crate) async fn ensure(&self, caller: &Caller, id: &str) -> Outcome<Arc<Session>> {
        check_id(id)?;
        match self.find(caller, id, SessionAccess::Use).await? {
            Some(found) => Ok(found.session),
            None => {
                let opening = Opening { session: id.to_owned(), ..Opening::default() };
                let Opened { session, resumed, .. } = self.create(caller, opening, SessionAccess::Use).await?;
                if !resumed {
                    self.publish(&session, SessionState::Opened, SessionNames::default());
                }
                Ok(session)
            }
        }
    }

    /// Returns a known session. If it was reclaimed from another host, also returns that host.
    async fn find(&self, caller: &Caller, id: &str, wants: SessionAccess) -> Outcome<Option<Opened>> {
        let found = |session, moved_from| {
            self.used(caller, session).map(|session| Some(Opened { session, resumed: true, moved_from }))
        };
        let is_wanted = |session: &Arc<Session>| wants == SessionAccess::Use || session.taken_by().is_none();
        if let Some(session) = self.table.get(id).filter(is_wanted) {
            return found(session, None);
        }
        let _turn = self.turns.of(id).await;
        // Another request may have loaded it.
        if let Some(session) = self.table.get(id).filter(is_wanted) {
            return found(session, None);
        }
        let Some(kept) = self.archive.session(id.to_owned()).await? else { return Ok(None) };
        check_profile(id, &kept.0.profile, caller.profile.as_deref())?;
        // In a box, because otherwise each request would be as large as a move from another host needs.
        let (kept, moved_from) = if self.sharing.hands_over(&kept.0.profile) {
            Box::pin(self.claim(kept, wants)).await?
        } else {
            (kept, None)
        };
        self.table.forget(id);
        // Its agent did not notice that the daemon was killed, or that another host had the session for a while.
        if matches!(kept.0.end_reason.as_deref(), Some(CRASH | MOVED)) {
            self.archive.post_reopened(kept.0.id.clone());
        }
        let kept = (self.frozen(kept.0).await?, kept.1);
        let session = self.table.insert(Session::kept(kept));
        found(session, moved_from)
    }

    /// Gives a session a new snapshot if it has no genuine one. An imported session was never opened and has none. A
    /// snapshot is not genuine if another host, or a program that wrote into the archive, changed it.
    async fn frozen(&self, row: SessionRow) -> Outcome<SessionRow> {
        if is_genuine(&row.snapshot, self.stores.policy()) {
            return Ok(row);
        }
        if !row.snapshot.sha256.is_empty() {
            tracing::warn!("the snapshot of session {:?} is not what was frozen for it; it gets a new one", row.id);
        }
        let snapshot = freeze(&self.stores, &row.profile).await?;
        self.archive.save_snapshot(row.id.clone(), snapshot.clone(), drop).await?;
        Ok(SessionRow { snapshot, ..row })
    }

    /// Checks the session's profile, and notes its use.
    fn used(&self, caller: &Caller, session: Arc<Session>) -> Outcome<Arc<Session>> {
        session.check_profile(caller.profile.as_deref())?;
        check_here(&session)?;
        if session.is_touched(unix_now()) {
            self.archive.post_used(session.id.clone());
        }
        Ok(session)
    }

    /// Whether a new session stays on this host: by request, or because its parent does.
    async fn stays(&self, opening: &Opening) -> Outcome<bool> {
        let Some(parent) = opening.parent.as_ref().filter(|_| !opening.is_host_bound) else {
            return Ok(opening.is_host_bound);
        };
        let settings = match self.table.get(parent) {
            Some(parent) => Some(parent.settings()),
            None if !self.archive.is_in_use() => None,
            None => self
                .archive
                .session(parent.clone())
                .await?
                .and_then(|(row, _)| row.settings)
                .map(|text| SessionSettings::read(&text)),
        };
        Ok(settings.is_some_and(|settings| settings.host_bound == Some(true)))
    }

    /// Takes the snapshots and stores the session. If it is opened and another host released it, it moves here instead.
    /// If another connection was faster, the session existed before, and its snapshot counts. Without an archive the
    /// session lives only as long as the daemon.
    async fn create(&self, caller: &Caller, opening: Opening, wants: SessionAccess) -> Outcome<Opened> {
        let profile = caller.profile().to_owned();
        let came = match wants {
            SessionAccess::Open if !opening.is_host_bound && self.sharing.hands_over(&profile) => {
                Box::pin(self.arrive(&profile, &opening.session)).await?
            }
            _ => None,
        };
        if let Some((kept, host)) = came {
            self.archive.reopen_session(kept.0.id.clone()).await?;
            let session = self.table.insert(Session::kept((self.frozen(kept.0).await?, kept.1)));
            return Ok(Opened { session: self.used(caller, session)?, resumed: true, moved_from: Some(host) });
        }
        let snapshot = freeze(&self.stores, &profile).await?;
        let stays = self.stays(&opening).await?;
        let said = SessionSettings {
            model: opening.model,
            context_length: opening.context_length,
            host_bound: stays.then_some(true),
            captured: opening.is_captured.then_some(true),
            ..SessionSettings::default()
        };
        let settings = self.settled(&SessionSettings::default(), said).await?;
        let row = SessionRow {
            agent: opening.agent,
            parent: opening.parent,
            title: opening.title,
            cwd: opening.cwd,
            branch: opening.branch,
            settings: Some(settings.text()),
            snapshot,
            ..SessionRow::new(opening.session, profile, unix_now())
        };
        if !self.archive.is_in_use() {
            self.archive.check_readable()?;
            tracing::warn!("a session is only kept until the daemon ends: the archive is {}", self.archive.state());
            let session = self.table.insert(Session::kept((row, None)));
            return Ok(Opened { session, resumed: false, moved_from: None });
        }
        let (kept, existed) = self.archive.create_session(row).await?;
        // A client that opens it on another host must find it.
        self.sharing.wake_upload();
        let session = self.table.insert(Session::kept(kept));
        session.check_profile(caller.profile.as_deref())?;
        Ok(Opened { session, resumed: existed, moved_from: None })
    }
}

fn no_session(id: &str) -> Error {
    Error::NotFound(format!("there is no session {id:?}; session.list has those there are"))
}

fn check_names(opening: &Opening) -> Outcome<()> {
    check_id(&opening.session)?;
    names::check_all(&[
        ("agent", opening.agent.as_ref()),
        ("parent", opening.parent.as_ref()),
        ("title", opening.title.as_ref()),
        ("model", opening.model.as_ref()),
        ("branch", opening.branch.as_ref()),
    ])?;
    opening.cwd.as_ref().map_or(Ok(()), |cwd| names::check_path("cwd", cwd))?;
    if opening.context_length == Some(0) {
        return Err(Error::param("context_length", "must be at least 1"));
    }
    Ok(())
}

fn check_id(id: &str) -> Outcome<()> {
    if id.is_empty() {
        return Err(Error::param("session", "an id of 1 to 1,024 chars is needed"));
    }
    names::check("session", id)
}
