//! Uploads tool outputs to the database and the object store, and fetches those of other hosts.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use herma_shared::objects::Objects;
use herma_shared::outputs::{LONGEST, LONGEST_ROW, NewOutput, SharedOutput};
use herma_shared::{Database, SharedError};
use herma_spill::Outputs;
use herma_spill::catalog::{Record, State};
use tokio::time::sleep;

use super::Sharing;
use crate::data::error::{Error, Outcome};
use crate::owners::archive::ArchiveHandle;
use crate::owners::blocking::blocking;

/// How often texts without an output are removed.
const CLEARED: Duration = Duration::from_mins(10);

/// The longest pause after an error.
const PAUSE: Duration = Duration::from_mins(5);

/// The number of outputs that are removed in one step.
const FORGOTTEN: usize = 1_000;

/// An output of another host.
#[derive(Debug)]
pub(crate) struct FetchedOutput {
    /// Its description.
    pub output: NewOutput,
    /// Its text.
    pub text: String,
}

/// The last seen state of this host's outputs. While it is unchanged, there is nothing to upload.
#[derive(Debug, PartialEq)]
struct Seen {
    profiles: Vec<String>,
    /// How often the database came back, and a profile joined.
    returns: (u64, u64),
    /// The sessions that never leave this host.
    bound: HashSet<String>,
    usage: (u64, u64),
    newest: Option<String>,
}

impl Sharing {
    /// Uploads outputs again and again, as long as the daemon runs. Returns at once if none are shared.
    pub(crate) async fn bring_outputs(self: Arc<Self>, kept: Arc<Outputs>, archive: Arc<ArchiveHandle>) {
        let Some(Ok(database)) = self.database.clone() else { return };
        // Outputs are part of the conversation too. A masked text would no longer match its handle, so none is
        // uploaded.
        if !self.config.messages || self.config.redact {
            return;
        }
        let mut known: Option<HashMap<String, bool>> = None;
        let (mut seen, mut cleared): (Option<Seen>, Option<Instant>) = (None, None);
        let mut pause = self.config.poll;
        loop {
            if self.link.state().is_up == Some(true) && !self.joined.profiles().is_empty() {
                // Without the archive, it is unknown which sessions must stay here.
                let Ok(bound) = archive.host_bound().await else {
                    sleep(self.config.poll).await;
                    continue;
                };
                let now = self.see(&kept, bound);
                if seen.as_ref() != Some(&now) {
                    let brought = self.bring_outputs_once(&database, &kept, (&mut known, &now.bound)).await;
                    pause = if brought.is_ok() { self.config.poll } else { (pause * 2).min(PAUSE) };
                    seen = brought.is_ok().then_some(now);
                    if seen.is_none() {
                        known = None;
                    }
                    self.brought.note_outputs(brought.err());
                }
                if seen.is_some() && cleared.is_none_or(|at| at.elapsed() > CLEARED) {
                    let removed = database.remove_unnamed(self.objects()).await;
                    cleared = (!matches!(removed, Ok(true))).then(Instant::now);
                    self.brought.note_outputs(removed.err());
                }
            }
            sleep(pause.max(self.config.poll)).await;
        }
    }

    fn see(&self, kept: &Outputs, bound: Vec<String>) -> Seen {
        let newest = kept.list(None, 1).first().map(|record| format!("{} {:?}", record.handle, record.state));
        let bound = bound.into_iter().collect();
        Seen { profiles: self.joined.profiles(), returns: self.returned(), bound, usage: kept.usage(), newest }
    }

    /// Uploads the outputs that are missing in the database, and removes those that no longer exist here.
    async fn bring_outputs_once(
        &self,
        database: &Database,
        kept: &Arc<Outputs>,
        (known, bound): (&mut Option<HashMap<String, bool>>, &HashSet<String>),
    ) -> Result<(), SharedError> {
        let known = match known {
            Some(known) => known,
            None => known.insert(database.own_outputs().await?.into_iter().collect()),
        };
        let profiles = self.joined.profiles();
        let is_shared = |record: &Record| {
            let is_of_profile = profiles.iter().any(|profile| *profile == *record.profile);
            record.state == State::Kept && is_of_profile && !bound.contains(&*record.session)
        };
        let records = kept.list_where(None, usize::MAX, is_shared);
        let here: HashSet<String> = records.iter().map(|record| record.handle.to_string()).collect();
        let mut failed = None;
        // The oldest first, in their original order.
        for record in records.iter().rev().filter(|record| self.joined.has(&record.profile)) {
            let handle = record.handle.to_string();
            // An output that was too long for the database goes to an object store, once there is one.
            let is_there = known.get(&handle).is_some_and(|is_readable| *is_readable || self.objects().is_none());
            if is_there {
                continue;
            }
            let longest = if self.objects().is_some() { LONGEST } else { LONGEST_ROW as u64 };
            let text = if record.bytes <= longest {
                let (outputs, name) = (Arc::clone(kept), handle.clone());
                // An output that is gone meanwhile, or can't be read, is skipped.
                let Ok(text) = blocking("the shared outputs", move || Ok(outputs.read(&name)?)).await else {
                    continue;
                };
                Some(text)
            } else {
                None
            };
            let is_readable = text.is_some();
            match database.keep_output(&new(record), record.bytes, text, self.objects()).await {
                Ok(()) => drop(known.insert(handle, is_readable)),
                Err(error) if error.is_passing() => return Err(error),
                // One output that can't be uploaded does not block the others.
                Err(error) => failed = Some(error),
            }
        }
        let gone: Vec<String> = known.keys().filter(|handle| !here.contains(*handle)).cloned().collect();
        for gone in gone.chunks(FORGOTTEN) {
            database.forget_outputs(gone).await?;
            known.retain(|handle, _| !gone.contains(handle));
        }
        failed.map_or(Ok(()), Err)
    }

    /// Returns the output that another host has under this handle; `None` if there is none.
    ///
    /// # Errors
    /// The database or the object store can't be reached, only the output's own host has the text, or hosts have
    /// different texts.
    pub(crate) async fn fetch_output(&self, handle: &str, profile: Option<&str>) -> Outcome<Option<FetchedOutput>> {
        let profiles = self.seen_profiles(profile);
        if !self.is_configured() || profiles.is_empty() {
            return Ok(None);
        }
        let database = self.ready_database()?;
        let found = database.outputs_of(handle, &profiles).await.map_err(Error::SharedRead)?;
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
        let text = database.output_text(readable, self.objects()).await.map_err(Error::SharedRead)?;
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

/// PostgreSQL can't store NUL.
fn plain(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

fn new(record: &Record) -> NewOutput {
    NewOutput {
        handle: record.handle.to_string(),
        sha256: record.sha256,
        profile: record.profile.to_string(),
        session: plain(&record.session),
        tool: plain(&record.tool),
        call: plain(&record.id),
        at: record.created_at,
    }
}
