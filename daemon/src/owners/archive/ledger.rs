//! Changes in context windows, with the calls around them.

use std::collections::HashMap;

use herma_archive::ledger::{Call, Change, Kept, LedgerQuery, SessionLedger};

use super::ArchiveHandle;
use crate::data::error::Outcome;

impl ArchiveHandle {
    /// Stores calls and changes of a session, all or none. Returns how many of each are new.
    pub(crate) async fn record_ledger(
        &self,
        session: String,
        calls: Vec<Call>,
        changes: Vec<Change>,
    ) -> Outcome<(usize, usize)> {
        self.write(move |archive| {
            let mut kept = (0, 0);
            archive.together(|archive| {
                for call in &calls {
                    kept.0 += usize::from(archive.record_call(&session, call)?);
                }
                for change in &changes {
                    kept.1 += usize::from(archive.record_change(&session, change)?);
                }
                Ok(())
            })?;
            Ok(kept)
        })
        .await
    }

    /// Returns the agent of every session that has one.
    pub(crate) async fn agents(&self) -> Outcome<HashMap<String, String>> {
        self.read(herma_archive::Reader::agents).await
    }

    /// Returns how many messages are kept of every session, and how many compressions there were.
    pub(crate) async fn kept(
        &self,
        session: Option<String>,
        profile: Option<String>,
        since: Option<f64>,
    ) -> Outcome<Vec<Kept>> {
        self.read(move |reader| {
            let query = LedgerQuery { session: session.as_deref(), profile: profile.as_deref(), since };
            reader.kept(&query)
        })
        .await
    }

    /// Returns the ledgers of sessions in which something changed.
    pub(crate) async fn ledgers(
        &self,
        session: Option<String>,
        profile: Option<String>,
        since: Option<f64>,
    ) -> Outcome<Vec<SessionLedger>> {
        self.read(move |reader| {
            let query = LedgerQuery { session: session.as_deref(), profile: profile.as_deref(), since };
            reader.ledgers(&query)
        })
        .await
    }
}
