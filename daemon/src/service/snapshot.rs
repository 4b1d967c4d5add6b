//! What is frozen for a session: the rendered blocks of both stores.

use std::sync::{Arc, OnceLock};

use herma_archive::session::SnapshotRow;
use herma_memory::{Target, render};
use serde_json::value::RawValue;

use crate::data::error::Outcome;
use crate::data::snapshot_hash::snapshot_hash;
use crate::owners::stores::Stores;

/// A snapshot, and its answer as JSON: it is asked for before every turn, so that is made once.
#[derive(Debug)]
pub(crate) struct Frozen {
    /// The blocks.
    pub blocks: SnapshotRow,
    answer: OnceLock<Option<Arc<RawValue>>>,
}

impl Frozen {
    /// A snapshot that nobody has asked for yet.
    pub(crate) const fn new(blocks: SnapshotRow) -> Self {
        Self { blocks, answer: OnceLock::new() }
    }

    /// The answer, made by `make` for the first that asks; `None` where it has no JSON form.
    pub(crate) fn answer(&self, make: impl FnOnce(&SnapshotRow) -> Option<Arc<RawValue>>) -> Option<Arc<RawValue>> {
        self.answer.get_or_init(|| make(&self.blocks)).clone()
    }
}

/// The blocks of a profile's stores as they are now.
pub(crate) async fn freeze(stores: &Stores, profile: &str) -> Outcome<SnapshotRow> {
    let memory = stores.get(profile, Target::Memory)?.view().await?;
    let user = stores.get(profile, Target::User)?.view().await?;
    let [memory_block, user_block] = [&memory, &user].map(|view| render::block(view.target, &view.shown, view.limit));
    Ok(SnapshotRow {
        sha256: snapshot_hash(memory_block.as_deref(), user_block.as_deref()),
        memory: memory_block,
        user: user_block,
        memory_revision: memory.revision,
        user_revision: user.revision,
    })
}
