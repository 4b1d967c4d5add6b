//! Rewrites of archived texts.

use herma_archive::Archive;
use herma_archive::scrub::StoredMessage;
use herma_context::Scrub;
use herma_guard::SecretCounts;

use super::ArchiveHandle;
use crate::data::error::Outcome;

impl ArchiveHandle {
    /// Returns the messages after an id, up to that many bytes, and the largest id that there may be.
    pub(crate) async fn messages_after(&self, id: i64, bytes: usize) -> Outcome<(Vec<StoredMessage>, i64)> {
        self.read(move |reader| Ok((reader.messages_after(id, bytes)?, reader.last_id()?))).await
    }

    /// Replaces the texts of messages.
    pub(crate) async fn rewrite_messages(&self, messages: Vec<StoredMessage>) -> Outcome<()> {
        self.write(move |archive| archive.rewrite_messages(&messages)).await
    }

    /// Removes secrets from all other texts, and calls `found` with each of them. With `dry_run` nothing is written.
    /// Returns how many texts change, and how many secrets are in them.
    pub(crate) async fn rewrite_texts(
        &self,
        dry_run: bool,
        mut found: impl FnMut(&str) + Send + 'static,
    ) -> Outcome<(u64, SecretCounts)> {
        self.write(move |archive| {
            let scrub = Scrub::new(&mut found);
            let changed = archive.rewrite_texts(&mut |text| scrub.text(text), dry_run)?;
            Ok((changed, scrub.secrets()))
        })
        .await
    }

    /// Removes some words of removed messages from the index. Returns true while there are more.
    pub(crate) async fn forget_some(&self) -> Outcome<bool> {
        self.write(Archive::forget_step).await
    }
}
