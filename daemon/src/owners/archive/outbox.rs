//! What is brought to the database that hosts share.

use herma_archive::outbox::{Gone, Outbox, Shipped};
use herma_memory::bound;

use super::ArchiveHandle;
use crate::data::error::Outcome;

impl ArchiveHandle {
    /// Some of what is to be brought behind an id, without the entries of the memories that never leave this host.
    pub(crate) async fn outbox(
        &self,
        behind: u64,
        profiles: Vec<String>,
        most: usize,
        bytes: usize,
    ) -> Outcome<Outbox> {
        self.read(move |reader| reader.outbox(behind, &profiles, (most, bytes), bound::prompt_for_others)).await
    }

    /// How much was brought.
    pub(crate) async fn shipped(&self) -> Outcome<Shipped> {
        self.read(|reader| reader.shipped()).await
    }

    /// How many messages are still to be brought.
    pub(crate) async fn unshipped(&self, profiles: Vec<String>) -> Outcome<u64> {
        self.read(move |reader| reader.unshipped(&profiles)).await
    }

    /// Sessions that were removed here and not yet there.
    pub(crate) async fn gone_sessions(&self, most: usize) -> Outcome<Vec<Gone>> {
        self.read(move |reader| reader.gone_sessions(most)).await
    }

    /// Messages of these profiles are about to be brought.
    pub(crate) async fn begin_shipping(&self, profiles: Vec<String>) -> Outcome<()> {
        self.write(move |archive| archive.begin_shipping(&profiles)).await
    }

    /// Messages up to an id are about to be brought.
    pub(crate) async fn note_sent(&self, identity: u32, sent: u64) -> Outcome<()> {
        self.write(move |archive| archive.note_sent(identity, sent)).await
    }

    /// Messages behind an id are to be brought again.
    pub(crate) async fn bring_behind(&self, identity: u32, through: u64) -> Outcome<()> {
        self.write(move |archive| archive.bring_behind(identity, through)).await
    }

    /// All messages up to an id were brought.
    pub(crate) async fn note_shipped(&self, identity: u32, through: u64) -> Outcome<()> {
        self.write(move |archive| archive.note_shipped(identity, through)).await
    }

    /// All messages are to be brought again, as those of another archive.
    pub(crate) async fn ship_as_another(&self) -> Outcome<()> {
        self.write(|archive| archive.ship_as_another()).await
    }

    /// The sessions that stay on this host.
    pub(crate) async fn host_bound(&self) -> Outcome<Vec<String>> {
        self.read(|reader| reader.host_bound()).await
    }

    /// What was brought of a session is to be removed there.
    pub(crate) async fn take_back(&self, session: String) -> Outcome<()> {
        self.write_if_in_use(move |archive| archive.take_back(&session)).await
    }

    /// Sessions that were removed there too.
    pub(crate) async fn forget_gone(&self, gone: Vec<Gone>) -> Outcome<()> {
        self.write(move |archive| archive.forget_gone(&gone)).await
    }
}
