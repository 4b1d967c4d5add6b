//! Tells the other hosts of the sessions of this one, and asks for theirs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use herma_archive::handover::{Held, Name, Parts, Unsent, names_in};
use herma_shared::Database;
use herma_shared::sessions::{LEASE, SharedSession};
use tokio::time::{sleep, timeout};

use super::{Sharing, late, within};
use crate::data::error::{Error, Outcome};
use crate::owners::archive::ArchiveHandle;

/// Sessions that are told at one time.
const MOST: usize = 16;

/// When a question without an answer is asked again.
const AGAIN: Duration = Duration::from_secs(10);

/// How long somebody who closes a session waits until the others know, and how often it is looked.
const CLOSING: Duration = Duration::from_millis(500);
const STEP: Duration = Duration::from_millis(5);

/// How long somebody who opens a session waits for the database at most.
const SOON: Duration = Duration::from_secs(2);

impl Sharing {
    /// Whether sessions of a profile may go to other hosts, and come from there.
    pub(crate) fn hands_over(&self, profile: &str) -> bool {
        self.hands_over_any() && self.joined.has(profile)
    }

    /// The same of any profile. What is masked on the way is not the session that it was.
    pub(crate) fn hands_over_any(&self) -> bool {
        self.config.sessions && self.config.messages && !self.config.redact && matches!(self.database, Some(Ok(_)))
    }

    /// A session changed in a way that others may wait for.
    pub(crate) fn tell_soon(&self) {
        self.changed.notify_one();
    }

    /// Waits until the others know that a session was closed, as long as somebody waits for that: who opens it there next is to
    /// find it.
    pub(crate) async fn tell_closed(&self, archive: &ArchiveHandle, session: &str) {
        self.tell_soon();
        if !self.hands_over_any() || self.link.state().is_up != Some(true) {
            return;
        }
        let told = async {
            while archive.is_unsent(session.to_owned()).await.unwrap_or(false) {
                sleep(STEP).await;
            }
        };
        if timeout(CLOSING, told).await.is_err() {
            tracing::debug!("the other hosts don't know yet that session {session:?} was closed");
        }
    }

    /// Sessions that changed, as they are now: what they have of messages is to be brought before they are told.
    pub(super) async fn changed_sessions(
        &self,
        archive: &ArchiveHandle,
        profiles: &[String],
    ) -> Outcome<Vec<(Unsent, Option<Parts>)>> {
        let mut changed = Vec::new();
        if self.hands_over_any() {
            let failed = self.brought.failed_sessions();
            let unsent = archive.unsent(profiles.to_vec(), MOST + failed.len()).await?.into_iter();
            for Unsent { session, changes } in unsent.filter(|one| !failed.contains(&one.session)).take(MOST) {
                let parts = archive.session_parts(session.clone()).await?;
                let changes = parts.as_ref().map_or(changes, |parts| parts.changes);
                changed.push((Unsent { session, changes }, parts));
            }
        }
        Ok(changed)
    }

    /// Tells of these sessions; true when there may be more of them. One that can't be told does not keep others from being told.
    pub(super) async fn tell(
        &self,
        database: &Database,
        archive: &ArchiveHandle,
        changed: Vec<(Unsent, Option<Parts>)>,
    ) -> Outcome<bool> {
        let (identity, through) = archive.shipped().await.map(|shipped| (shipped.identity, shipped.through))?;
        let (count, mut told, mut trouble) = (changed.len(), 0, None);
        for (unsent, parts) in changed {
            let Some(parts) = parts else {
                archive.note_told(unsent).await?;
                told += 1;
                continue;
            };
            if parts.newest > through {
                continue;
            }
            match database.tell_session(identity, &parts).await {
                Ok(true) => {
                    archive.note_told(unsent).await?;
                    told += 1;
                }
                Ok(false) => self.note_taken(database, archive, identity, parts.held).await?,
                Err(error) => {
                    let is_passing = error.is_passing();
                    self.brought.note_failed_session(unsent.session, &error);
                    trouble = Some(error);
                    if is_passing {
                        break;
                    }
                }
            }
        }
        self.brought.note_sessions(trouble);
        Ok(count == MOST && told == MOST)
    }

    /// Another host took a session that this one had.
    async fn note_taken(&self, database: &Database, archive: &ArchiveHandle, identity: u32, held: Held) -> Outcome<()> {
        let lost = database.lost_sessions(identity, &[held]).await.map_err(Error::Shared)?;
        for SharedSession { session, host, term, .. } in lost {
            archive.note_holder(session, Some(host), term).await?;
        }
        Ok(())
    }

    /// The sessions of an id on all hosts.
    pub(crate) async fn sessions_of(&self, profile: &str, session: &str) -> Outcome<Vec<SharedSession>> {
        let database = self.ready_database()?;
        if self.slow().is_some_and(|since| since.elapsed() < AGAIN) {
            return Err(Error::Unread(late(SOON)));
        }
        let asked = timeout(SOON, database.sessions_of(profile, session)).await;
        *self.slow() = asked.is_err().then(Instant::now);
        asked.unwrap_or_else(|_| Err(late(SOON))).map_err(Error::Unread)
    }

    /// When a question about a session had no answer in time, last.
    fn slow(&self) -> MutexGuard<'_, Option<Instant>> {
        self.slow_since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells what changed last, and lets the sessions go that the others know: the daemon stops, and any host may go on with them.
    pub(crate) async fn let_go(&self, archive: &ArchiveHandle) -> Outcome<()> {
        if !self.hands_over_any() || self.link.state().is_up != Some(true) {
            return Ok(());
        }
        let going = async {
            let database = self.database()?;
            self.bring_once(database, archive).await?;
            let mut held = archive.held_in_use(self.joined.profiles(), 0.0).await?;
            held.retain(|held| !held.has_strays);
            let identity = archive.shipped().await?.identity;
            database.renew_sessions(identity, &held, Duration::ZERO, false).await.map_err(Error::Shared)
        };
        timeout(SOON, going).await.unwrap_or_else(|_| Err(Error::Shared(late(SOON))))
    }

    /// Keeps a session with this host that somebody takes up again.
    pub(crate) async fn hold_session(&self, archive: u32, held: &Held) -> Outcome<()> {
        let database = self.ready_database()?;
        let holding = Box::pin(database.renew_sessions(archive, std::slice::from_ref(held), LEASE, true));
        within(SOON, holding).await.map_err(Error::Shared)
    }

    /// Keeps sessions with this host; those that others took meanwhile.
    pub(crate) async fn keep_sessions(&self, archive: u32, held: &[Held], renew: bool) -> Outcome<Vec<SharedSession>> {
        let database = self.ready_database()?;
        if renew {
            database.renew_sessions(archive, held, LEASE, false).await.map_err(Error::Shared)?;
        }
        database.lost_sessions(archive, held).await.map_err(Error::Unread)
    }

    /// Takes a session that no other host has any more, as it was read; `None` where it is another one by now, or one has it again.
    pub(crate) async fn take(
        &self,
        archive: u32,
        of: &SharedSession,
        parts: &BTreeMap<String, String>,
    ) -> Outcome<Option<SharedSession>> {
        self.ready_database()?.take_session(archive, of, parts).await.map_err(Error::Unread)
    }

    /// A session as its host told it, and the texts of those of its messages that are not known here.
    pub(crate) async fn read_session(&self, of: &SharedSession, known: &HashSet<Name>) -> Outcome<ToldSession> {
        let database = self.ready_database()?;
        let parts = database.session_parts(of).await.map_err(Error::Unread)?;
        let mut wanted = names_in(&parts).unwrap_or_default();
        wanted.retain(|(name, _)| !known.contains(name));
        let texts = database.session_texts(of, &wanted).await.map_err(Error::Unread)?;
        Ok((parts, texts))
    }

    /// What this host is called.
    pub(crate) fn host(&self) -> &str {
        &self.config.host
    }

    /// Whether a session in the database is with an archive of this host.
    pub(crate) fn is_own(&self, archive: u32, session: &SharedSession) -> bool {
        session.archive == archive && session.host == self.config.host
    }

    /// Takes the sessions of profiles from the database that don't go to other hosts any more.
    pub(crate) async fn tell_less(&self, archive: &ArchiveHandle) -> Outcome<()> {
        for profile in archive.told_profiles().await? {
            if !self.hands_over(&profile) {
                let identity = archive.shipped().await?.identity;
                let database = self.ready_database()?;
                database.forget_sessions(identity, &profile).await.map_err(Error::Shared)?;
                archive.untell(profile).await?;
            }
        }
        Ok(())
    }
}

/// The parts of a session, and the texts of its messages.
pub(crate) type ToldSession = (BTreeMap<String, String>, HashMap<Name, String>);
