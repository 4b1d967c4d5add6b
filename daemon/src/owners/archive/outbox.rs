//! The outbox: messages to upload to the database that hosts share.

use herma_archive::outbox::{Gone, Outbox, Shipped};
use herma_memory::bound;

use super::ArchiveHandle;
use crate::data::error::Outcome;

impl ArchiveHandle {
    /// Returns some messages to upload after an id, without the memory entries that never leave this host.
    pub(crate) async fn outbox(
        &self,
        behind: u64,
        profiles: Vec<String>,
        most: usize,
        bytes: usize,
    ) -> Outcome<Outbox> {
        self.read(move |reader| reader.outbox(behind, &profiles, (most, bytes), bound::without_host_bound)).await
    }

    /// Returns how much was uploaded.
    pub(crate) async fn shipped(&self) -> Outcome<Shipped> {
        self.read(|reader| reader.shipped()).await
    }

    /// Returns the number of messages that are still to be uploaded.
    pub(crate) async fn unshipped(&self, profiles: Vec<String>) -> Outcome<u64> {
        self.read(move |reader| reader.unshipped(&profiles)).await
    }

    /// Returns sessions that were removed here but not yet in the database.
    pub(crate) async fn gone_sessions(&self, most: usize) -> Outcome<Vec<Gone>> {
        self.read(move |reader| reader.gone_sessions(most)).await
    }

    /// Prepares the upload of messages of these profiles.
    pub(crate) async fn begin_shipping(&self, profiles: Vec<String>) -> Outcome<()> {
        self.write(move |archive| archive.begin_shipping(&profiles)).await
    }

    /// Notes that messages up to an id are about to be uploaded.
    pub(crate) async fn note_sent(&self, identity: u32, sent: u64) -> Outcome<()> {
        self.write(move |archive| archive.note_sent(identity, sent)).await
    }

    /// Marks the messages after an id for uploading again.
    pub(crate) async fn upload_again_after(&self, identity: u32, through: u64) -> Outcome<()> {
        self.write(move |archive| archive.upload_again_after(identity, through)).await
    }

    /// Notes that all messages up to an id were uploaded.
    pub(crate) async fn note_shipped(&self, identity: u32, through: u64) -> Outcome<()> {
        self.write(move |archive| archive.note_shipped(identity, through)).await
    }

    /// Marks all messages for uploading again, as those of another archive.
    pub(crate) async fn reset_identity(&self) -> Outcome<()> {
        self.write(|archive| archive.reset_identity()).await
    }

    /// Returns the sessions that never leave this host.
    pub(crate) async fn host_bound(&self) -> Outcome<Vec<String>> {
        self.read(|reader| reader.host_bound()).await
    }

    /// Marks the uploaded messages of a session for removal from the database.
    pub(crate) async fn mark_for_removal(&self, session: String) -> Outcome<()> {
        self.write_if_in_use(move |archive| archive.schedule_removal(&session)).await
    }

    /// Forgets sessions that were also removed from the database.
    pub(crate) async fn forget_gone(&self, gone: Vec<Gone>) -> Outcome<()> {
        self.write(move |archive| archive.forget_gone(&gone)).await
    }
}
