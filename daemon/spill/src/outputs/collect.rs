//! Removes outputs: those that a retention plan names, a single one, or all of a session.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::PoisonError;
use std::time::Duration;

use herma_disk::{DiskError, folder};

use super::Outputs;
use super::sweep::Unanswered;
use crate::SpillError;
use crate::catalog::row::Row;
use crate::catalog::{Reason, Record, State};
use crate::error::shorten;
use crate::handle::{Handle, split_line};
use crate::name;
use crate::retention::{self, Clock, Retention, SessionState};

/// The age from which a temporary file counts as a leftover.
const LEFTOVER: Duration = Duration::from_mins(1);

/// The maximum number of a session's files that are removed before the catalog notes it.
const AT_ONCE: usize = 256;

/// An output that no longer exists.
#[derive(Debug, Clone, PartialEq)]
pub struct Expired {
    /// The handle of the output.
    pub handle: Handle,
    /// The session that it belonged to.
    pub session: String,
    /// The tool that it was a result of.
    pub tool: String,
    /// The id of the call.
    pub id: String,
    /// Bytes of its text.
    pub bytes: u64,
    /// Chars of its text.
    pub chars: u64,
    /// SHA-256 of its text.
    pub sha256: [u8; 32],
    /// Why it expired.
    pub reason: Reason,
    /// When, in Unix seconds.
    pub at: f64,
}

/// An output that a caller removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Gone {
    /// Bytes of its text.
    pub bytes: u64,
    /// The output, if it had a record.
    pub expired: Option<Expired>,
}

/// The result of a collection.
#[derive(Debug, Default)]
pub struct Collected {
    /// The outputs that were removed, or would be.
    pub expired: Vec<Expired>,
    /// The number of outputs that are kept.
    pub files_left: u64,
    /// Their bytes, each content once.
    pub bytes_left: u64,
    /// Bytes that were freed on the disk; in a dry run the bytes that the catalog counts.
    pub freed_bytes: u64,
    /// Files that could not be removed; the next collection tries again.
    pub failures: Vec<DiskError>,
}

impl Outputs {
    /// Removes the outputs of a [`retention::plan`], leftovers, and the session folders that are empty then. A dry run
    /// only reports what it would remove.
    ///
    /// # Errors
    /// The root can't be listed.
    pub fn collect(
        &self,
        sessions: impl Fn(&str) -> SessionState,
        limits: Retention,
        clock: Clock,
        dry_run: bool,
    ) -> Result<Collected, DiskError> {
        let clock = self.catalog().believed(clock);
        let at = clock.now();
        if !dry_run {
            self.reconcile(at, LEFTOVER, Unanswered::BegunAreOutputs)?;
        }
        let kept = self.kept();
        let facts: Vec<retention::Facts<'_>> = kept
            .iter()
            .map(|record| retention::Facts {
                handle: record.handle,
                session: &record.session,
                bytes: record.bytes,
                content: record.sha256,
                created_at: record.created_at,
            })
            .collect();
        let plan = retention::plan(&facts, sessions, limits, clock);
        let mut collected = Collected::default();
        if dry_run {
            self.foretell(&plan, at, &mut collected);
            return Ok(collected);
        }
        let mut folders = BTreeSet::new();
        for (handle, reason) in plan {
            if self.is_stopped() {
                break;
            }
            let Some(record) = self.record(handle) else { continue };
            // A busy one is just being kept again.
            let Some(_lock) = self.path_locks.now(handle, record.folder()) else { continue };
            let Some((expired, freed)) = self.expire(handle, at, reason) else { continue };
            collected.expired.push(expired);
            match freed {
                Ok(bytes) => collected.freed_bytes += bytes,
                Err(error) => collected.failures.push(error),
            }
            folders.insert(record.folder().to_owned());
        }
        for folder in folders {
            collected.failures.extend(self.remove_folder(&folder).err());
        }
        let mut catalog = self.catalog();
        if !self.is_stopped() {
            catalog.seen(clock);
            catalog.tidy(at);
        }
        (collected.files_left, collected.bytes_left) = catalog.known.usage();
        Ok(collected)
    }

    fn foretell(&self, plan: &[(Handle, Reason)], at: f64, collected: &mut Collected) {
        let mut left = crate::catalog::known::Known::default();
        self.kept().into_iter().for_each(|record| left.put(record));
        let (_, before) = left.usage();
        for (handle, reason) in plan {
            if let Some(record) = left.expire(*handle, at, *reason) {
                collected.expired.push(expired(&record, at, *reason));
            }
        }
        (collected.files_left, collected.bytes_left) = left.usage();
        collected.freed_bytes = before - collected.bytes_left;
    }

    /// Marks a kept output as expired, then removes its file. Returns `None` if it is not kept. Only the holder of its
    /// lock may call this.
    fn expire(&self, handle: Handle, at: f64, reason: Reason) -> Option<(Expired, Result<u64, DiskError>)> {
        let record = {
            let mut catalog = self.catalog();
            let record = catalog.known.expire(handle, at, reason)?;
            catalog.append(&Row::Expired { handle: handle.to_string(), at, reason });
            record
        };
        let freed = self.remove_file(&record.file);
        Some((expired(&record, at, reason), freed))
    }

    /// Removes an output, which is then remembered as expired. Returns how many bytes its text had. `now` is in Unix
    /// seconds.
    ///
    /// # Errors
    /// There is no such output, it expired before, or its file can't be removed.
    pub fn remove(&self, handle: &str, now: f64) -> Result<Gone, SpillError> {
        let not_found = || SpillError::NotFound(shorten(handle));
        let parsed = Handle::parse(split_line(handle).0).ok_or_else(not_found)?;
        let (file, length) = match self.record(parsed) {
            Some(record) => (record.file.to_string(), record.bytes),
            None => {
                let file = self.find(handle)?;
                let name = file.path().strip_prefix(&self.root).ok().and_then(|name| name.to_str());
                (name.ok_or_else(not_found)?.to_owned(), file.length())
            }
        };
        let folder = file.split('/').next().unwrap_or_default();
        let _lock = self.path_locks.wait(parsed, folder);
        match self.record(parsed).map(|record| (record.state, record)) {
            Some((State::Expired { at, reason }, record)) => {
                let (bytes, sha256) = (record.bytes, record.sha256);
                Err(SpillError::Expired { handle: parsed, at, bytes, sha256, reason })
            }
            Some((State::Kept, _)) => {
                let (expired, freed) = self.expire(parsed, now, Reason::Removed).ok_or_else(not_found)?;
                freed?;
                Ok(Gone { bytes: expired.bytes, expired: Some(expired) })
            }
            // It has no record yet.
            None => {
                self.remove_file(&file)?;
                Ok(Gone { bytes: length, expired: None })
            }
        }
    }

    /// Removes the folder of a session if it is empty and no thread is about to write a file there. A thread that does
    /// so at this moment creates the folder again.
    pub(super) fn remove_folder(&self, folder: &str) -> Result<(), DiskError> {
        let remove = || {
            self.durable.lock().unwrap_or_else(PoisonError::into_inner).remove(folder);
            folder::remove_empty(&self.root.join(folder)).map(drop)
        };
        self.path_locks.while_free(folder, remove).unwrap_or(Ok(()))
    }

    /// Removes and forgets all outputs of a session, including those that were only found in its folder, whose session
    /// is known from the folder's name alone. Returns the removed outputs; those without a record only have their
    /// bytes.
    ///
    /// # Errors
    /// A file can't be removed; those before it are gone.
    pub fn remove_session(&self, session: &str, now: f64) -> Result<Vec<Gone>, DiskError> {
        let folder = name::safe(session);
        let records: Vec<Record> = self.list(Some(session), usize::MAX);
        let mut gone = Vec::new();
        let below = self.root.join(&folder);
        let mut left = records.as_slice();
        while !left.is_empty() {
            left = self.remove_some(left, &below, now, &mut gone)?;
        }
        for name in folder::names(&below)? {
            if name.ends_with(super::INDEX_SUFFIX) {
                herma_disk::file::remove(&below.join(&name))?;
            }
            let file = format!("{folder}/{name}");
            let handle = Handle::of(&file);
            if !name.ends_with(super::SUFFIX) || self.record(handle).is_some() {
                continue;
            }
            let Some(_lock) = self.path_locks.now(handle, &folder) else { continue };
            let length = herma_disk::regular::Regular::open(&below.join(&name))?.map_or(0, |file| file.length());
            self.remove_file(&file)?;
            gone.push(Gone { bytes: length, expired: None });
        }
        self.durable.lock().unwrap_or_else(PoisonError::into_inner).remove(&folder);
        folder::remove_empty(&below)?;
        // The ids of the session and of its calls may be confidential too.
        self.catalog().purge();
        Ok(gone)
    }
}

impl Outputs {
    /// Removes some of the records' files, and returns the records that are left. No other thread writes one of these
    /// files until the catalog notes that they are gone. Indexes in the folder `below` stay.
    fn remove_some<'a>(
        &self,
        records: &'a [Record],
        below: &Path,
        now: f64,
        gone: &mut Vec<Gone>,
    ) -> Result<&'a [Record], DiskError> {
        let mut locks = Vec::new();
        let mut failure = None;
        for record in records.iter().take(AT_ONCE) {
            // A thread that waits for a lock must hold no other lock, to avoid a deadlock.
            let lock = if locks.is_empty() {
                Some(self.path_locks.wait(record.handle, record.folder()))
            } else {
                self.path_locks.now(record.handle, record.folder())
            };
            let Some(lock) = lock else { break };
            let path = self.root.join(&*record.file);
            let removed = if path.starts_with(below) {
                herma_disk::file::remove(&path)
            } else {
                self.remove_file(&record.file).map(drop)
            };
            self.indexes.lock().unwrap_or_else(PoisonError::into_inner).forget(&path);
            if record.state == State::Kept {
                if let Err(error) = removed {
                    failure = Some(error);
                    break;
                }
                gone.push(Gone { bytes: record.bytes, expired: Some(expired(record, now, Reason::Removed)) });
            }
            locks.push(lock);
        }
        let (done, left) = records.split_at(locks.len());
        let mut catalog = self.catalog();
        let known = &mut catalog.known;
        let forgotten = done.iter().filter(|record| known.forget(record.handle).is_some());
        let rows: Vec<Row> = forgotten.map(|record| Row::Forgotten { handle: record.handle.to_string() }).collect();
        catalog.append_all(&rows);
        failure.map_or(Ok(left), Err)
    }
}

fn expired(record: &Record, at: f64, reason: Reason) -> Expired {
    Expired {
        handle: record.handle,
        session: record.session.to_string(),
        tool: record.tool.to_string(),
        id: record.id.to_string(),
        bytes: record.bytes,
        chars: record.chars,
        sha256: record.sha256,
        reason,
        at,
    }
}
