//! Tool outputs: kept by the crate `spill`, indexed for recall, and removed when they are too many.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use herma_spill::Outputs;
use herma_spill::handle::{Handle, split_line};
use herma_spill::outputs::Origin;
use tokio::sync::Notify;

use super::recall_index::IndexNotes;
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::owners::blocking::blocking;
use crate::owners::sharing::{FetchedOutput, Sharing};

/// The outputs of a home.
#[derive(Debug)]
pub(crate) struct SpilledOutputs {
    /// The outputs themselves.
    pub kept: Arc<Outputs>,
    folder: PathBuf,
    quota: u64,
    index: Arc<IndexNotes>,
    /// Access to the outputs of other hosts.
    sharing: Arc<Sharing>,
    /// Notifies that the outputs exceed the quota.
    pub over_quota: Notify,
}

impl SpilledOutputs {
    /// Creates the outputs of a home, with a quota in bytes.
    pub(crate) fn new(
        kept: Arc<Outputs>,
        home: &Path,
        quota: u64,
        index: Arc<IndexNotes>,
        sharing: Arc<Sharing>,
    ) -> Self {
        Self { kept, folder: home.join("herma/outputs"), quota, index, sharing, over_quota: Notify::new() }
    }

    /// Handles a newly spilled output: queues it for indexing, and triggers removal if the quota is exceeded.
    pub(crate) fn spilled(&self, handle: &Handle) {
        self.index.note(&handle.to_string());
        if self.kept.usage().1 > self.quota {
            self.over_quota.notify_one();
        }
    }

    /// Checks the profile of a request. An output belongs to the profile of its session.
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

    /// Fetches an output that this host never had from a host that has it, and keeps it here. It is no error if no host
    /// has it.
    pub(crate) async fn fetch_missing(&self, name: &str, profile: Option<&str>) -> Outcome<()> {
        let (name, _) = split_line(name);
        let Some(handle) = Handle::parse(name).filter(|handle| self.kept.record(*handle).is_none()) else {
            return Ok(());
        };
        let Some(FetchedOutput { output, text }) = self.sharing.fetch_output(name, profile).await? else {
            return Ok(());
        };
        let kept = Arc::clone(&self.kept);
        let found = blocking("an output of another host", move || {
            let origin =
                Origin { session: &output.session, profile: &output.profile, tool: &output.tool, id: &output.call };
            Ok(kept.keep_as_remote(handle, &origin, &text, unix_now())?)
        });
        match found.await? {
            Some(kept) => self.spilled(&kept.handle),
            None => {
                return Err(Error::Conflict(format!(
                    "the output {name} has a name on its host that it can't have here"
                )));
            }
        }
        Ok(())
    }

    /// Returns the handle of the output at a path.
    pub(crate) fn at_path(&self, path: &str) -> Option<String> {
        let inside = Path::new(path).strip_prefix(&self.folder).ok()?;
        Some(Handle::of(inside.to_str()?).to_string())
    }
}

/// Returns the result of reading an output. If none was found, returns why it could not be fetched from another host.
pub(crate) fn found_or_fetched<T>(read: Outcome<T>, fetched: Outcome<()>) -> Outcome<T> {
    match (read, fetched) {
        (Err(error), Err(remote)) if error.is_missing() => Err(remote),
        (read, _) => read,
    }
}
