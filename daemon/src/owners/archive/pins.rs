//! The pinned messages of sessions.

use herma_archive::pin::PinRow;

use super::ArchiveHandle;
use crate::data::clock::unix_now;
use crate::data::error::Outcome;

impl ArchiveHandle {
    /// Returns the pins of a session that are in force; none without an archive.
    pub(crate) async fn pins(&self, session: String) -> Outcome<Vec<PinRow>> {
        if !self.is_in_use() {
            return Ok(Vec::new());
        }
        self.read(move |reader| reader.pins(&session, unix_now())).await
    }

    /// Stores a pin, if `allowed` permits it given the current pins; otherwise returns its reason.
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

    /// Removes a pin. Returns false if there is none with this id.
    pub(crate) async fn remove_pin(&self, session: String, id: String) -> Outcome<bool> {
        self.write(move |archive| archive.remove_pin(&session, &id)).await
    }
}
