//! Brings what was said on this host to the database, and takes from there what was removed here.

use std::sync::{Arc, Mutex, PoisonError};

use herma_archive::outbox::{OutboxMessage, Shipped, words_of};
use herma_context::Redaction;
use herma_shared::messages::{NewMessage, NewWords, Tokens};
use herma_shared::{Database, SharedError};
use tokio::time::sleep;

use super::Sharing;
use crate::data::error::{Error, Outcome};
use crate::owners::archive::ArchiveHandle;
use crate::owners::blocking::blocking;

/// Messages that are brought at one time, and bytes of them.
const MOST: usize = 1_000;
const BYTES: usize = 2 << 20;

/// Sessions that are removed at one time.
const GONE: usize = 100;

/// What became of bringing messages.
#[derive(Debug, Default)]
pub(super) struct Brought {
    trouble: Mutex<Option<SharedError>>,
    outputs_trouble: Mutex<Option<SharedError>>,
}

impl Brought {
    /// Why messages can't be brought.
    pub(super) fn trouble(&self) -> Option<SharedError> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why outputs can't be brought.
    pub(super) fn outputs_trouble(&self) -> Option<SharedError> {
        self.outputs_trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers what went wrong with messages, and says it once.
    fn note(&self, trouble: Option<SharedError>) {
        if let Some(error) = changed(&self.trouble, trouble) {
            tracing::warn!("messages are not brought to the shared database: {error}");
        }
    }

    /// The same of outputs.
    pub(super) fn note_outputs(&self, trouble: Option<SharedError>) {
        if let Some(error) = changed(&self.outputs_trouble, trouble) {
            tracing::warn!("outputs are not brought where other hosts find them: {error}");
        }
    }
}

/// Puts a trouble in the place of the one before, and gives it where it is another one.
fn changed(known: &Mutex<Option<SharedError>>, trouble: Option<SharedError>) -> Option<SharedError> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let new = trouble.clone().filter(|error| known.as_ref() != Some(error));
    *known = trouble;
    new
}

/// How much is brought at one time: less after it took too long.
struct Portion {
    messages: usize,
    bytes: usize,
}

impl Portion {
    const fn whole() -> Self {
        Self { messages: MOST, bytes: BYTES }
    }

    fn halved(&self) -> Self {
        Self { messages: (self.messages / 2).max(1), bytes: (self.bytes / 2).max(1) }
    }
}

/// Messages that are ready to be brought.
struct Load {
    messages: Vec<NewMessage>,
    through: u64,
    /// Nothing comes behind them.
    is_last: bool,
}

impl Sharing {
    /// Brings messages again and again, for as long as the daemon runs. Ends at once where none are shared.
    pub(crate) async fn bring_messages(self: Arc<Self>, archive: Arc<ArchiveHandle>) {
        let Some(Ok(database)) = self.database.clone() else { return };
        if !self.config.messages {
            return;
        }
        let (mut portion, mut known) = (Portion::whole(), Vec::new());
        loop {
            if self.link.state().is_up == Some(true) && !self.joined.profiles().is_empty() {
                match self.bring_all(&database, &archive, &portion, &mut known).await {
                    Ok(()) => {
                        self.brought.note(None);
                        portion = Portion::whole();
                    }
                    // Whether the database is away is for others to find out: a large portion may just take long.
                    Err(Error::Shared(error)) => {
                        self.brought.note(Some(error));
                        portion = portion.halved();
                    }
                    Err(error) => tracing::debug!("the archive can't be read for the shared database: {error}"),
                }
            }
            sleep(self.config.poll).await;
        }
    }

    /// Brings all that waits. While one portion is on its way the next is made ready.
    async fn bring_all(
        &self,
        database: &Database,
        archive: &ArchiveHandle,
        portion: &Portion,
        known: &mut Vec<String>,
    ) -> Outcome<()> {
        let profiles = self.joined.profiles();
        if *known != profiles {
            archive.begin_shipping(profiles.clone()).await?;
            look_back(database, archive).await?;
            known.clone_from(&profiles);
        }
        let Shipped { identity, through, .. } = archive.shipped().await?;
        let mut brought = through;
        let mut load = self.load(archive, brought, portion).await?;
        while load.through > brought {
            let next = async {
                match load.is_last {
                    true => Ok(Load { messages: Vec::new(), through: load.through, is_last: true }),
                    false => self.load(archive, load.through, portion).await,
                }
            };
            let (kept, next) = tokio::join!(keep(database, identity, &load.messages), next);
            kept?;
            archive.note_shipped(identity, load.through).await?;
            brought = load.through;
            load = next?;
            if *known != self.joined.profiles() {
                return Ok(());
            }
        }
        let gone = archive.gone_sessions(GONE).await?;
        for (session, below) in &gone {
            database.remove_messages(identity, session, *below).await.map_err(Error::Shared)?;
        }
        if gone.is_empty() { Ok(()) } else { archive.forget_gone(gone).await }
    }

    async fn load(&self, archive: &ArchiveHandle, behind: u64, portion: &Portion) -> Outcome<Load> {
        let redaction = if self.config.redact { Redaction::On } else { Redaction::Off };
        let outbox = archive.outbox(behind, self.joined.profiles(), portion.messages, portion.bytes).await?;
        let (through, is_last) = (outbox.through, outbox.is_all);
        let new = move || Ok(outbox.messages.into_iter().map(|message| new(message, redaction)).collect());
        Ok(Load { messages: blocking("the shared archive", new).await?, through, is_last })
    }
}

async fn keep(database: &Database, identity: u32, messages: &[NewMessage]) -> Outcome<()> {
    match messages.is_empty() {
        true => Ok(()),
        false => database.keep_messages(identity, messages).await.map_err(Error::Shared),
    }
}

/// An archive that was put back from a backup gives ids again which stand for other messages there: from then on it
/// counts as another one. What both have goes from there, for it comes again.
async fn look_back(database: &Database, archive: &ArchiveHandle) -> Outcome<()> {
    let here = archive.shipped().await?;
    let newest = database.newest_message(here.identity).await.map_err(Error::Shared)?;
    if newest < here.next {
        return Ok(());
    }
    tracing::warn!(
        "the archive is older than what was brought of it to the shared database: messages up to {newest} are there, and \
         the next one here is {}; it is brought anew, and what is only there stays there",
        here.next
    );
    archive.ship_as_another().await?;
    database.remove_archive(here.identity, here.through.saturating_add(1)).await.map_err(Error::Shared)
}

/// A message as it is brought.
fn new(message: OutboxMessage, redaction: Redaction) -> NewMessage {
    let OutboxMessage { id, session, profile, agent, role, time, body, is_found } = message;
    let body = redaction.json(body);
    let words = is_found.then(|| words_of(&body)).flatten().map(|words| NewWords {
        tokens: Tokens::new(&words.words, &words.others),
        count: words.count,
        marks: words.marks,
        terms: words.terms,
    });
    NewMessage { number: id, profile, session, agent, role, at: time, body, words }
}
