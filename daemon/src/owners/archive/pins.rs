//! The pinned messages of sessions.

use herma_archive::pin::PinRow;

use super::ArchiveHandle;
use crate::data::clock::unix_now;
use crate::data::error::Outcome;

impl ArchiveHandle {
    /// The pins of a session that are in force; none without an archive.
    pub(crate) async fn pins(&self, session: String) -> Outcome<Vec<PinRow>> {
        if !self.is_in_use() {
            return Ok(Vec::new());
        }
        self.read(move |reader| reader.pins(&session, unix_now())).await
    }

    /// Keeps a pin, if `allowed` says so of those that there are by then; its words if it does not.
    pub(crate) async fn add_pin<Allowed>(
        &self,
        session: String,
        row: PinRow,
        allowed: Allowed,
    ) -> Outcome<Option<String>>
    where
        Allowed: FnOnce(&[PinRow]) -> Option<String> + Send + 'static,
    {
        self.write(move |archive| {
            let refused = allowed(&archive.reader().pins(&session, row.at)?);
            if refused.is_none() {
                archive.save_pin(&session, &row)?;
            }
            Ok(refused)
        })
        .await
    }

    /// Forgets a pin; false where there is none of that name.
    pub(crate) async fn remove_pin(&self, session: String, id: String) -> Outcome<bool> {
        self.write(move |archive| archive.remove_pin(&session, &id)).await
    }
}
