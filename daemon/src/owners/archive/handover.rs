//! Sessions that hosts hand over to each other.

use std::collections::HashSet;
use std::sync::Arc;

use herma_archive::handover::{Held, Name, Parts, ReceivedMessages, Takeover, TakeoverResult, Unsent};
use herma_archive::session::SnapshotRow;
use herma_memory::bound;

use super::ArchiveHandle;
use crate::data::clock::unix_now;
use crate::data::error::Outcome;
use crate::data::snapshot_hash::snapshot_hash;

/// Returns the part of a snapshot that other hosts may have.
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
    /// Starts to note which sessions change. Returns true if that is new.
    pub(crate) async fn begin_handing(&self) -> Outcome<bool> {
        self.write(|archive| archive.begin_handing()).await
    }

    /// Returns sessions that changed since they were last published to other hosts.
    pub(crate) async fn unsent(&self, profiles: Vec<String>, most: usize) -> Outcome<Vec<Unsent>> {
        self.read(move |reader| reader.unsent(&profiles, most)).await
    }

    /// Whether a session changed since it was last published to other hosts.
    pub(crate) async fn is_unsent(&self, session: String) -> Outcome<bool> {
        self.read(move |reader| reader.is_unsent(&session)).await
    }

    /// Returns the number of changed sessions.
    pub(crate) async fn count_unsent(&self, profiles: Vec<String>) -> Outcome<u64> {
        self.read(move |reader| reader.count_unsent(&profiles)).await
    }

    /// Returns a session in the form for other hosts, without the memory entries that never leave this host.
    pub(crate) async fn session_parts(&self, session: String) -> Outcome<Option<Parts>> {
        self.read(move |reader| reader.session_parts(&session, (for_others, bound::without_host_bound))).await
    }

    /// Notes that a session was published as of a count of its changes.
    pub(crate) async fn note_published(&self, unsent: Unsent) -> Outcome<()> {
        self.write(move |archive| archive.mark_published(&unsent)).await
    }

    /// Marks the sessions that are not in `known`, by birth and term, for publishing again.
    pub(crate) async fn mark_unpublished(&self, known: HashSet<(String, u64)>) -> Outcome<()> {
        self.write(move |archive| archive.republish_unknown(&known)).await
    }

    /// Returns the profiles with published sessions.
    pub(crate) async fn published_profiles(&self) -> Outcome<Vec<String>> {
        self.read(|reader| reader.published_profiles()).await
    }

    /// Notes that the sessions of a profile are no longer published.
    pub(crate) async fn unpublish(&self, profile: String) -> Outcome<()> {
        self.write(move |archive| archive.stop_publishing(&profile)).await
    }

    /// Returns the former ids of messages that now have other ids.
    pub(crate) async fn strays(&self) -> Outcome<Vec<u64>> {
        self.read(|reader| reader.strays()).await
    }

    /// Forgets former ids, once the database has removed their messages.
    pub(crate) async fn forget_strays(&self, numbers: Vec<u64>) -> Outcome<()> {
        self.write(move |archive| archive.forget_strays(&numbers)).await
    }

    /// Returns the names of a session's messages that this archive has.
    pub(crate) async fn session_names(&self, session: String) -> Outcome<HashSet<Name>> {
        self.read(move |reader| reader.session_names(&session)).await
    }

    /// Notes that messages up to an id may have been uploaded with secrets masked.
    pub(crate) async fn note_masked(&self, identity: u32, through: u64) -> Outcome<()> {
        self.write(move |archive| archive.note_masked(identity, through)).await
    }

    /// Returns the host that holds a session.
    pub(crate) async fn held(&self, session: String) -> Outcome<Option<Held>> {
        self.read(move |reader| reader.held(&session)).await
    }

    /// Returns the sessions that are in use on this host.
    pub(crate) async fn held_in_use(&self, profiles: Vec<String>, since: f64) -> Outcome<Vec<Held>> {
        self.read(move |reader| reader.held_in_use(&profiles, since)).await
    }

    /// Returns the sessions that other hosts hold.
    pub(crate) async fn remote(&self) -> Outcome<Vec<Held>> {
        self.read(|reader| reader.remote()).await
    }

    /// Returns the sessions whose messages came here with them, and the archives they came from.
    pub(crate) async fn received(&self) -> Outcome<Vec<ReceivedMessages>> {
        self.read(|reader| reader.received()).await
    }

    /// Notes that another host holds a session, or that this host holds it again.
    pub(crate) async fn note_holder(&self, session: String, holder: Option<String>, term: u64) -> Outcome<()> {
        self.write(move |archive| archive.note_holder(&session, holder.as_deref(), term, unix_now())).await
    }

    /// Takes over a session as another host published it.
    pub(crate) async fn take_session(&self, taking: Arc<Takeover>) -> Outcome<TakeoverResult> {
        self.write(move |archive| archive.take_session(&taking)).await
    }

    /// Checks whether a session can be taken over.
    pub(crate) async fn try_session(&self, taking: Arc<Takeover>) -> Outcome<()> {
        self.write(move |archive| archive.try_session(&taking)).await
    }
}
