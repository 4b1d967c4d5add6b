//! Uploads the messages of this host to the database, and mirrors removals of messages and sessions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use herma_archive::outbox::{Gone, OutboxMessage, Shipped, words_of};
use herma_context::Redaction;
use herma_shared::messages::NewMessage;
use herma_shared::{Database, SharedError};
use tokio::time::sleep;

use super::Sharing;
use crate::data::error::{Error, Outcome};
use crate::owners::archive::ArchiveHandle;
use crate::owners::blocking::blocking;

/// The size of a portion, in messages and bytes.
const MOST: usize = 1_000;
const BYTES: usize = 2 << 20;

/// The longest message that is uploaded, in bytes. For a longer one, the upload only contains a placeholder.
const LONGEST: usize = 8 << 20;

/// How often a single message is tried before it is skipped: after refusals, and after timeouts.
const REFUSALS: u32 = 3;
const DELAYS: u32 = 30;

/// How many sessions, and messages of a replaced archive, are removed in one step.
const GONE: usize = 100;
const REPLACED: usize = 1_000;

/// The pause after an upload, as a multiple of its duration. Long sessions that change all the time must not keep a
/// processor busy.
const REST: u32 = 4;
const LONG: Duration = Duration::from_secs(10);

/// The longest pause after an error.
const PAUSE: Duration = Duration::from_mins(1);

/// The size of one upload. It shrinks after a failure, so that one bad message does not block all others.
struct Portion {
    messages: usize,
    bytes: usize,
    refusals: u32,
    delays: u32,
}

impl Portion {
    const fn whole() -> Self {
        Self { messages: MOST, bytes: BYTES, refusals: 0, delays: 0 }
    }

    fn failed(&mut self, error: &SharedError) {
        let is_single = self.messages == 1;
        self.messages = (self.messages / 2).max(1);
        self.bytes = (self.bytes / 2).max(1);
        if error.is_passing() { self.delays += u32::from(is_single) } else { self.refusals += u32::from(is_single) }
    }

    fn succeeded(&mut self) {
        *self = Self {
            messages: (self.messages * 2).min(MOST),
            bytes: (self.bytes * 2).min(BYTES),
            refusals: 0,
            delays: 0,
        };
    }

    /// Whether the single message was tried often enough.
    const fn is_hopeless(&self) -> bool {
        self.messages == 1 && (self.refusals >= REFUSALS || self.delays >= DELAYS)
    }
}

/// Messages that are ready for upload.
struct Load {
    messages: Vec<NewMessage>,
    through: u64,
    /// Whether no messages follow them.
    is_last: bool,
}

/// The circumstances of the initial comparison. If they change, the comparison is repeated.
#[derive(Debug, PartialEq, Eq)]
struct UploadContext {
    identity: u32,
    profiles: Vec<String>,
    /// How often the database came back, and a profile joined.
    returns: (u64, u64),
}

impl Sharing {
    /// Uploads messages again and again, as long as the daemon runs, and applies removals to the database. Returns at
    /// once if nothing is shared.
    pub(crate) async fn upload_messages(self: Arc<Self>, archive: Arc<ArchiveHandle>) {
        let Some(Ok(database)) = self.database.clone() else { return };
        let (mut portion, mut looked, mut pause) = (Portion::whole(), None, self.config.poll);
        let mut busy = Duration::ZERO;
        loop {
            if self.link.state().is_up == Some(true) {
                let brought = async {
                    let profiles = self.joined.profiles();
                    let begun = Instant::now();
                    while self.config.messages && !profiles.is_empty() {
                        let changed = self.changed_sessions(&archive, &profiles).await?;
                        self.upload_all(&database, &archive, &mut portion, &mut looked).await?;
                        if !self.tell(&database, &archive, changed).await? {
                            break;
                        }
                    }
                    busy = begun.elapsed();
                    apply_removals(&database, &archive).await
                };
                pause = match brought.await {
                    Ok(()) => {
                        self.brought.note(None);
                        self.config.poll
                    }
                    // Others detect whether the database is unreachable: a large portion may just take long.
                    Err(Error::Shared(error)) => {
                        looked = None;
                        portion.failed(&error);
                        self.brought.note(Some(error));
                        if portion.messages > 1 { self.config.poll } else { (pause * 2).min(PAUSE) }
                    }
                    Err(error) => {
                        tracing::debug!("the archive can't be read for the shared database: {error}");
                        self.config.poll
                    }
                };
            }
            tokio::select! {
                () = sleep(pause.max(self.config.poll).max((busy * REST).min(LONG))) => {}
                () = self.changed.notified() => {}
            }
        }
    }

    /// Uploads all waiting messages and sessions once, for a caller that waits.
    pub(super) async fn bring_once(&self, database: &Database, archive: &ArchiveHandle) -> Outcome<()> {
        let changed = self.changed_sessions(archive, &self.joined.profiles()).await?;
        self.upload_all(database, archive, &mut Portion::whole(), &mut None).await?;
        self.tell(database, archive, changed).await.map(drop)
    }

    /// Uploads all waiting messages. While one portion is on its way, the next is prepared.
    async fn upload_all(
        &self,
        database: &Database,
        archive: &ArchiveHandle,
        portion: &mut Portion,
        looked: &mut Option<UploadContext>,
    ) -> Outcome<()> {
        let profiles = self.joined.profiles();
        let now = |identity| UploadContext { identity, profiles: profiles.clone(), returns: self.returned() };
        if looked.as_ref() != Some(&now(archive.shipped().await?.identity)) {
            archive.begin_shipping(profiles.clone()).await?;
            if self.hands_over_any() && archive.begin_handing().await? {
                // The sessions that now count as changed were not collected yet.
                self.wake_upload();
            }
            compare_with_database(database, archive).await?;
            let identity = archive.shipped().await?.identity;
            archive.mark_unpublished(database.own_sessions(identity).await.map_err(Error::Shared)?).await?;
            *looked = Some(now(archive.shipped().await?.identity));
        }
        let Shipped { identity, through, .. } = archive.shipped().await?;
        let mut brought = through;
        let mut load = self.load(archive, brought, &profiles, portion).await?;
        while load.through > brought {
            if let [(message, _)] = &load.messages[..]
                && portion.is_hopeless()
            {
                let number = message.id;
                tracing::error!("message msg_{number} can't be brought to the shared database and is passed over");
                load.messages.clear();
            }
            if let Some((newest, _)) = load.messages.last() {
                archive.note_sent(identity, newest.id).await?;
                if self.config.redact {
                    archive.note_masked(identity, newest.id).await?;
                }
            }
            let next = async {
                if load.is_last {
                    Ok(Load { messages: Vec::new(), through: load.through, is_last: true })
                } else {
                    self.load(archive, load.through, &profiles, portion).await
                }
            };
            let (kept, next) = tokio::join!(keep(database, identity, &load.messages), next);
            kept?;
            archive.note_shipped(identity, load.through).await?;
            (brought, load) = (load.through, next?);
            portion.succeeded();
            if self.joined.profiles() != profiles {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn load(
        &self,
        archive: &ArchiveHandle,
        behind: u64,
        profiles: &[String],
        portion: &Portion,
    ) -> Outcome<Load> {
        let redaction = if self.config.redact { Redaction::On } else { Redaction::Off };
        let outbox = archive.outbox(behind, profiles.to_vec(), portion.messages, portion.bytes).await?;
        let (through, is_last) = (outbox.through, outbox.is_all);
        let new = move || Ok(outbox.messages.into_iter().map(|message| new(message, redaction)).collect());
        Ok(Load { messages: blocking("the shared archive", new).await?, through, is_last })
    }
}

/// Applies removals on this host to the database, even if uploads have ended.
async fn apply_removals(database: &Database, archive: &ArchiveHandle) -> Outcome<()> {
    let (strays, gone) = (archive.strays().await?, archive.gone_sessions(GONE).await?);
    if strays.is_empty() && gone.is_empty() {
        return Ok(());
    }
    let identity = archive.shipped().await?.identity;
    if !strays.is_empty() {
        database.remove_each(identity, &strays).await.map_err(Error::Shared)?;
        archive.forget_strays(strays).await?;
    }
    let received = archive.received().await?;
    for Gone { session, below, birth, term } in &gone {
        if let (Some(birth), Some(term)) = (birth, term) {
            database.forget_session(identity, session, birth, *term).await.map_err(Error::Shared)?;
        }
        // A session that came back needs its uploaded messages.
        if !received.iter().any(|received| received.session == *session && received.archive == identity) {
            database.remove_messages(identity, session, *below).await.map_err(Error::Shared)?;
        }
    }
    archive.forget_gone(gone).await
}

async fn keep(database: &Database, identity: u32, messages: &[NewMessage]) -> Outcome<()> {
    if messages.is_empty() { Ok(()) } else { database.keep_messages(identity, messages).await.map_err(Error::Shared) }
}

/// Compares the database with the record of uploads. If the database has less, it was created again or restored from a
/// backup, and the rest is uploaded again. If it has more than this archive ever sent, this archive was restored from a
/// backup. Its ids would be given again, so it counts as another archive from then on. Messages that both have are
/// removed from the database, because they are uploaded again.
async fn compare_with_database(database: &Database, archive: &ArchiveHandle) -> Outcome<()> {
    let here = archive.shipped().await?;
    let there = database.shipped(here.identity).await.map_err(Error::Shared)?;
    if there < here.sent {
        return archive.upload_again_after(here.identity, there).await;
    }
    if there == here.sent {
        return Ok(());
    }
    tracing::warn!(
        "the archive is older than what was brought of it to the shared database: messages up to {there} are there, and \
         this one sent them up to {}; it is brought anew, and what is only there stays there",
        here.sent
    );
    // The database goes first: after a kill in between, the next start finds the same state.
    let below = here.through.saturating_add(1);
    while database.remove_some(here.identity, below, REPLACED).await.map_err(Error::Shared)? > 0 {}
    archive.reset_identity().await
}

/// Converts a message for upload. PostgreSQL can't store NUL.
fn new(message: OutboxMessage, redaction: Redaction) -> NewMessage {
    let OutboxMessage { session, agent, role, body, .. } = message;
    let plain = |text: String| if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text };
    let body = if body.len() > LONGEST {
        let words = format!("[a message of {} bytes, too long to be brought to other hosts]", body.len());
        serde_json::json!({ "role": role, "content": words }).to_string()
    } else {
        redaction.json(body)
    };
    let words = message.is_found.then(|| words_of(&body)).flatten();
    let (session, agent, role) = (plain(session), agent.map(plain), plain(role));
    (OutboxMessage { session, agent, role, body: plain(body), ..message }, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_portion_shrinks_until_one_message_is_given_up() {
        let mut portion = Portion::whole();
        let refused = SharedError::Refused("no".into());
        let mut tries = 0;
        while !portion.is_hopeless() {
            portion.failed(&refused);
            tries += 1;
        }
        assert!((10..20).contains(&tries), "{tries}");
        let mut slow = Portion { messages: 1, ..Portion::whole() };
        (0..DELAYS - 1).for_each(|_| slow.failed(&SharedError::Unsettled("late".into())));
        assert!(!slow.is_hopeless());
        slow.failed(&SharedError::Unsettled("late".into()));
        assert!(slow.is_hopeless());
    }

    #[test]
    fn what_postgres_can_t_keep_is_made_so_that_it_can() {
        let message = |body: String| OutboxMessage {
            id: 1,
            session: "s".into(),
            profile: "default".into(),
            agent: None,
            role: "us\0er".into(),
            time: 1.0,
            body,
            is_found: true,
        };
        let (kept, words) = new(message(r#"{"role":"us\u0000er","content":"a heron"}"#.into()), Redaction::Off);
        assert_eq!((kept.role.as_str(), words.is_some()), ("us\u{fffd}er", true));
        let (long, _) = new(message(format!(r#"{{"content":"{}"}}"#, "x".repeat(LONGEST))), Redaction::Off);
        assert!(long.body.len() < 200 && long.body.contains("too long"), "{}", long.body);
    }
}
