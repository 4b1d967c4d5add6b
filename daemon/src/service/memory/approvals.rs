//! Staging of writes, and a person's decision about them.

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use herma_memory::change::{self, Change, Changes, Rules};
use herma_memory::entries::normalised;
use herma_memory::pending::{Pending, PendingWrite, StageError, StagedCall};
use herma_memory::tool::Call;
use herma_memory::{Author, Edit, Refusal, Target, View};

use super::queue::{WriteValidity, judge};
use super::staged::lock;
use super::{MemoryService, WriteOutcome, WriteRequest};
use crate::data::error::{Error, Outcome};
use crate::owners::blocking::blocking;
use crate::owners::commit_token::CommitToken;
use crate::owners::store::check_revision;
use crate::service::caller::Caller;

/// The writes that a person decides about.
#[derive(Debug)]
pub(crate) enum Chosen {
    /// The writes with these ids.
    Ids(Vec<String>),
    /// All writes.
    All,
    /// The writes that this session and this agent requested.
    Of {
        /// The session.
        session: Option<String>,
        /// The agent.
        agent: Option<String>,
    },
}

/// The result of an approved write.
#[derive(Debug)]
pub(crate) struct Decided {
    /// The id of the write.
    pub id: String,
    /// The store.
    pub target: Target,
    /// The result of the write.
    pub outcome: Outcome<WriteOutcome>,
    /// Why it still waits although it was done: its file can't be removed.
    pub undiscarded: Option<Error>,
}

impl MemoryService {
    /// Stages a write until a person decides. A write that no store would accept is refused at once.
    pub(super) async fn stage(&self, caller: &Caller, request: WriteRequest) -> Outcome<WriteOutcome> {
        let WriteRequest { target, changes, drift, expected_revision, author } = request;
        let limit = self.stores.limit(caller.profile(), target);
        let findings = match change::check(&changes, Rules { target, limit, drift, policy: &self.policy }) {
            Ok(findings) => findings,
            Err(refusal) => return Ok(WriteOutcome::refused(refusal, None)),
        };
        let view = self.view(caller.profile(), target).await?;
        check_revision(expected_revision, &view)?;
        if let Some(refusal) = too_long(&changes, &view) {
            return Ok(WriteOutcome::refused(refusal, Some(view)));
        }
        let waiting = self.waiting(caller.profile())?;
        if !caller.token.take() {
            return Err(Error::Cancelled("nobody waits for the write any more"));
        }
        let call = StagedCall { call: Call { target, changes }, drift, expected_revision, is_exact: false };
        let staged =
            blocking("staging a write", move || match lock(&waiting).stage(&call, &author, SystemTime::now()) {
                Ok(id) => Ok(Ok(id)),
                Err(StageError::Disk(error)) => Err(Error::from(error)),
                Err(full @ StageError::Full) => Ok(Err(Refusal::NotStaged(full.to_string()))),
            });
        Ok(match staged.await? {
            Ok(id) => {
                self.staged.note_staged(caller.profile(), &id, caller.connection);
                WriteOutcome::Staged { id, target, findings }
            }
            Err(refusal) => WriteOutcome::refused(refusal, None),
        })
    }

    /// Returns the waiting writes of a profile.
    pub(crate) async fn pending(&self, profile: &str) -> Outcome<Vec<PendingWrite>> {
        listed(self.waiting(profile)?).await
    }

    /// Does waiting writes, and returns the result of each. `content` is the text to write instead of the one that was
    /// requested, for a single write.
    pub(crate) async fn approve(
        self: &Arc<Self>,
        caller: &Caller,
        chosen: Chosen,
        content: Option<String>,
    ) -> Outcome<Vec<Decided>> {
        let (service, caller) = (Arc::clone(self), without_cancellation(caller));
        self.run_to_completion(async move { service.approve_now(&caller, chosen, content).await }).await
    }

    /// Drops waiting writes, and returns their ids.
    pub(crate) async fn reject(self: &Arc<Self>, caller: &Caller, chosen: Chosen) -> Outcome<Vec<String>> {
        let (service, caller) = (Arc::clone(self), without_cancellation(caller));
        self.run_to_completion(async move { service.reject_now(&caller, chosen).await }).await
    }

    async fn approve_now(&self, caller: &Caller, chosen: Chosen, content: Option<String>) -> Outcome<Vec<Decided>> {
        let profile = caller.profile();
        let waiting = self.waiting(profile)?;
        let writes = chosen.of(listed(Arc::clone(&waiting)).await?)?;
        if let Some(own) = writes.iter().find(|write| self.staged.is_own(profile, &write.id, caller.connection)) {
            return Err(Error::OwnWrite { id: own.id.clone() });
        }
        let writes = edited(writes, content)?;
        let mut decided = Vec::new();
        for staged in writes {
            let target = staged.target();
            let outcome = self.replay(caller, &staged).await;
            let is_done = outcome.as_ref().is_ok_and(WriteOutcome::is_success);
            let undiscarded = if is_done { self.discard(profile, &waiting, &staged.id).await.err() } else { None };
            if let Some(error) = &undiscarded {
                tracing::error!(id = staged.id, "a write was done and still waits: {error}");
            }
            decided.push(Decided { id: staged.id, target, outcome, undiscarded });
        }
        Ok(decided)
    }

    async fn reject_now(&self, caller: &Caller, chosen: Chosen) -> Outcome<Vec<String>> {
        let waiting = self.waiting(caller.profile())?;
        let mut rejected = Vec::new();
        for write in chosen.of(listed(Arc::clone(&waiting)).await?)? {
            self.discard(caller.profile(), &waiting, &write.id).await?;
            rejected.push(write.id);
        }
        Ok(rejected)
    }

    /// Runs a decision alone, and to its end even if the caller goes away: a write that was done must not keep waiting.
    async fn run_to_completion<T: Send + 'static>(
        &self,
        decide: impl Future<Output = Outcome<T>> + Send + 'static,
    ) -> Outcome<T> {
        let staged = Arc::clone(&self.staged);
        let work = tokio::spawn(async move {
            let _alone = staged.deciding().await;
            decide.await
        });
        work.await.unwrap_or_else(|_| Err(Error::internal("deciding about pending writes")))
    }

    async fn replay(&self, caller: &Caller, staged: &PendingWrite) -> Outcome<WriteOutcome> {
        match staged.call() {
            Ok(call)
                if call.is_exact
                    && judge(&call, &self.view(caller.profile(), staged.target()).await?.entries)
                        == WriteValidity::Changed =>
            {
                let words =
                    "what it was meant to change is not there any more; reject it, or write what you want instead";
                Ok(WriteOutcome::refused(Refusal::NotStaged(words.to_owned()), None))
            }
            Ok(StagedCall { call: Call { target, changes }, drift, expected_revision, .. }) => {
                let (session, agent) = (staged.session.clone(), staged.agent.clone());
                let author = Author { session, agent, host: None };
                self.write(caller, target, Edit::Change { changes, drift }, expected_revision, author).await
            }
            Err(refusal) => Ok(WriteOutcome::refused(refusal, None)),
        }
    }

    fn waiting(&self, profile: &str) -> Outcome<Arc<Mutex<Pending>>> {
        let folder = self.profiles.existing(profile)?;
        Ok(self.staged.of(profile, &folder))
    }

    async fn discard(&self, profile: &str, waiting: &Arc<Mutex<Pending>>, id: &str) -> Outcome<()> {
        let (waiting, name) = (Arc::clone(waiting), id.to_owned());
        blocking("a pending write", move || lock(&waiting).discard(&name).map_err(Error::from)).await?;
        self.staged.forget(profile, id);
        Ok(())
    }
}

impl Chosen {
    /// Returns the chosen writes, oldest first.
    fn of(self, writes: Vec<PendingWrite>) -> Outcome<Vec<PendingWrite>> {
        let ids = match self {
            Self::All => return Ok(writes),
            Self::Of { session, agent } => {
                let is_of = |wanted: &Option<String>, by: &Option<String>| wanted.is_none() || wanted == by;
                let chosen =
                    writes.into_iter().filter(|write| is_of(&session, &write.session) && is_of(&agent, &write.agent));
                return Ok(chosen.collect());
            }
            Self::Ids(ids) => ids,
        };
        if let Some(unknown) = ids.iter().find(|id| !writes.iter().any(|write| write.id == **id)) {
            return Err(Error::NoPendingWrite { id: unknown.chars().take(80).collect() });
        }
        Ok(writes.into_iter().filter(|write| ids.contains(&write.id)).collect())
    }
}

/// Returns the writes with a person's text, if there is one: then it must be a single write that has a text.
fn edited(writes: Vec<PendingWrite>, content: Option<String>) -> Outcome<Vec<PendingWrite>> {
    let Some(content) = content else { return Ok(writes) };
    let one: [PendingWrite; 1] =
        writes.try_into().map_err(|_| Error::param("content", "a text is for one write; name one id"))?;
    let [write] = one;
    let written = write
        .with_content(content)
        .ok_or_else(|| Error::param("content", "the write has no text: it removes an entry, or does several things"))?;
    Ok(vec![written])
}

/// Refuses a text that is longer than a whole store.
fn too_long(changes: &Changes, view: &View) -> Option<Refusal> {
    let (Changes::Single(Change::Add { content } | Change::Replace { content, .. }), View { target, limit, .. }) =
        (changes, view)
    else {
        return None;
    };
    let total = normalised(content).chars().count();
    let adding = matches!(changes, Changes::Single(Change::Add { .. }));
    let current = view.usage().chars;
    (total > *limit).then_some(Refusal::Overflow { target: *target, current, total, limit: *limit, adding })
}

/// Returns the caller with a new token, so that its disconnection cancels nothing.
fn without_cancellation(caller: &Caller) -> Caller {
    Caller { token: CommitToken::default(), ..caller.clone() }
}

async fn listed(waiting: Arc<Mutex<Pending>>) -> Outcome<Vec<PendingWrite>> {
    blocking("pending writes", move || match lock(&waiting).reload(SystemTime::now()) {
        Ok(writes) => Ok(writes.to_vec()),
        Err(error) => Err(Error::from(error)),
    })
    .await
}
