//! Sessions that hosts hand to each other.

use std::collections::HashSet;
use std::sync::Arc;

use herma_archive::handover::{Came, Held, Name, Parts, Taking, Took, Unsent};
use herma_archive::session::SnapshotRow;
use herma_memory::bound;

use super::ArchiveHandle;
use crate::data::clock::unix_now;
use crate::data::error::Outcome;
use crate::data::snapshot_hash::snapshot_hash;

/// What other hosts may have of a snapshot.
fn for_others(snapshot: SnapshotRow) -> SnapshotRow {
    let [memory, user] =
        [&snapshot.memory, &snapshot.user].map(|block| block.as_deref().and_then(bound::block_for_others));
    if (&memory, &user) == (&snapshot.memory, &snapshot.user) {
        snapshot
    } else {
        SnapshotRow { sha256: snapshot_hash(memory.as_deref(), user.as_deref()), memory, user, ..snapshot }
    }
}

impl ArchiveHandle {
    /// Which sessions change is noted from now on; true if it was not before.
    pub(crate) async fn begin_handing(&self) -> Outcome<bool> {
        self.write(|archive| archive.begin_handing()).await
    }

    /// Sessions that changed since they were told to the others.
    pub(crate) async fn unsent(&self, profiles: Vec<String>, most: usize) -> Outcome<Vec<Unsent>> {
        self.read(move |reader| reader.unsent(&profiles, most)).await
    }

    /// Whether a session changed since it was told to the others.
    pub(crate) async fn is_unsent(&self, session: String) -> Outcome<bool> {
        self.read(move |reader| reader.is_unsent(&session)).await
    }

    /// How many there are.
    pub(crate) async fn count_unsent(&self, profiles: Vec<String>) -> Outcome<u64> {
        self.read(move |reader| reader.count_unsent(&profiles)).await
    }

    /// A session as it is told to other hosts, without the entries of the memories that never leave this one.
    pub(crate) async fn session_parts(&self, session: String) -> Outcome<Option<Parts>> {
        self.read(move |reader| reader.session_parts(&session, (for_others, bound::prompt_for_others))).await
    }

    /// A session was told as it was at a count of its changes.
    pub(crate) async fn note_told(&self, unsent: Unsent) -> Outcome<()> {
        self.write(move |archive| archive.note_told(&unsent)).await
    }

    /// The sessions that are not among these, by birth and term, are to be told again.
    pub(crate) async fn tell_again(&self, known: HashSet<(String, u64)>) -> Outcome<()> {
        self.write(move |archive| archive.tell_again(&known)).await
    }

    /// The profiles of which any session is told.
    pub(crate) async fn told_profiles(&self) -> Outcome<Vec<String>> {
        self.read(|reader| reader.told_profiles()).await
    }

    /// The sessions of a profile are not told any more.
    pub(crate) async fn untell(&self, profile: String) -> Outcome<()> {
        self.write(move |archive| archive.untell(&profile)).await
    }

    /// Messages that have other ids now, by those that they had.
    pub(crate) async fn strays(&self) -> Outcome<Vec<u64>> {
        self.read(|reader| reader.strays()).await
    }

    /// They were removed where they had these.
    pub(crate) async fn forget_strays(&self, numbers: Vec<u64>) -> Outcome<()> {
        self.write(move |archive| archive.forget_strays(&numbers)).await
    }

    /// The names of the messages of a session that are here.
    pub(crate) async fn session_names(&self, session: String) -> Outcome<HashSet<Name>> {
        self.read(move |reader| reader.session_names(&session)).await
    }

    /// Messages up to an id may be brought with secrets masked.
    pub(crate) async fn note_masked(&self, identity: u32, through: u64) -> Outcome<()> {
        self.write(move |archive| archive.note_masked(identity, through)).await
    }

    /// Who has a session.
    pub(crate) async fn held(&self, session: String) -> Outcome<Option<Held>> {
        self.read(move |reader| reader.held(&session)).await
    }

    /// The sessions that are in use here.
    pub(crate) async fn held_in_use(&self, profiles: Vec<String>, since: f64) -> Outcome<Vec<Held>> {
        self.read(move |reader| reader.held_in_use(&profiles, since)).await
    }

    /// The sessions that other hosts have.
    pub(crate) async fn elsewhere(&self) -> Outcome<Vec<Held>> {
        self.read(|reader| reader.elsewhere()).await
    }

    /// Messages that came here with sessions.
    pub(crate) async fn came(&self) -> Outcome<Vec<Came>> {
        self.read(|reader| reader.came()).await
    }

    /// Another host has a session, or this one has it again.
    pub(crate) async fn note_holder(&self, session: String, holder: Option<String>, term: u64) -> Outcome<()> {
        self.write(move |archive| archive.note_holder(&session, holder.as_deref(), term, unix_now())).await
    }

    /// Takes a session as another host told it.
    pub(crate) async fn take_session(&self, taking: Arc<Taking>) -> Outcome<Took> {
        self.write(move |archive| archive.take_session(&taking)).await
    }

    /// Whether a session can be taken.
    pub(crate) async fn try_session(&self, taking: Arc<Taking>) -> Outcome<()> {
        self.write(move |archive| archive.try_session(&taking)).await
    }
}
