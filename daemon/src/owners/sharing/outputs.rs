//! Brings outputs of tools to the database and the object store, and gets those of other hosts from there.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use herma_shared::objects::Objects;
use herma_shared::outputs::{NewOutput, SharedOutput};
use herma_shared::{Database, SharedError};
use herma_spill::Outputs;
use herma_spill::catalog::{Record, State};
use tokio::time::sleep;

use super::Sharing;
use crate::data::error::{Error, Outcome};
use crate::owners::blocking::blocking;

/// How often texts are removed that no output names any more.
const CLEARED: Duration = Duration::from_mins(10);

/// Outputs that are forgotten at one time.
const FORGOTTEN: usize = 1_000;

/// An output of another host.
#[derive(Debug)]
pub(crate) struct FetchedOutput {
    /// What it is.
    pub output: NewOutput,
    /// Its text.
    pub text: String,
}

/// What was seen of the outputs of this host: when it is the same, nothing is to be brought.
type Seen = (Vec<String>, (u64, u64), Option<String>);

impl Sharing {
    /// Brings outputs again and again, for as long as the daemon runs. Ends at once where none are shared.
    pub(crate) async fn bring_outputs(self: Arc<Self>, kept: Arc<Outputs>) {
        let Some(Ok(database)) = self.database.clone() else { return };
        let mut known: Option<HashMap<String, bool>> = None;
        let (mut seen, mut cleared): (Option<Seen>, Option<Instant>) = (None, None);
        loop {
            if self.link.state().is_up == Some(true) && !self.joined.profiles().is_empty() {
                let now = self.see(&kept);
                if seen.as_ref() != Some(&now) {
                    let brought = self.bring_outputs_once(&database, &kept, &mut known).await;
                    seen = brought.is_ok().then_some(now);
                    self.brought.note_outputs(brought.err());
                }
                if seen.is_some() && cleared.is_none_or(|at| at.elapsed() > CLEARED) {
                    let removed = database.remove_unnamed(self.objects()).await;
                    cleared = matches!(removed, Ok(false)).then(Instant::now);
                    self.brought.note_outputs(removed.err());
                }
            }
            sleep(self.config.poll).await;
        }
    }

    fn see(&self, kept: &Outputs) -> Seen {
        let newest = kept.list(None, 1).first().map(|record| format!("{} {:?}", record.handle, record.state));
        (self.joined.profiles(), kept.usage(), newest)
    }

    /// Brings what is not there, and forgets what is not here.
    async fn bring_outputs_once(
        &self,
        database: &Database,
        kept: &Arc<Outputs>,
        known: &mut Option<HashMap<String, bool>>,
    ) -> Result<(), SharedError> {
        let known = match known {
            Some(known) => known,
            None => known.insert(database.own_outputs().await?.into_iter().collect()),
        };
        let profiles = self.joined.profiles();
        let is_shared =
            |record: &Record| record.state == State::Kept && profiles.iter().any(|profile| *profile == *record.profile);
        let records = kept.list_where(usize::MAX, is_shared);
        let here: HashSet<String> = records.iter().map(|record| record.handle.to_string()).collect();
        // The oldest first, as they came.
        for record in records.iter().rev() {
            let handle = record.handle.to_string();
            // One that was too long for the database goes to an object store once there is one.
            let is_there = known.get(&handle).is_some_and(|is_readable| *is_readable || self.objects().is_none());
            if is_there {
                continue;
            }
            let (outputs, name) = (Arc::clone(kept), handle.clone());
            let text = blocking("the shared outputs", move || Ok(outputs.read(&name)?)).await;
            // One that went meanwhile, or can't be read, is passed over; it is looked at again when anything changes.
            let Ok(text) = text else { continue };
            let is_readable = database.keep_output(&new(record), &text, self.objects()).await?;
            known.insert(handle, is_readable);
        }
        let gone: Vec<String> = known.keys().filter(|handle| !here.contains(*handle)).cloned().collect();
        for gone in gone.chunks(FORGOTTEN) {
            database.forget_outputs(gone).await?;
            known.retain(|handle, _| !gone.contains(handle));
        }
        Ok(())
    }

    /// An output that another host has by this handle; `None` where none has.
    ///
    /// # Errors
    /// The database or the object store can't be asked; the text lies on its host alone; hosts have different texts.
    pub(crate) async fn fetch_output(&self, handle: &str, profile: Option<&str>) -> Outcome<Option<FetchedOutput>> {
        let profiles = self.seen_profiles(profile);
        if !self.is_configured() || profiles.is_empty() {
            return Ok(None);
        }
        let database = self.ready_database()?;
        let found = database.outputs_of(handle, &profiles).await.map_err(Error::Unread)?;
        let Some(SharedOutput { output, .. }) = found.first() else { return Ok(None) };
        let hosts = || found.iter().map(|one| one.host.as_str()).collect::<Vec<_>>().join(", ");
        if found.iter().any(|one| one.output.sha256 != output.sha256) {
            let words = format!("different outputs have the handle {handle:?} on the hosts {}; read it there", hosts());
            return Err(Error::Conflict(words));
        }
        let Some(readable) = found.iter().find(|one| one.is_shared) else {
            let words = format!(
                "the output {handle:?} lies on {} alone: it is too long for the database, and no `shared.outputs` \
                 is configured there",
                hosts()
            );
            return Err(Error::NotFound(words));
        };
        let text = database.output_text(readable, self.objects()).await.map_err(Error::Unread)?;
        match text {
            Some(text) => Ok(Some(FetchedOutput { output: readable.output.clone(), text })),
            None => {
                let words = format!(
                    "the text of {handle:?}, which {} has, is neither in the database nor in this host's `shared.outputs`",
                    hosts()
                );
                Err(Error::NotFound(words))
            }
        }
    }

    fn objects(&self) -> Option<&Objects> {
        self.objects.as_ref()
    }
}

fn new(record: &Record) -> NewOutput {
    NewOutput {
        handle: record.handle.to_string(),
        sha256: record.sha256,
        profile: record.profile.to_string(),
        session: record.session.to_string(),
        tool: record.tool.to_string(),
        call: record.id.to_string(),
        at: record.created_at,
    }
}
