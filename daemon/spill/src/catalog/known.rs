//! The records of the outputs, in memory.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::sync::Arc;

use super::row::{Begun, Kept, Row};
use super::{Reason, Record, State};
use crate::handle::Handle;

/// How long an expired output is remembered, in seconds.
const TOMBSTONE_AGE: f64 = 90.0 * 86_400.0;

/// The maximum number of expired outputs that are remembered; the oldest are dropped first.
const TOMBSTONES: usize = 10_000;

/// All records, with an index of equal contents.
#[derive(Debug, Default)]
pub(crate) struct Known {
    records: HashMap<Handle, Numbered>,
    /// Kept outputs by SHA-256 and number.
    contents: BTreeMap<([u8; 32], u64), Handle>,
    /// The number of the next record: later records have larger ones.
    next: u64,
    /// The number of kept outputs of each length in bytes.
    lengths: HashMap<u64, usize>,
    names: HashSet<Arc<str>>,
    /// Files that an earlier daemon began, and of which nothing else is known, by the handle that they would have.
    pub(crate) begun: HashMap<Handle, Begun>,
    /// The boot of the system in which the last daemon started.
    pub(crate) boot: Option<String>,
    /// The newest time of a collection, in Unix seconds.
    pub(crate) last_seen: Option<f64>,
    /// Seconds that daemons have run with a doubtful clock, up to that time.
    pub(crate) doubted: f64,
    /// Bytes of the kept outputs, each content once.
    bytes: u64,
    kept: usize,
}

/// A record and its number in the order of arrival.
#[derive(Debug)]
struct Numbered {
    record: Record,
    number: u64,
}

impl Known {
    /// Applies the row of a line. Returns false if the row is invalid.
    pub(crate) fn apply(&mut self, row: Row) -> bool {
        match row {
            Row::Opened { boot } => self.boot = Some(boot),
            Row::Seen { at, doubted } => (self.last_seen, self.doubted) = (Some(at), doubted),
            Row::Begin(begun) => {
                let handle = Handle::of(&begun.file);
                if !self.is_kept(handle) {
                    self.begun.insert(handle, begun);
                }
            }
            Row::Kept(kept) => {
                let Some(record) = self.record(&kept) else { return false };
                self.put(record);
            }
            Row::Expired { handle, at, reason } => {
                let Some(handle) = Handle::parse(&handle) else { return false };
                self.expire(handle, at, reason);
            }
            Row::Forgotten { handle } => {
                let Some(handle) = Handle::parse(&handle) else { return false };
                self.forget(handle);
            }
        }
        true
    }

    fn record(&mut self, kept: &Kept) -> Option<Record> {
        let Kept { begun, chars, lines, bytes, created_at, .. } = kept;
        Some(Record {
            handle: Handle::of(&begun.file),
            session: self.shared(&begun.session),
            profile: self.shared(&begun.profile),
            tool: self.shared(&begun.tool),
            id: begun.id.as_str().into(),
            file: begun.file.as_str().into(),
            chars: *chars,
            lines: *lines,
            bytes: *bytes,
            sha256: unhex(&kept.sha256)?,
            created_at: *created_at,
            state: State::Kept,
        })
    }

    /// Returns the shared copy of a name that many records have.
    pub(crate) fn shared(&mut self, name: &str) -> Arc<str> {
        if let Some(name) = self.names.get(name) {
            return Arc::clone(name);
        }
        let name: Arc<str> = name.into();
        self.names.insert(Arc::clone(&name));
        name
    }

    /// Adds a record, in place of an earlier one with its handle.
    pub(crate) fn put(&mut self, record: Record) {
        self.begun.remove(&record.handle);
        self.forget(record.handle);
        let number = self.next;
        self.next += 1;
        if record.state == State::Kept {
            self.count(&record, number);
        }
        self.records.insert(record.handle, Numbered { record, number });
    }

    /// Marks a kept record as expired and returns it; any other record stays.
    pub(crate) fn expire(&mut self, handle: Handle, at: f64, reason: Reason) -> Option<Record> {
        let Numbered { record, number } =
            self.records.get_mut(&handle).filter(|numbered| numbered.record.state == State::Kept)?;
        record.state = State::Expired { at, reason };
        let (record, number) = (record.clone(), *number);
        self.discount(&record, number);
        Some(record)
    }

    /// Removes a record, whatever its state.
    pub(crate) fn forget(&mut self, handle: Handle) -> Option<Record> {
        let Numbered { record, number } = self.records.remove(&handle)?;
        if record.state == State::Kept {
            self.discount(&record, number);
        }
        Some(record)
    }

    fn count(&mut self, record: &Record, number: u64) {
        if self.with_content(&record.sha256).next().is_none() {
            self.bytes += record.bytes;
        }
        self.contents.insert((record.sha256, number), record.handle);
        *self.lengths.entry(record.bytes).or_default() += 1;
        self.kept += 1;
    }

    fn discount(&mut self, record: &Record, number: u64) {
        self.contents.remove(&(record.sha256, number));
        if self.with_content(&record.sha256).next().is_none() {
            self.bytes = self.bytes.saturating_sub(record.bytes);
        }
        if let Some(count) = self.lengths.get_mut(&record.bytes) {
            *count -= 1;
            if *count == 0 {
                self.lengths.remove(&record.bytes);
            }
        }
        self.kept -= 1;
    }

    pub(crate) fn get(&self, handle: Handle) -> Option<&Record> {
        self.records.get(&handle).map(|numbered| &numbered.record)
    }

    pub(crate) fn is_kept(&self, handle: Handle) -> bool {
        self.get(handle).is_some_and(|record| record.state == State::Kept)
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.values().map(|numbered| &numbered.record)
    }

    /// Returns the newest records that `is_asked` accepts, the newest first. Only those are copied.
    pub(crate) fn newest(&self, limit: usize, is_asked: impl Fn(&Record) -> bool) -> Vec<Record> {
        // The oldest of the selected records is on top.
        let mut held = BinaryHeap::new();
        for record in self.records().filter(|record| is_asked(record)) {
            if held.len() < limit {
                held.push(Older(record));
            } else if let Some(mut oldest) = held.peek_mut()
                && Older(record) < *oldest
            {
                *oldest = Older(record);
            }
        }
        held.into_sorted_vec().into_iter().map(|Older(record)| record.clone()).collect()
    }

    /// Returns the kept outputs with this content, the one that was added last first.
    pub(crate) fn with_content(&self, sha256: &[u8; 32]) -> impl Iterator<Item = &Record> {
        let same = self.contents.range((*sha256, 0)..=(*sha256, u64::MAX));
        same.rev().filter_map(|(_, handle)| self.get(*handle))
    }

    /// Whether any kept output has `bytes` bytes.
    pub(crate) fn has_length(&self, bytes: u64) -> bool {
        self.lengths.contains_key(&bytes)
    }

    /// Returns the number of kept outputs and their bytes, each content once.
    pub(crate) fn usage(&self) -> (u64, u64) {
        (crate::facts::to_u64(self.kept), self.bytes)
    }

    /// Forgets outputs that expired long ago.
    pub(crate) fn prune(&mut self, now: f64) {
        let mut tombstones: Vec<(f64, Handle)> = self
            .records()
            .filter_map(|record| match record.state {
                State::Expired { at, .. } => Some((at, record.handle)),
                State::Kept => None,
            })
            .collect();
        tombstones.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        for (rank, (at, handle)) in tombstones.into_iter().enumerate() {
            if rank >= TOMBSTONES || now - at > TOMBSTONE_AGE {
                self.forget(handle);
            }
        }
        self.names.retain(|name| Arc::strong_count(name) > 1);
    }

    /// Returns how many lines are needed for all of this.
    pub(crate) fn rows_needed(&self) -> usize {
        2 + self.begun.len() + 2 * self.records.len() - self.kept
    }

    /// Returns the rows for all of this.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let boot = self.boot.iter().map(|boot| Row::Opened { boot: boot.clone() });
        let seen = self.last_seen.iter().map(|at| Row::Seen { at: *at, doubted: self.doubted });
        let begun = self.begun.values().map(|begun| Row::Begin(begun.clone()));
        let records = self.records().flat_map(|record| {
            let expired = match record.state {
                State::Kept => None,
                State::Expired { at, reason } => Some(Row::Expired { handle: record.handle.to_string(), at, reason }),
            };
            [Some(Row::Kept(row_of(record))), expired].into_iter().flatten()
        });
        // A file may have been begun again after it expired.
        boot.chain(seen).chain(records).chain(begun)
    }
}

/// A record that compares as greater, the older it is.
struct Older<'a>(&'a Record);

impl Ord for Older<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.created_at.total_cmp(&self.0.created_at).then_with(|| other.0.handle.cmp(&self.0.handle))
    }
}

impl PartialOrd for Older<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Older<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Older<'_> {}

/// Returns the row of a kept output.
pub(crate) fn row_of(record: &Record) -> Kept {
    Kept {
        begun: Begun {
            handle: record.handle.to_string(),
            session: record.session.to_string(),
            profile: record.profile.to_string(),
            tool: record.tool.to_string(),
            id: record.id.to_string(),
            file: record.file.to_string(),
        },
        chars: record.chars,
        lines: record.lines,
        bytes: record.bytes,
        sha256: base16ct::lower::encode_string(&record.sha256),
        created_at: record.created_at,
    }
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    let read = base16ct::mixed::decode(text, &mut hash).ok()?.len();
    (read == hash.len()).then_some(hash)
}
