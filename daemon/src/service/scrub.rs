//! Masks the secrets in what was kept before, part by part: messages, outputs, memories, all other texts of the archive,
//! and the words of the index. At the end it searches herma's files for what it found.

mod found;
mod stage;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use herma_archive::scrub::StoredMessage;
use herma_context::Scrub;
use herma_guard::SecretCounts;
use herma_memory::change::{Change, Changes, Drift};
use herma_memory::store::ScrubbedJournal;
use herma_memory::{Author, Edit, Target};
use herma_spill::Outputs;
use herma_spill::handle::Handle;
use herma_spill::outputs::Rewritten;

use self::found::{FoundSecrets, files_with};
use self::stage::Stage;
use super::compression::CompressionService;
use super::settings::SessionSettings;
use super::spilled_outputs::SpilledOutputs;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::to_u64;
use crate::data::profiles::Profiles;
use crate::owners::archive::ArchiveHandle;
use crate::owners::blocking::blocking;
use crate::owners::commit_token::CommitToken;
use crate::owners::store::{Scrubbed, Write};
use crate::owners::stores::Stores;

/// Bytes of messages that one call looks at.
const MESSAGE_BYTES: usize = 4 << 20;

/// Bytes of outputs that one call looks at. The last output may exceed it.
const OUTPUT_BYTES: u64 = 16 << 20;

/// How long one call removes words from the index.
const INDEXING: Duration = Duration::from_secs(2);

/// Masks the secrets of a home.
#[derive(Debug)]
pub(crate) struct ScrubService {
    pub archive: Arc<ArchiveHandle>,
    pub compression: Arc<CompressionService>,
    pub outputs: Arc<SpilledOutputs>,
    pub stores: Arc<Stores>,
    pub profiles: Profiles,
    pub home: PathBuf,
    /// What the calls of a run have found.
    pub found: Arc<Mutex<FoundSecrets>>,
    /// One call at a time.
    pub alone: tokio::sync::Mutex<()>,
}

/// A part of the work.
#[derive(Debug, Default)]
pub(crate) struct ScrubStep {
    /// The stage that it belongs to.
    pub stage: &'static str,
    /// Where to go on; `None` at the end.
    pub next: Option<String>,
    /// How far the stage is, of how much.
    pub progress: (u64, u64),
    /// The number of changed texts.
    pub changed: u64,
    /// The secrets in them.
    pub secrets: SecretCounts,
    /// The places where something is left, each with the reason.
    pub left: Vec<(String, String)>,
}

impl ScrubService {
    /// Does the part of the work that begins at `cursor`, or the first part. With `dry_run` nothing is written.
    pub(crate) async fn step(&self, cursor: Option<&str>, dry_run: bool) -> Outcome<ScrubStep> {
        let stage = match cursor {
            None => Stage::Messages(0),
            Some(text) => Stage::parse(text).ok_or_else(|| Error::param("cursor", "is none that guard.scrub gave"))?,
        };
        let _alone = self.alone.lock().await;
        if cursor.is_none() {
            *self.found() = FoundSecrets::default();
        }
        let name = stage.name();
        let step = match stage {
            Stage::Messages(after) => self.messages(after, dry_run).await?,
            Stage::Outputs(after) => self.outputs(&after, dry_run).await?,
            Stage::Memory => self.memory(dry_run).await?,
            Stage::Texts => self.texts(dry_run).await?,
            Stage::Index => self.index().await?,
            Stage::Files => self.files().await?,
        };
        Ok(ScrubStep { stage: name, ..step })
    }

    fn found(&self) -> std::sync::MutexGuard<'_, FoundSecrets> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the messages after an id.
    async fn messages(&self, after: i64, dry_run: bool) -> Outcome<ScrubStep> {
        let (messages, last) = self.archive.messages_after(after, MESSAGE_BYTES).await?;
        let reached = messages.last().map(|message| message.id);
        let found = Arc::clone(&self.found);
        let (changed, secrets) = blocking("guard.scrub", move || Ok(scrubbed(messages, &found))).await?;
        let mut step = ScrubStep { secrets, ..ScrubStep::default() };
        let mut free: BTreeMap<String, bool> = BTreeMap::new();
        let mut rewritten = Vec::new();
        for message in changed {
            let is_free = match free.get(&message.session) {
                Some(is_free) => *is_free,
                None => {
                    let is_free = self.is_free(&message.session).await?;
                    free.insert(message.session.clone(), is_free);
                    is_free
                }
            };
            if is_free {
                rewritten.push(message);
            }
        }
        let kept = free.into_iter().filter(|(_, is_free)| !is_free);
        step.left.extend(kept.map(|(session, _)| {
            (format!("session {session}"), "its agent has it open and sends its list itself; scrub again later".into())
        }));
        step.changed = to_u64(rewritten.len());
        if !dry_run && !rewritten.is_empty() {
            let sessions: BTreeSet<String> = rewritten.iter().map(|message| message.session.clone()).collect();
            self.archive.rewrite_messages(rewritten).await?;
            // Runs that were prepared before have the old texts.
            sessions.iter().for_each(|session| self.compression.forget(session));
        }
        step.progress = (reached.unwrap_or(last).unsigned_abs(), last.unsigned_abs());
        step.next = Some(match reached {
            Some(id) if id < last => Stage::Messages(id).text(),
            _ => Stage::Outputs(String::new()).text(),
        });
        Ok(step)
    }

    /// Whether the messages of a session may change. An agent that sends its list itself compares them while it has the
    /// session open.
    async fn is_free(&self, session: &str) -> Outcome<bool> {
        let Some((row, _)) = self.archive.session(session.to_owned()).await? else { return Ok(true) };
        let settings = row.settings.as_deref().map(SessionSettings::read).unwrap_or_default();
        Ok(row.ended_at.is_some() || settings.captured == Some(true))
    }

    /// Looks at the outputs after a handle.
    async fn outputs(&self, after: &str, dry_run: bool) -> Outcome<ScrubStep> {
        let mut records = self.outputs.kept.list(None, usize::MAX);
        records.sort_by_key(|record| record.handle.to_string());
        let of = to_u64(records.len());
        let from = records.partition_point(|record| record.handle.to_string().as_str() <= after);
        let mut bytes = 0;
        let part: Vec<Handle> = records[from..]
            .iter()
            .take_while(|record| {
                let is_first = bytes < OUTPUT_BYTES;
                bytes += record.bytes;
                is_first
            })
            .map(|record| record.handle)
            .collect();
        let done = to_u64(from + part.len());
        let last = part.last().map(ToString::to_string);
        let (outputs, found) = (Arc::clone(&self.outputs.kept), Arc::clone(&self.found));
        let (mut step, changing) = blocking("guard.scrub", move || Ok(scanned(&outputs, part, &found))).await?;
        let mut changed = changing.clone();
        if !dry_run && !changing.is_empty() {
            let names: Vec<String> = changing.iter().map(ToString::to_string).collect();
            // Their words leave the index first: if this is killed in the middle, they are indexed again at the next start.
            self.archive.forget_outputs(names.clone()).await?;
            let outputs = Arc::clone(&self.outputs.kept);
            let (rewritten, failed) = blocking("guard.scrub", move || Ok(masked(&outputs, changing))).await?;
            changed = rewritten;
            step.left.extend(failed);
            // A search meanwhile may have brought the old words back.
            self.archive.forget_outputs(names).await?;
            changed.iter().for_each(|handle| self.outputs.spilled(handle));
        }
        step.changed = to_u64(changed.len());
        step.progress = (done, of);
        step.next = Some(match last {
            Some(handle) if done < of => Stage::Outputs(handle).text(),
            _ => Stage::Memory.text(),
        });
        Ok(step)
    }

    /// Looks at the stores and their journals.
    async fn memory(&self, dry_run: bool) -> Outcome<ScrubStep> {
        let mut step = ScrubStep { next: Some(Stage::Texts.text()), ..ScrubStep::default() };
        for profile in self.profiles.all()? {
            for target in Target::ALL {
                let place = format!("{} of the profile {profile}", target.file_name());
                if let Err(error) = self.store(&profile, target, dry_run, &mut step).await {
                    step.left.push((place, error.to_string()));
                }
            }
        }
        step.progress = (1, 1);
        Ok(step)
    }

    /// Looks at one store and its journal.
    async fn store(&self, profile: &str, target: Target, dry_run: bool, step: &mut ScrubStep) -> Outcome<()> {
        let store = self.stores.get(profile, target)?;
        let mut changes = Vec::new();
        {
            let view = store.view().await?;
            let mut note = |secret: &str| self.found().add(secret);
            let scrub = Scrub::new(&mut note);
            for entry in view.entries.iter() {
                if let Some(content) = scrub.text(entry) {
                    changes.push(Change::Replace { old_text: entry.to_string(), content });
                }
            }
            step.secrets.add_all(&scrub.secrets());
        }
        step.changed += to_u64(changes.len());
        if !dry_run {
            for change in changes {
                let edit = Edit::Change { changes: Changes::Single(change), drift: Drift::Refused };
                let author = Author { agent: Some("scrub".into()), ..Author::default() };
                let write = Write { edit, author, expected_revision: None, token: CommitToken::default() };
                store.write(write).await?.outcome.map_err(|refusal| Error::Conflict(refusal.to_string()))?;
            }
        }
        let Scrubbed { journal, secrets, found } = store.scrub_journal(dry_run).await?;
        found.iter().for_each(|secret| self.found().add(secret));
        match journal {
            ScrubbedJournal::Rows(rows) => {
                step.changed += to_u64(rows);
                step.secrets.add_all(&secrets);
                Ok(())
            }
            ScrubbedJournal::Locked => Err(Error::Busy("another program has its lock; scrub again".into())),
            ScrubbedJournal::Left => Err(Error::Conflict("its journal can't be rewritten".into())),
        }
    }

    /// Looks at all other texts of the archive.
    async fn texts(&self, dry_run: bool) -> Outcome<ScrubStep> {
        let found = Arc::clone(&self.found);
        let (changed, secrets) = self
            .archive
            .rewrite_texts(dry_run, move |secret| found.lock().unwrap_or_else(PoisonError::into_inner).add(secret))
            .await?;
        let next = (!dry_run).then(|| Stage::Index.text());
        Ok(ScrubStep { changed, secrets, next, progress: (1, 1), ..ScrubStep::default() })
    }

    /// Removes the old words from the index, and the old bytes from the log.
    async fn index(&self) -> Outcome<ScrubStep> {
        let began = Instant::now();
        while self.archive.forget_some().await? {
            if began.elapsed() > INDEXING {
                return Ok(ScrubStep { next: Some(Stage::Index.text()), progress: (0, 1), ..ScrubStep::default() });
            }
        }
        Ok(ScrubStep { next: Some(Stage::Files.text()), progress: (1, 1), ..ScrubStep::default() })
    }

    /// Searches the files of the home for what was found.
    async fn files(&self) -> Outcome<ScrubStep> {
        let found = self.found().clone();
        let mut folders = vec![self.home.join("herma")];
        for profile in self.profiles.all()? {
            folders.push(self.profiles.existing(&profile)?.join("memories"));
        }
        let home = self.home.clone();
        let left = blocking("guard.scrub", move || Ok(files_with(&found, &folders, &home))).await?;
        Ok(ScrubStep { left, progress: (1, 1), ..ScrubStep::default() })
    }
}

/// Returns what a look at outputs finds, and the outputs that change.
fn scanned(outputs: &Outputs, part: Vec<Handle>, found: &Mutex<FoundSecrets>) -> (ScrubStep, Vec<Handle>) {
    let mut note = |secret: &str| found.lock().unwrap_or_else(PoisonError::into_inner).add(secret);
    let scrub = Scrub::new(&mut note);
    let (mut step, mut changing) = (ScrubStep::default(), Vec::new());
    for handle in part {
        match outputs.rewrite(handle, &mut |text| scrub.text(text), true) {
            Ok(Rewritten::Changed) => changing.push(handle),
            Ok(Rewritten::Same) => {}
            Ok(Rewritten::TooLong) => {
                step.left.push((format!("output {handle}"), "it is too long to be looked at".into()));
            }
            Err(error) => step.left.push((format!("output {handle}"), error.to_string())),
        }
    }
    step.secrets = scrub.secrets();
    (step, changing)
}
/// Masks the secrets of outputs. Returns those that changed, and where that failed, with the reason.
fn masked(outputs: &Outputs, changing: Vec<Handle>) -> (Vec<Handle>, Vec<(String, String)>) {
    let mut ignore = |_: &str| {};
    let scrub = Scrub::new(&mut ignore);
    let (mut changed, mut failed) = (Vec::new(), Vec::new());
    for handle in changing {
        match outputs.rewrite(handle, &mut |text| scrub.text(text), false) {
            Ok(Rewritten::Changed) => changed.push(handle),
            Ok(Rewritten::Same | Rewritten::TooLong) => {}
            Err(error) => failed.push((format!("output {handle}"), error.to_string())),
        }
    }
    (changed, failed)
}

/// Returns the messages that change, with their new texts, and the secrets in them.
fn scrubbed(messages: Vec<StoredMessage>, found: &Mutex<FoundSecrets>) -> (Vec<StoredMessage>, SecretCounts) {
    let mut note = |secret: &str| found.lock().unwrap_or_else(PoisonError::into_inner).add(secret);
    let scrub = Scrub::new(&mut note);
    let changed = messages
        .into_iter()
        .filter_map(|message| Some(StoredMessage { text: scrub.message(&message.text)?, ..message }))
        .collect();
    (changed, scrub.secrets())
}
