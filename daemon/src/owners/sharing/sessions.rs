//! Publishes the sessions of this host to other hosts, and reads theirs.

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

/// The number of sessions that are published in one step.
const MOST: usize = 16;

/// How long to wait before asking again after a timeout.
const AGAIN: Duration = Duration::from_secs(10);

/// How long closing a session waits until other hosts know, and the pause between two checks.
const CLOSING: Duration = Duration::from_millis(500);
const STEP: Duration = Duration::from_millis(5);

/// How long opening a session waits for the database.
const SOON: Duration = Duration::from_secs(2);

impl Sharing {
    /// Whether sessions of a profile may move to other hosts, and from them.
    pub(crate) fn hands_over(&self, profile: &str) -> bool {
        self.hands_over_any() && self.joined.has(profile)
    }

    /// Whether sessions of any profile may. A session whose texts are masked on upload would not be the same session.
    pub(crate) fn hands_over_any(&self) -> bool {
        self.config.sessions && self.config.messages && !self.config.redact && matches!(self.database, Some(Ok(_)))
    }

    /// Wakes the upload, because a session changed in a way for which others may wait.
    pub(crate) fn wake_upload(&self) {
        self.changed.notify_one();
    }

    /// Waits until other hosts know that a session was closed, up to a limit. A host that opens it next must find it.
    pub(crate) async fn tell_closed(&self, archive: &ArchiveHandle, session: &str) {
        self.wake_upload();
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

    /// Returns changed sessions in their current form. Their messages are uploaded before they are published.
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

    /// Publishes these sessions. Returns true if there may be more. A session that fails does not block the others.
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
                archive.note_published(unsent).await?;
                told += 1;
                continue;
            };
            if parts.newest > through {
                continue;
            }
            match database.publish_session(identity, &parts).await {
                Ok(true) => {
                    archive.note_published(unsent).await?;
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

    /// Notes that another host took over a session of this one.
    async fn note_taken(&self, database: &Database, archive: &ArchiveHandle, identity: u32, held: Held) -> Outcome<()> {
        let lost = database.lost_sessions(identity, &[held]).await.map_err(Error::Shared)?;
        for SharedSession { session, host, term, .. } in lost {
            archive.note_holder(session, Some(host), term).await?;
        }
        Ok(())
    }

    /// Returns the sessions with an id on all hosts.
    pub(crate) async fn sessions_of(&self, profile: &str, session: &str) -> Outcome<Vec<SharedSession>> {
        let database = self.ready_database()?;
        if self.slow().is_some_and(|since| since.elapsed() < AGAIN) {
            return Err(Error::SharedRead(late(SOON)));
        }
        let asked = timeout(SOON, database.sessions_of(profile, session)).await;
        *self.slow() = asked.is_err().then(Instant::now);
        asked.unwrap_or_else(|_| Err(late(SOON))).map_err(Error::SharedRead)
    }

    /// Returns when a question about a session last timed out.
    fn slow(&self) -> MutexGuard<'_, Option<Instant>> {
        self.slow_since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes the last changes and releases the published sessions. The daemon stops, and any host may continue
    /// them.
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

    /// Renews this host's claim on a session that a client resumes.
    pub(crate) async fn hold_session(&self, archive: u32, held: &Held) -> Outcome<()> {
        let database = self.ready_database()?;
        let holding = Box::pin(database.renew_sessions(archive, std::slice::from_ref(held), LEASE, true));
        within(SOON, holding).await.map_err(Error::Shared)
    }

    /// Renews the claims of this host on sessions, if `renew`. Returns those that other hosts took over meanwhile.
    pub(crate) async fn keep_sessions(&self, archive: u32, held: &[Held], renew: bool) -> Outcome<Vec<SharedSession>> {
        let database = self.ready_database()?;
        if renew {
            database.renew_sessions(archive, held, LEASE, false).await.map_err(Error::Shared)?;
        }
        database.lost_sessions(archive, held).await.map_err(Error::SharedRead)
    }

    /// Takes over a session that no host holds any more, as it was read; `None` if it has changed or is held again.
    pub(crate) async fn take(
        &self,
        archive: u32,
        of: &SharedSession,
        parts: &BTreeMap<String, String>,
    ) -> Outcome<Option<SharedSession>> {
        self.ready_database()?.take_session(archive, of, parts).await.map_err(Error::SharedRead)
    }

    /// Reads a session as its host published it, and the texts of its messages that are unknown here.
    pub(crate) async fn read_session(&self, of: &SharedSession, known: &HashSet<Name>) -> Outcome<PublishedSession> {
        let database = self.ready_database()?;
        let parts = database.session_parts(of).await.map_err(Error::SharedRead)?;
        let mut wanted = names_in(&parts).unwrap_or_default();
        wanted.retain(|(name, _)| !known.contains(name));
        let texts = database.session_texts(of, &wanted).await.map_err(Error::SharedRead)?;
        Ok((parts, texts))
    }

    /// Returns this host's name.
    pub(crate) fn host(&self) -> &str {
        &self.config.host
    }

    /// Whether a session in the database belongs to an archive of this host.
    pub(crate) fn is_own(&self, archive: u32, session: &SharedSession) -> bool {
        session.archive == archive && session.host == self.config.host
    }

    /// Removes from the database the sessions of profiles that no longer hand sessions over.
    pub(crate) async fn unpublish_left(&self, archive: &ArchiveHandle) -> Outcome<()> {
        for profile in archive.published_profiles().await? {
            if !self.hands_over(&profile) {
                let identity = archive.shipped().await?.identity;
                let database = self.ready_database()?;
                database.forget_sessions(identity, &profile).await.map_err(Error::Shared)?;
                archive.unpublish(profile).await?;
            }
        }
        Ok(())
    }
}

/// The parts of a session, and the texts of its messages.
pub(crate) type PublishedSession = (BTreeMap<String, String>, HashMap<Name, String>);
