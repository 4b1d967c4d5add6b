//! Tool outputs: kept by the room `spill`, put into the recall index, cleared away when they
//! are too many.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use herma_spill::Outputs;
use herma_spill::handle::{Handle, split_line};
use tokio::sync::Notify;

use super::recall_index::IndexNotes;
use crate::data::error::{Error, Outcome};

/// The outputs of a home.
#[derive(Debug)]
pub(crate) struct SpilledOutputs {
    /// The outputs themselves.
    pub kept: Arc<Outputs>,
    folder: PathBuf,
    quota: u64,
    index: Arc<IndexNotes>,
    /// There are more bytes than may be.
    pub over_quota: Notify,
}

impl SpilledOutputs {
    /// The outputs of a home, which may have so many bytes together.
    pub(crate) fn new(kept: Arc<Outputs>, home: &Path, quota: u64, index: Arc<IndexNotes>) -> Self {
        Self { kept, folder: home.join("herma/outputs"), quota, index, over_quota: Notify::new() }
    }

    /// What follows from it that an output was spilled: it can be recalled, and others may have
    /// to go.
    pub(crate) fn spilled(&self, handle: &Handle) {
        self.index.note(&handle.to_string());
        if self.kept.usage().1 > self.quota {
            self.over_quota.notify_one();
        }
    }

    /// An output belongs to the profile of its session.
    pub(crate) fn check_profile(&self, named: Option<&str>, handle: &str) -> Outcome<()> {
        let (name, _) = split_line(handle);
        let record = Handle::parse(name).and_then(|handle| self.kept.record(handle));
        match (named, record) {
            (Some(named), Some(record)) if !record.profile.is_empty() && *named != *record.profile => {
                let own = &record.profile;
                Err(Error::Conflict(format!("the output {name} belongs to the profile {own:?}, not {named:?}")))
            }
            _ => Ok(()),
        }
    }

    /// The handle of the output at a path.
    pub(crate) fn at_path(&self, path: &str) -> Option<String> {
        let inside = Path::new(path).strip_prefix(&self.folder).ok()?;
        Some(Handle::of(inside.to_str()?).to_string())
    }
}
