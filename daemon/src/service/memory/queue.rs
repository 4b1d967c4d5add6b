//! Writes that wait for the shared database. Each is a file in the home, and is judged again when the database is back.
//! A write that can't be done as intended then waits for a person.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use herma_disk::folder;
use herma_memory::bound;
use herma_memory::change::{self, Change, Changes, Rules};
use herma_memory::pending::{HandOverError, Pending, PendingWrite, StageError, StagedCall};
use herma_memory::{Author, Edit, Entry, Refusal, Target, View};
use tokio::sync::Notify;

use super::staged::lock;
use super::{MemoryService, WriteOutcome};
use crate::data::error::{Error, Outcome};
use crate::owners::blocking::blocking;
use crate::owners::commit_token::CommitToken;
use crate::owners::store::{HostBoundWrite, Write, check_revision};
use crate::service::caller::Caller;

/// The pause before failed writes are tried again.
const PAUSE: Duration = Duration::from_secs(5);

/// A write that waits for the database.
pub(crate) type QueuedWrite = PendingWrite;

/// The writes of all profiles that wait for the database.
#[derive(Debug)]
pub(super) struct Queues {
    folder: PathBuf,
    profiles: Mutex<HashMap<String, Arc<Mutex<Pending>>>>,
    /// Notifies that a write was queued, because the database may be back since it was refused.
    kept: Notify,
}

impl Queues {
    /// Creates the queues of a home.
    pub(super) fn of(home: &Path) -> Self {
        Self { folder: home.join("herma/queue"), profiles: Mutex::default(), kept: Notify::new() }
    }

    /// Returns the profiles that have a queue.
    fn profiles(&self) -> Vec<String> {
        // Without the folder, no profile has one.
        folder::names(&self.folder).unwrap_or_default()
    }

    fn of_profile(&self, profile: &str) -> Arc<Mutex<Pending>> {
        let mut profiles = self.profiles.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = profiles
            .entry(profile.to_owned())
            .or_insert_with(|| Arc::new(Mutex::new(Pending::without_expiry(self.folder.join(profile)))));
        Arc::clone(queue)
    }
}

/// Whether the entries that a write meant still exist.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WriteValidity {
    /// The write can be tried.
    Same,
    /// The entries that it would change have changed.
    Changed,
}

impl MemoryService {
    /// Queues a write until the database is back. A write that this host would refuse with its current knowledge is
    /// refused at once.
    pub(super) async fn queue(
        &self,
        caller: &Caller,
        call: StagedCall,
        author: Author,
        why: String,
    ) -> Outcome<WriteOutcome> {
        let (profile, target) = (caller.profile(), call.call.target);
        let view = self.view(profile, target).await?;
        check_revision(call.expected_revision, &view)?;
        let rules = Rules { target, limit: view.limit, drift: call.drift, policy: &self.policy };
        let applied = match change::apply(&view.entries, &call.call.changes, rules) {
            Ok(applied) => applied,
            Err(refusal) => return Ok(WriteOutcome::refused(refusal, Some(view))),
        };
        if bound::affects_both_kinds(&view.entries, &applied.entries) {
            return Ok(WriteOutcome::refused(Refusal::Mixed, Some(view)));
        }
        if !caller.token.take() {
            return Err(Error::Cancelled("nobody waits for the write any more"));
        }
        let call = exact(call, &view);
        let queue = self.queues.of_profile(profile);
        let staged = blocking("keeping a write", move || match lock(&queue).stage(&call, &author, SystemTime::now()) {
            Ok(id) => Ok(Ok(id)),
            Err(StageError::Disk(error)) => Err(Error::from(error)),
            Err(StageError::Full) => Ok(Err(Refusal::NotStaged(
                "too many writes wait for the shared database already; it has to be back first".to_owned(),
            ))),
        });
        Ok(match staged.await? {
            Ok(id) => {
                self.queues.kept.notify_one();
                WriteOutcome::Queued { id, target, findings: applied.warnings, why }
            }
            Err(refusal) => WriteOutcome::refused(refusal, None),
        })
    }

    /// Returns the queued writes of a profile, oldest first.
    pub(crate) async fn queued(&self, profile: &str) -> Outcome<Vec<QueuedWrite>> {
        self.profiles.existing(profile)?;
        let queue = self.queues.of_profile(profile);
        blocking("queued writes", move || lock(&queue).list(SystemTime::now()).map(<[_]>::to_vec).map_err(Error::from))
            .await
    }

    pub(super) async fn queued_count(&self, profile: &str, target: Target) -> Outcome<usize> {
        let waits = |write: &&QueuedWrite| write.target() == target && write.call().is_ok();
        Ok(self.queued(profile).await?.iter().filter(waits).count())
    }

    /// Moves all queued writes of a profile to a person's approval. Returns their number.
    pub(super) async fn queue_to_person(&self, profile: &str) -> Outcome<usize> {
        let writes = self.queued(profile).await?;
        for write in &writes {
            self.to_person(profile, write).await?;
        }
        Ok(writes.len())
    }

    /// Finishes leaves that a daemon did not complete: queued writes of profiles that left now wait for a person.
    pub(crate) async fn finish_leaving(&self) {
        for profile in self.queues.profiles() {
            if !self.sharing.may_share(&profile)
                && let Err(error) = self.queue_to_person(&profile).await
            {
                tracing::warn!(profile, "what waits for the shared database waits on: {error}");
            }
        }
    }

    /// Does queued writes whenever the database is back, as long as the daemon runs.
    pub(crate) async fn process_queue(self: &Arc<Self>) {
        let mut returns = self.sharing.returns();
        loop {
            self.finish_leaving().await;
            let mut left = 0;
            for profile in self.sharing.joined_profiles() {
                match self.work_off_profile(&profile).await {
                    Ok(waiting) => left += waiting,
                    Err(error) => {
                        left += 1;
                        tracing::warn!(profile, "what waits for the shared database waits on: {error}");
                    }
                }
            }
            let pause = async {
                match left {
                    0 => std::future::pending().await,
                    _ => tokio::time::sleep(PAUSE).await,
                }
            };
            tokio::select! {
                changed = returns.changed() => if changed.is_err() { return },
                () = self.queues.kept.notified() => {}
                () = pause => {}
            }
        }
    }

    /// Does the queued writes of a profile. Returns how many are still waiting.
    async fn work_off_profile(&self, profile: &str) -> Outcome<usize> {
        let writes = self.queued(profile).await?;
        for (at, write) in writes.iter().enumerate() {
            match self.work_off_one(profile, write).await {
                Ok(()) => {}
                Err(Error::Shared(error)) if error.is_passing() => return Ok(writes.len() - at),
                Err(error) => return Err(error),
            }
        }
        Ok(0)
    }

    async fn work_off_one(&self, profile: &str, queued: &QueuedWrite) -> Outcome<()> {
        let is_done = match queued.call() {
            Ok(call) => self.does_as_meant(profile, queued, call).await?,
            Err(_) => false,
        };
        if !is_done {
            return self.to_person(profile, queued).await;
        }
        tracing::info!(profile, id = queued.id, "a write that waited for the shared database is done");
        self.drop_queued(profile, &queued.id).await
    }

    /// Does a queued write, unless the entries that it meant no longer exist; returns false then.
    async fn does_as_meant(&self, profile: &str, queued: &QueuedWrite, call: StagedCall) -> Outcome<bool> {
        let id = format!("{}-queued-{}-{:x}", self.sharing.config().host, queued.id, queued.created_at.to_bits());
        let target = call.call.target;
        loop {
            // Changes by other hosts must be known before this write is judged.
            self.sharing.catch_up(profile, target).await?;
            let view = self.view(profile, target).await?;
            if self.sharing.was_written(profile, target, &id).await? {
                return Ok(true);
            }
            let is_stale = call.expected_revision.is_some_and(|expected| expected != view.revision);
            if is_stale || judge(&call, &view.entries) == WriteValidity::Changed {
                return Ok(false);
            }
            let write = Write {
                edit: Edit::Change { changes: call.call.changes.clone(), drift: call.drift },
                author: Author { session: queued.session.clone(), agent: queued.agent.clone(), host: None },
                // The write was judged at this revision.
                expected_revision: Some(view.revision),
                token: CommitToken::default(),
            };
            // The entry may meanwhile have been marked as one that stays on this host.
            let write = match self.stores.get(profile, target)?.write_bound(write).await? {
                HostBoundWrite::Done(written) => return Ok(written.outcome.is_ok()),
                HostBoundWrite::Not(write) => *write,
            };
            match self.sharing.write(profile, target, write, Some(id.clone())).await {
                Ok(written) => return Ok(written.outcome.is_ok()),
                Err(Error::StaleRevision { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Moves a write that can't be done as intended to a person's approval.
    async fn to_person(&self, profile: &str, queued: &QueuedWrite) -> Outcome<()> {
        let folder = self.profiles.existing(profile)?;
        let (queue, waiting) = (self.queues.of_profile(profile), self.staged.of(profile, &folder));
        let (profile, write) = (profile.to_owned(), queued.clone());
        blocking("a queued write", move || {
            match lock(&queue).hand_over(&write, &mut lock(&waiting), SystemTime::now()) {
                Ok(None) => Ok(()),
                Ok(Some(id)) => {
                    tracing::warn!(profile, id, "a write that waited for the shared database waits for a person now");
                    Ok(())
                }
                // The file stays, so that a person can look at it.
                Err(HandOverError::Nothing(refusal)) => {
                    let id = &write.id;
                    tracing::error!(profile, id, "a write that waits says nothing that can be done: {refusal}");
                    Ok(())
                }
                Err(HandOverError::Disk(error)) => Err(error.into()),
            }
        })
        .await
    }

    async fn drop_queued(&self, profile: &str, id: &str) -> Outcome<()> {
        let (queue, id) = (self.queues.of_profile(profile), id.to_owned());
        blocking("a queued write", move || lock(&queue).discard(&id).map(drop).map_err(Error::from)).await
    }
}

/// Replaces parts of entries in a call with the whole entries, so that its meaning is still known later.
fn exact(call: StagedCall, view: &View) -> StagedCall {
    let whole = |old_text: &mut String| {
        let mut found = view.entries.iter().filter(|entry| entry.contains(old_text.as_str()));
        if let (Some(entry), None) = (found.next(), found.next()) {
            *old_text = entry.to_string();
        }
    };
    let mut call = call;
    let changes = match &mut call.call.changes {
        Changes::Single(change) => std::slice::from_mut(change),
        Changes::Batch { changes, .. } => changes.as_mut_slice(),
    };
    for change in changes {
        match change {
            Change::Replace { old_text, .. } | Change::Remove { old_text } => whole(old_text),
            Change::Add { .. } => {}
        }
    }
    call
}

/// Whether the entries that a call would change are unchanged. Entries that an operation of a batch adds count as
/// existing for the operations after it.
pub(super) fn judge(call: &StagedCall, entries: &[Entry]) -> WriteValidity {
    let mut brought: Vec<&str> = Vec::new();
    let mut all_there = true;
    for change in call.call.changes.list() {
        if let Change::Replace { old_text, .. } | Change::Remove { old_text } = change {
            all_there &= entries.iter().any(|entry| **entry == *old_text)
                || brought.iter().any(|text| text.contains(old_text.as_str()));
        }
        if let Change::Add { content } | Change::Replace { content, .. } = change {
            brought.push(content);
        }
    }
    if all_there { WriteValidity::Same } else { WriteValidity::Changed }
}

#[cfg(test)]
mod tests {
    use herma_memory::change::{Drift, Emptying};
    use herma_memory::tool::Call;

    use super::*;

    fn call(changes: Changes) -> StagedCall {
        let call = Call { target: Target::User, changes };
        StagedCall { call, drift: Drift::Refused, expected_revision: None, is_exact: false }
    }

    fn entries(texts: &[&str]) -> Arc<[Entry]> {
        texts.iter().map(|text| Entry::from(*text)).collect()
    }

    fn view(texts: &[&str]) -> View {
        let entries = entries(texts);
        let shown = Arc::clone(&entries);
        View { target: Target::User, limit: 100, entries, shown, revision: 1, damaged: 0 }
    }

    #[test]
    fn what_a_write_would_change_has_to_be_there_as_it_was() {
        let replace =
            |old: &str| call(Changes::Single(Change::Replace { old_text: old.into(), content: "new".into() }));
        let meant = exact(replace("tea"), &view(&["likes tea", "owns a cat"]));
        assert_eq!(meant, replace("likes tea"));
        for (now, judged) in [
            (&["owns a cat", "likes tea"][..], WriteValidity::Same),
            (&["likes tea a lot"], WriteValidity::Changed),
            (&[], WriteValidity::Changed),
            (&["see: likes tea, elsewhere"], WriteValidity::Changed),
        ] {
            assert_eq!(judge(&meant, &entries(now)), judged, "{now:?}");
        }
        // An operation that extends the entry also contains its text.
        let extends = call(Changes::Single(Change::Replace {
            old_text: "likes tea".into(),
            content: "likes tea and cake".into(),
        }));
        assert_eq!(judge(&extends, &entries(&["likes tea a lot"])), WriteValidity::Changed);
        let add = call(Changes::Single(Change::Add { content: "x".into() }));
        assert_eq!(judge(&add, &entries(&[])), WriteValidity::Same);
    }

    #[test]
    fn a_batch_may_change_what_it_brings() {
        let changes = vec![Change::Add { content: "one two".into() }, Change::Remove { old_text: "one".into() }];
        let batch = call(Changes::Batch { changes, emptying: Emptying::Refused });
        assert_eq!(judge(&exact(batch, &view(&["a"])), &entries(&["a"])), WriteValidity::Same);
    }
}
