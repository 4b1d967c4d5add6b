//! Sessions that move between hosts: this host takes over a session of another one, or gives up one that another took.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use herma_archive::handover::{Held, Takeover};
use herma_protocol::limits;
use herma_shared::sessions::{LEASE, SharedSession};
use tokio::sync::{Mutex, MutexGuard};

use super::SessionService;
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::owners::archive::KeptSession;
use crate::owners::sharing::PublishedSession;
use crate::service::session::Session;

/// The number of seconds after which an open but unused session may be taken over by another host.
const IDLE_S: u64 = 3_600;

/// How often this host renews its claim on sessions in use for another [`LEASE`].
const RENEW: Duration = Duration::from_secs(20);

/// How often a session that changes while it is taken over is read again.
const TRIES: usize = 3;

/// The pause after a session could not be given up.
const AGAIN: Duration = Duration::from_mins(1);

/// How long sessions are given up before those in use are examined again.
const TURN: Duration = Duration::from_secs(5);

/// The largest number of ancestors that move with a session.
const ANCESTORS: usize = 64;

/// The number of chars of an id that are reserved for the mark of a fork.
const MARK_CHARS: usize = 128;

/// The purpose for which a session is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionAccess {
    /// To open it: it may come from another host.
    Open,
    /// To use it on this host.
    Use,
}

/// Locks for finding or moving a session, so that each session is handled by one request at a time.
#[derive(Debug)]
pub(crate) struct Turns([Mutex<()>; 64]);

impl Default for Turns {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Turns {
    pub(super) async fn of(&self, session: &str) -> MutexGuard<'_, ()> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(session);
        self.0[usize::from(hash.to_ne_bytes()[0]) % self.0.len()].lock().await
    }
}

impl SessionService {
    /// Makes sure that this host may continue a session that it has. The caller holds the session's turn, and the
    /// sessions of the profile can move. Returns the session, and the host from which it came if another one had it
    /// meanwhile. If the database can't be asked, the session is used as it is.
    pub(super) async fn claim(
        &self,
        kept: KeptSession,
        wants: SessionAccess,
    ) -> Outcome<(KeptSession, Option<String>)> {
        let (id, profile) = (&kept.0.id, &kept.0.profile);
        let Some(held) = self.archive.held(id.clone()).await? else { return Ok((kept, None)) };
        let there = match (self.sharing.sessions_of(profile, id).await, &held.holder) {
            (Ok(there), _) => there.into_iter().find(|there| there.birth == held.birth),
            (Err(_), None) => return Ok((kept, None)),
            (Err(error), Some(host)) => {
                return Err(Error::Unavailable(format!("{}, which can't be asked: {error}", on(id, host))));
            }
        };
        let identity = self.archive.shipped().await?.identity;
        match (there, &held.holder) {
            // The answer of the last takeover was lost.
            (Some(there), holder)
                if self.sharing.is_own(identity, &there) && (there.term > held.term || holder.is_some()) =>
            {
                self.take_up(there).await.map(|kept| (kept, None))
            }
            (Some(there), _) if !self.sharing.is_own(identity, &there) && there.term >= held.term => {
                if wants == SessionAccess::Open {
                    let host = there.host.clone();
                    return self.take_up(there).await.map(|kept| (kept, Some(host)));
                }
                self.archive.note_holder(id.clone(), Some(there.host.clone()), there.term).await?;
                Err(remote(id, &there.host))
            }
            // The database was restored from a backup, or that host removed the session.
            (_, Some(host)) => Err(Error::Conflict(format!(
                "{}, and the database does not know of that (any more): wait for that host, or remove what is left of \
                 the session here by session.remove to begin anew",
                on(id, host)
            ))),
            (there, None) => {
                if there.is_some()
                    && let Err(error) = self.sharing.hold_session(identity, &held).await
                {
                    tracing::debug!("another host may take session {id:?}, which is in use: {error}");
                }
                Ok((kept, None))
            }
        }
    }

    /// Moves a session here that is unknown on this host and was released by another one. Returns it with that host;
    /// `None` if no host had it, or none can be asked.
    pub(super) async fn arrive(&self, profile: &str, id: &str) -> Outcome<Option<(KeptSession, String)>> {
        if !self.archive.is_in_use() {
            return Ok(None);
        }
        let _turn = self.turns.of(id).await;
        if self.archive.session(id.to_owned()).await?.is_some() {
            return Ok(None);
        }
        let there = match self.sharing.sessions_of(profile, id).await {
            Ok(there) => there,
            Err(error) => {
                tracing::warn!(
                    "whether another host has session {id:?} can't be asked, so it starts from scratch: {error}"
                );
                return Ok(None);
            }
        };
        let identity = self.archive.shipped().await?.identity;
        let own = there.iter().position(|there| self.sharing.is_own(identity, there));
        let Some(there) = there.into_iter().nth(own.unwrap_or(0)) else { return Ok(None) };
        let host = there.host.clone();
        self.take_up(there).await.map(|kept| Some((kept, host)))
    }

    /// Takes over a session where another host left it, together with its ancestors.
    async fn take_up(&self, there: SharedSession) -> Outcome<KeptSession> {
        let kept = self.take_one(there).await?;
        let mut parent = kept.0.parent.clone();
        for _ in 0..ANCESTORS {
            let Some(id) = parent.take() else { break };
            match self.take_ancestor(&kept.0.profile, &id).await {
                Ok(next) => parent = next,
                Err(error) => {
                    tracing::warn!(
                        "session {id:?} stays on its host, though one that goes on for it came here: {error}"
                    );
                }
            }
        }
        Ok(kept)
    }

    /// Takes over an ancestor, unless it is here or in use. Returns its own parent.
    async fn take_ancestor(&self, profile: &str, id: &str) -> Outcome<Option<String>> {
        if self.archive.session(id.to_owned()).await?.is_some() {
            return Ok(None);
        }
        let there = self.sharing.sessions_of(profile, id).await?;
        match there.into_iter().find(|one| one.lease_s <= 0.0) {
            Some(free) => Ok(self.take_one(free).await?.0.parent),
            None => Ok(None),
        }
    }

    /// Reads a session, checks whether it can be stored here, and only then takes it over.
    async fn take_one(&self, mut there: SharedSession) -> Outcome<KeptSession> {
        let (id, host) = (there.session.clone(), there.host.clone());
        let identity = self.archive.shipped().await?.identity;
        for _ in 0..TRIES {
            self.check_free(identity, &there)?;
            let known = self.archive.session_names(id.clone()).await?;
            let told = self.sharing.read_session(&there, &known).await?;
            let taking = Arc::new(self.taking(&there, told, there.term + 1, None));
            self.archive.try_session(Arc::clone(&taking)).await?;
            if self.sharing.take(identity, &there, &taking.parts).await?.is_some() {
                self.keep(taking, &host).await?;
                tracing::info!("session {id:?} came from host {host:?}");
                let kept = self.archive.session(id.clone()).await?;
                return kept.ok_or_else(|| Error::NotFound(format!("session {id:?} was removed while it came")));
            }
            let again = self.sharing.sessions_of(&there.profile, &id).await?;
            let Some(again) = again.into_iter().find(|again| again.birth == there.birth) else { break };
            there = again;
        }
        Err(Error::Conflict(format!("session {id:?} changes on another host at this moment; try again")))
    }

    fn check_free(&self, identity: u32, there: &SharedSession) -> Outcome<()> {
        if there.lease_s <= 0.0 || self.sharing.is_own(identity, there) {
            return Ok(());
        }
        Err(Error::Conflict(format!(
            "session {:?} is in use on host {:?}: close it there, or try again when that was not heard of for {} s ({} s from \
             now at the earliest)",
            there.session,
            there.host,
            LEASE.as_secs(),
            there.lease_s.ceil(),
        )))
    }

    fn taking(&self, there: &SharedSession, told: PublishedSession, term: u64, holder: Option<String>) -> Takeover {
        let (parts, texts) = told;
        Takeover {
            fork: fork_name(&there.session, self.sharing.host(), term),
            session: there.session.clone(),
            profile: there.profile.clone(),
            birth: there.birth.clone(),
            term,
            holder,
            version: there.version,
            parts,
            texts,
        }
    }

    /// Stores a session as its host published it. Messages that only this host has go to a fork.
    async fn keep(&self, taking: Arc<Takeover>, host: &str) -> Outcome<()> {
        let id = taking.session.clone();
        if let Some(fork) = self.archive.take_session(taking).await?.fork {
            tracing::warn!(
                "session {id:?} went on on host {host:?}; what was said here that it did not know of is in session {fork:?}"
            );
        }
        Ok(())
    }

    /// Renews this host's claims on sessions in use, and gives up those that others took over, as long as the daemon
    /// runs.
    pub(crate) async fn keep_handing_over(self: Arc<Self>) {
        if !self.sharing.is_configured() {
            return;
        }
        let (mut renewed, mut failed, mut told): (Option<Instant>, _, _) = (None, HashMap::new(), None);
        loop {
            tokio::time::sleep(self.sharing.config().poll).await;
            if self.sharing.link().is_up != Some(true) {
                continue;
            }
            let is_due = renewed.is_none_or(|renewed| renewed.elapsed() >= RENEW);
            let looked = async {
                let profiles = Some(self.sharing.joined_profiles());
                if told != profiles {
                    self.sharing.unpublish_left(&self.archive).await?;
                    told = profiles;
                }
                if self.sharing.hands_over_any() {
                    self.look(is_due).await?;
                    self.leave_all(&mut failed).await?;
                }
                Ok::<(), Error>(())
            };
            match looked.await {
                Ok(()) if is_due => renewed = Some(Instant::now()),
                Ok(()) => {}
                Err(error) => tracing::debug!("which host has which session is not known: {error}"),
            }
        }
    }

    /// Renews the claims on the sessions in use, and notes which of them other hosts took over.
    async fn look(&self, renew: bool) -> Outcome<()> {
        #[expect(clippy::cast_precision_loss, reason = "an hour")]
        let since = unix_now() - IDLE_S as f64;
        let held = self.archive.held_in_use(self.sharing.joined_profiles(), since).await?;
        if !held.is_empty() {
            let identity = self.archive.shipped().await?.identity;
            for SharedSession { session, host, term, .. } in self.sharing.keep_sessions(identity, &held, renew).await? {
                self.archive.note_holder(session, Some(host), term).await?;
            }
        }
        for session in self.table.all() {
            if session.is_idle(unix_now(), IDLE_S) && Arc::strong_count(&session) <= 2 {
                self.table.forget(&session.id);
            }
        }
        Ok(())
    }

    /// Gives up sessions that other hosts hold. Messages that they don't know go to forks. `failed` contains the
    /// sessions for which that failed, with the time.
    async fn leave_all(&self, failed: &mut HashMap<String, Instant>) -> Outcome<()> {
        let remote = self.archive.remote().await?;
        for (session, host) in remote.iter().filter_map(|held| Some((&held.session, held.holder.as_ref()?))) {
            if let Some(session) = self.table.get(session) {
                self.leave(&session, host).await?;
            }
        }
        let begun = Instant::now();
        failed.retain(|_, at| at.elapsed() < AGAIN);
        for held in remote.into_iter().filter(|held| held.has_strays || self.is_here(held)) {
            if begun.elapsed() > TURN {
                break;
            }
            let is_used = self.table.get(&held.session).is_some();
            if is_used || failed.contains_key(&held.session) {
                continue;
            }
            let id = held.session.clone();
            if let Err(error) = self.part(held).await {
                if self.sharing.link().is_up != Some(true) {
                    return Err(error);
                }
                tracing::warn!(
                    "what was said in session {id:?} before another host took it stays in it for now: {error}"
                );
                failed.insert(id, Instant::now());
            }
        }
        Ok(())
    }

    /// Gives up a session that another host holds, so that no new use begins here. It stays in memory while it is being
    /// compressed.
    async fn leave(&self, session: &Session, host: &str) -> Outcome<()> {
        let _turn = self.turns.of(&session.id).await;
        let held = self.archive.held(session.id.clone()).await?;
        if held.is_none_or(|held| held.holder.as_deref() != Some(host)) {
            return Ok(());
        }
        session.note_taken(host);
        if let Some(_quiet) = session.begin_compressing() {
            tracing::warn!("session {:?} goes on on host {host:?}", session.id);
            self.table.forget(&session.id);
            self.compression.forget(&session.id);
        }
        Ok(())
    }

    /// Whether this host has a session in a term of which it did not know, because the answer of its takeover was lost.
    fn is_here(&self, held: &Held) -> bool {
        held.holder.as_deref() == Some(self.sharing.host())
    }

    /// Moves the messages that the published session does not have to a fork.
    async fn part(&self, held: Held) -> Outcome<()> {
        let _turn = self.turns.of(&held.session).await;
        let now = self.archive.held(held.session.clone()).await?;
        let Some(now) = now.filter(|now| now.holder.is_some()) else { return Ok(()) };
        let is_here = self.is_here(&now);
        if !now.has_strays && !is_here {
            return Ok(());
        }
        let there = self.sharing.sessions_of(&held.profile, &held.session).await?;
        let Some(there) = there.into_iter().find(|there| there.birth == held.birth && there.term >= held.term) else {
            return Ok(());
        };
        let known = self.archive.session_names(held.session).await?;
        let told = self.sharing.read_session(&there, &known).await?;
        let host = there.host.clone();
        let holder = (!is_here).then(|| host.clone());
        self.keep(Arc::new(self.taking(&there, told, there.term, holder)), &host).await
    }
}

/// Refuses a session that another host took over while it was in memory.
pub(super) fn check_here(session: &Session) -> Outcome<()> {
    match session.taken_by() {
        Some(host) => Err(remote(&session.id, host)),
        None => Ok(()),
    }
}

fn remote(id: &str, host: &str) -> Error {
    Error::Conflict(format!("{}; session.open brings it here once it is free", on(id, host)))
}

fn on(id: &str, host: &str) -> String {
    format!("session {id:?} goes on on host {host:?}")
}

/// Returns the name of the fork with the messages that only this host has.
fn fork_name(id: &str, host: &str, term: u64) -> String {
    let id: String = id.chars().take(limits::NAME - MARK_CHARS).collect();
    format!("{id}-on-{host}-{term}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_parts_has_a_name_that_may_be_one() {
        assert_eq!(fork_name("s", "attic", 3), "s-on-attic-3");
        let long = fork_name(&"é".repeat(limits::NAME), &"h".repeat(64), u64::MAX);
        assert!(long.chars().count() <= limits::NAME);
    }
}
