//! Reconciles the catalog with the folders.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, SystemTime};

use herma_disk::regular::Regular;
use herma_disk::stamp::Stamp;
use herma_disk::{DiskError, file, folder, process};
use sha2::{Digest, Sha256};

use super::read::each_block;
use super::{FILE_LIMIT, INDEX_SUFFIX, Outputs, SUFFIX, TEMPORARY};
use crate::catalog::row::{Begun, Row};
use crate::catalog::{Reason, State};
use crate::error::SpillError;
use crate::facts::{Facts, count_chars, count_newlines};
use crate::handle::Handle;
use crate::name;

/// The result of a sweep.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Temporary files, and indexes without their output, that were removed.
    pub leftovers: usize,
    /// Outputs that were removed because a killed daemon never returned their handles.
    pub orphans: usize,
    /// Files without a record that are outputs now.
    pub adopted: usize,
    /// Outputs that expired because their file was gone.
    pub gone: usize,
}

/// What to do with files that the catalog does not list as kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// They are removed.
    Go,
    /// Begun files are outputs; expired ones are removed.
    BegunAreOutputs,
    /// All are outputs, because the catalog may lack rows about them.
    AreOutputs,
}

impl Outputs {
    /// Reconciles the catalog with the folders after a start. Removes leftovers of a killed daemon, adopts files
    /// without a record, and marks outputs whose file is gone as expired. Only the holder of the home's lock may call
    /// this. `now` is in Unix seconds.
    ///
    /// # Errors
    /// The root can't be listed. A problem in a folder below it causes a notice.
    pub fn sweep(&self, now: f64) -> Result<Swept, DiskError> {
        self.catalog().sweep()?;
        let boot = process::boot();
        let unanswered = {
            let catalog = self.catalog();
            // After a power cut the catalog may lack rows about a file that is there.
            let is_same_boot = boot.is_some() && catalog.known.boot == boot;
            match (catalog.is_doubtful, is_same_boot) {
                (true, _) => Unanswered::AreOutputs,
                (false, true) => Unanswered::Go,
                (false, false) => Unanswered::BegunAreOutputs,
            }
        };
        let swept = self.reconcile(now, Duration::ZERO, unanswered)?;
        let mut catalog = self.catalog();
        if self.is_stopped() {
            // Files that the catalog lists as begun are left to the next start.
            return Ok(swept);
        }
        catalog.known.begun.clear();
        catalog.is_doubtful = false;
        if let Some(boot) = boot {
            catalog.known.boot = Some(boot.clone());
            catalog.append(&Row::Opened { boot });
        }
        catalog.tidy(now);
        Ok(swept)
    }

    /// Does what [`Outputs::sweep`] does, but removes only temporary files that are older than `age`.
    pub(super) fn reconcile(&self, now: f64, age: Duration, unanswered: Unanswered) -> Result<Swept, DiskError> {
        let mut swept = Swept::default();
        let mut kept: HashMap<String, Vec<(Handle, String)>> = HashMap::new();
        for record in self.kept() {
            if let Some((folder, name)) = record.file.split_once('/') {
                kept.entry(folder.to_owned()).or_default().push((record.handle, name.to_owned()));
            }
        }
        let mut folders: HashSet<String> = folder::names(&self.root)?.into_iter().collect();
        folders.extend(kept.keys().cloned());
        for folder in folders {
            if self.is_stopped() {
                break;
            }
            let below = self.root.join(&folder);
            if name::safe(&folder) != folder || (below.exists() && !below.is_dir()) {
                continue;
            }
            let expected = kept.remove(&folder).unwrap_or_default();
            if let Err(error) = self.reconcile_folder(&folder, &expected, now, age, unanswered, &mut swept) {
                self.catalog().notice(format!("outputs in a folder could not be looked through: {error}"));
            }
        }
        Ok(swept)
    }

    fn reconcile_folder(
        &self,
        folder: &str,
        expected: &[(Handle, String)],
        now: f64,
        age: Duration,
        unanswered: Unanswered,
        swept: &mut Swept,
    ) -> Result<(), DiskError> {
        let below = self.root.join(folder);
        let names: HashSet<String> = folder::names(&below)?.into_iter().collect();
        if names.is_empty() {
            self.remove_folder(folder)?;
        }
        for name in &names {
            if self.is_stopped() {
                return Ok(());
            }
            let path = below.join(name);
            if name.starts_with(TEMPORARY.prefix) && name.ends_with(TEMPORARY.suffix) {
                let is_old = age.is_zero() || Stamp::now(&path)?.is_some_and(|stamp| is_older(&stamp, age));
                if is_old && !self.path_locks.is_busy(folder) {
                    file::remove(&path)?;
                    swept.leftovers += 1;
                }
            } else if let Some(output) = name.strip_suffix(INDEX_SUFFIX) {
                if !names.contains(&format!("{output}{SUFFIX}")) && !self.path_locks.is_busy(folder) {
                    file::remove(&path)?;
                    swept.leftovers += 1;
                }
            } else if name.ends_with(SUFFIX) && name::safe(name) == *name {
                self.reconcile_file(folder, name, now, unanswered, swept)?;
            }
        }
        for (handle, name) in expected.iter().filter(|(_, name)| !names.contains(name)) {
            let Some(_lock) = self.path_locks.now(*handle, folder) else { continue };
            if Stamp::now(&below.join(name))?.is_none() {
                let mut catalog = self.catalog();
                if catalog.known.expire(*handle, now, Reason::Removed).is_some() {
                    let handle = handle.to_string();
                    catalog.append(&Row::Expired { handle, at: now, reason: Reason::Removed });
                    swept.gone += 1;
                }
            }
        }
        Ok(())
    }

    /// Removes or adopts a file that is not a kept output.
    fn reconcile_file(
        &self,
        folder: &str,
        name: &str,
        now: f64,
        unanswered: Unanswered,
        swept: &mut Swept,
    ) -> Result<(), DiskError> {
        let file = format!("{folder}/{name}");
        let handle = Handle::of(&file);
        let (begun, is_expired) = {
            let catalog = self.catalog();
            let record = catalog.known.get(handle);
            if record.is_some_and(|record| record.state == State::Kept) {
                return Ok(());
            }
            (catalog.known.begun.get(&handle).cloned(), record.is_some())
        };
        let Some(_lock) = self.path_locks.now(handle, folder) else { return Ok(()) };
        if self.catalog().known.is_kept(handle) {
            return Ok(());
        }
        let goes = match (&begun, unanswered) {
            (_, Unanswered::AreOutputs) => false,
            (Some(_), Unanswered::Go) => true,
            (Some(_), Unanswered::BegunAreOutputs) => false,
            // An expired output whose file is still there: its removal failed.
            (None, _) => is_expired,
        };
        if goes {
            self.remove_file(&file)?;
            swept.orphans += 1;
            return Ok(());
        }
        let begun = begun.unwrap_or_else(|| found(folder, name, handle));
        if self.adopt(&begun, &self.root.join(&file), now)? {
            swept.adopted += 1;
        }
        Ok(())
    }

    /// Adopts a file as an output. If it can't be one, there is only a notice.
    fn adopt(&self, begun: &Begun, path: &Path, now: f64) -> Result<bool, DiskError> {
        let file = match self.open_inside(path, &begun.file) {
            Ok(file) if file.length() <= FILE_LIMIT => file,
            _ => return Ok(false),
        };
        match measure(&file) {
            Ok(facts) => {
                self.put_record(begun, facts, file.length(), file.stamp().modified_at().min(now));
                Ok(true)
            }
            Err(SpillError::Disk(error)) => Err(error),
            Err(error) => {
                self.catalog().notice(format!("a file among the outputs is none: {error}"));
                Ok(false)
            }
        }
    }
}

/// Returns the origin of a file that was only found.
fn found(folder: &str, name: &str, handle: Handle) -> Begun {
    Begun {
        handle: handle.to_string(),
        session: folder.to_owned(),
        profile: String::new(),
        tool: String::new(),
        id: name.strip_suffix(SUFFIX).unwrap_or(name).to_owned(),
        file: format!("{folder}/{name}"),
    }
}

fn is_older(stamp: &Stamp, age: Duration) -> bool {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    now - stamp.modified_at() > age.as_secs_f64()
}

/// Counts and hashes a file, block by block.
fn measure(file: &Regular) -> Result<Facts, SpillError> {
    let (mut chars, mut newlines, mut hash, mut is_open) = (0, 0, Sha256::new(), false);
    each_block(file, |block| {
        let bytes = block.as_bytes();
        chars += count_chars(bytes);
        newlines += count_newlines(bytes);
        hash.update(bytes);
        is_open = bytes.last().map_or(is_open, |last| *last != b'\n');
    })?;
    Ok(Facts { chars, lines: newlines + u64::from(is_open), sha256: hash.finalize().into() })
}
