//! Puts into the text index what is not said in a session: spilled outputs, and what
//! was written to the stores. Messages are the archive's own business.
//!
//! Whatever is missed (a daemon that was killed, notifications that came too fast) is
//! found by comparing what there is with what is in the index.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use herma_archive::index::{MemoryText, OutputPart};
use herma_archive::{Archive, ArchiveError};
use herma_memory::render::shown;
use herma_memory::{Row, Target};
use herma_protocol::Topic;
use herma_protocol::notification::Notification;
use herma_spill::SpillError;
use herma_spill::catalog::{Record, State as Fate};
use herma_spill::handle::Handle;
use herma_spill::page::{Next, Page, Part};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::Instant;

use crate::data::error::{Error, Outcome};
use crate::owners::events::Subscription;
use crate::owners::store::Page as LogPage;
use crate::wire::handler::domain_target;
use crate::wire::state::State;

/// How long nothing more must have come before the outputs that wait are put into the
/// index: whoever keeps outputs now should have the machine.
const QUIET: Duration = Duration::from_millis(250);

/// How long outputs wait at most, however many come.
const LATEST: Duration = Duration::from_secs(10);

/// How long a search waits for what was kept right before it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Bytes of a part of an output in the index; a hit leads to its part.
const PART: usize = 8 << 10;

/// Bytes that are put into the index at one time, so that nobody waits long.
const SLICE: usize = 1 << 20;

/// Lines that are read of an output at one time.
const LINES: usize = 4000;

/// Outputs longer than this are indexed up to here, in chars: what is looked for in
/// larger ones is found by `output.search`.
const LONGEST: usize = 8 << 20;

/// Notes that are taken at one time.
const MOST_NOTES: usize = 1000;

/// Rows of a journal that are read at one time.
const ROWS: usize = 500;

/// Asks for outputs to be put into the index.
#[derive(Debug)]
pub(crate) struct RecallIndexer {
    notes: mpsc::UnboundedSender<Note>,
    /// Outputs that wait.
    waiting: watch::Sender<usize>,
    /// Somebody waits for them.
    hurry: Notify,
    /// The newest revision of each store that is in the index.
    filed: Mutex<HashMap<(String, Target), u64>>,
}

/// What the recall_indexer works on.
pub(crate) type IndexQueue = mpsc::UnboundedReceiver<Note>;

/// What the recall_indexer is told.
#[derive(Debug)]
pub(crate) enum Note {
    /// This output was kept.
    Output(String),
    /// Something may have been missed.
    LookAgain,
}

impl RecallIndexer {
    pub(crate) fn new() -> (Self, IndexQueue) {
        let (notes, queue) = mpsc::unbounded_channel();
        (Self { notes, waiting: watch::Sender::new(0), hurry: Notify::new(), filed: Mutex::default() }, queue)
    }

    /// Puts an output into the index soon.
    pub(crate) fn note(&self, handle: &str) {
        self.waiting.send_modify(|waiting| *waiting += 1);
        if self.notes.send(Note::Output(handle.to_owned())).is_err() {
            self.waiting.send_replace(0);
        }
    }

    /// Has it compared what there is with what is in the index.
    pub(crate) fn look_again(&self) {
        drop(self.notes.send(Note::LookAgain));
    }

    /// The index is another one, and empty.
    pub(crate) fn begin_anew(&self) {
        self.filed.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.look_again();
    }

    /// Waits, but not long, until the outputs that were noted are in the index.
    pub(crate) async fn settle(&self) {
        let mut waiting = self.waiting.subscribe();
        if *waiting.borrow() == 0 {
            return;
        }
        self.hurry.notify_one();
        // What is missing then is found by a later search.
        drop(tokio::time::timeout(PATIENCE, waiting.wait_for(|waiting| *waiting == 0)).await);
    }

    fn filed(&self, profile: &str, target: Target) -> Option<u64> {
        self.filed.lock().unwrap_or_else(PoisonError::into_inner).get(&(profile.to_owned(), target)).copied()
    }

    fn set_filed(&self, profile: &str, target: Target, revision: u64) {
        self.filed.lock().unwrap_or_else(PoisonError::into_inner).insert((profile.to_owned(), target), revision);
    }

    fn done(&self, count: usize) {
        self.waiting.send_modify(|waiting| *waiting = waiting.saturating_sub(count));
    }
}

/// Works until the daemon stops.
pub(crate) async fn work(state: Arc<State>, mut queue: IndexQueue) {
    let mut stop = state.stop.subscribe();
    let changes = state.events.subscribe(BTreeSet::from([Topic::MemoryChanged]));
    state.recall_indexer.look_again();
    let working = async {
        tokio::join!(file_outputs(&state, &mut queue), file_changes(&state, changes));
    };
    tokio::select! {
        () = async { drop(stop.wait_for(Option::is_some).await) } => {}
        () = working => {}
    }
}

/// Finds what is not in the index, and what is there of outputs that are gone.
async fn compare(state: &Arc<State>) -> Outcome<Vec<String>> {
    if !state.archive.is_in_use() {
        return Ok(Vec::new());
    }
    let indexed: HashSet<String> = state.archive.read(|reader| reader.indexed_outputs()).await?.into_iter().collect();
    let records = state.outputs.list_where(usize::MAX, |record| record.state == Fate::Kept);
    let mut kept: Vec<String> = records.iter().map(|record| record.handle.to_string()).collect();
    let there: HashSet<&String> = kept.iter().collect();
    let gone: Vec<String> = indexed.iter().filter(|handle| !there.contains(handle)).cloned().collect();
    if !gone.is_empty() {
        state.archive.call(move |archive| archive.forget_outputs(&gone)).await?;
    }
    file_stores(state, None).await?;
    kept.retain(|handle| !indexed.contains(handle));
    Ok(kept)
}

async fn file_outputs(state: &Arc<State>, queue: &mut IndexQueue) {
    let mut notes = Vec::new();
    while queue.recv_many(&mut notes, MOST_NOTES).await > 0 {
        gather(state, queue, &mut notes).await;
        let looks_again = notes.iter().any(|note| matches!(note, Note::LookAgain));
        let mut handles: BTreeSet<String> = BTreeSet::new();
        let mut count = 0;
        for note in notes.drain(..) {
            if let Note::Output(handle) = note {
                handles.insert(handle);
                count += 1;
            }
        }
        if looks_again {
            match compare(state).await {
                Ok(missing) => handles.extend(missing),
                Err(error) => tracing::warn!("not everything can be found by recall: {error}"),
            }
        }
        if let Err(error) = file_all(state, handles).await {
            tracing::warn!("outputs that can't be found by recall until it is looked again: {error}");
        }
        state.recall_indexer.done(count);
    }
}

/// Waits until no more come for a while, or somebody wants to find them.
async fn gather(state: &State, queue: &mut IndexQueue, notes: &mut Vec<Note>) {
    let latest = Instant::now() + LATEST;
    loop {
        let quiet = (Instant::now() + QUIET).min(latest);
        tokio::select! {
            () = state.recall_indexer.hurry.notified() => return,
            () = tokio::time::sleep_until(quiet) => return,
            more = queue.recv_many(notes, MOST_NOTES) => if more == 0 { return },
        }
    }
}

/// Puts outputs into the index, several small ones at one time.
async fn file_all(state: &Arc<State>, handles: BTreeSet<String>) -> Outcome<()> {
    let mut parts = Vec::new();
    let mut bytes = 0;
    for handle in handles {
        let Some(record) = Handle::parse(&handle).and_then(|handle| state.outputs.record(handle)).map(Arc::new) else {
            continue;
        };
        let mut place = Some(Place { part: Part::Lines { line: 1, lines: LINES }, line: 1, chars: 0 });
        while let Some(here) = place {
            let (read, next) = match read(state, &record, here).await {
                Ok(read) => read,
                Err(error) if error.is_missing() => break,
                Err(error) => {
                    tracing::warn!("an output that can't be found by recall: {error}");
                    break;
                }
            };
            bytes += read.iter().map(|part| part.text.len()).sum::<usize>();
            parts.extend(read);
            place = next;
            if bytes >= SLICE {
                file(state, std::mem::take(&mut parts)).await?;
                bytes = 0;
            }
        }
    }
    file(state, parts).await
}

async fn file(state: &Arc<State>, parts: Vec<Filed>) -> Outcome<()> {
    if parts.is_empty() {
        return Ok(());
    }
    let shared = Arc::clone(state);
    let index = move |archive: &mut Archive| {
        // One that was removed meanwhile would be found for ever.
        let is_kept =
            |part: &&Filed| shared.outputs.record(part.record.handle).is_some_and(|record| record.state == Fate::Kept);
        let parts: Vec<OutputPart<'_>> = parts.iter().filter(is_kept).map(Filed::part).collect();
        archive.index_outputs(&parts)
    };
    state.archive.note(index).await
}

/// A part of an output on its way into the index.
#[derive(Debug)]
struct Filed {
    handle: String,
    record: Arc<Record>,
    line: u64,
    start: u64,
    text: String,
    is_first: bool,
    is_last: bool,
}

impl Filed {
    fn part(&self) -> OutputPart<'_> {
        OutputPart {
            handle: &self.handle,
            session: &self.record.session,
            profile: &self.record.profile,
            time: self.record.created_at,
            line: self.line,
            start: self.start,
            chars: wide(self.text.chars().count()),
            text: &self.text,
            is_first: self.is_first,
            is_last: self.is_last,
        }
    }
}

/// Where in an output the next parts begin.
#[derive(Debug, Clone, Copy)]
struct Place {
    part: Part,
    line: u64,
    chars: usize,
}

/// The next parts of an output.
async fn read(state: &Arc<State>, record: &Arc<Record>, place: Place) -> Outcome<(Vec<Filed>, Option<Place>)> {
    let (state, record) = (Arc::clone(state), Arc::clone(record));
    let read = move || -> Result<_, SpillError> {
        let Page { text, next, .. } = state.outputs.peek(&record.handle.to_string(), place.part)?;
        let chars = place.chars.saturating_add(text.chars().count());
        let line = place.line + count_lines(&text);
        let next = next.filter(|_| chars < LONGEST).map(|next| {
            let part = match next {
                Next::Line(line) => Part::Lines { line, lines: LINES },
                Next::Offset(offset) => Part::Chars { offset, limit: herma_spill::page::MOST },
            };
            Place { part, line, chars }
        });
        let mut start = wide(place.chars);
        let mut parts = cut(&text, place.line)
            .into_iter()
            .map(|(line, text)| Filed {
                handle: record.handle.to_string(),
                record: Arc::clone(&record),
                line,
                start: {
                    let own = start;
                    start += wide(text.chars().count());
                    own
                },
                text: text.to_owned(),
                is_first: false,
                is_last: false,
            })
            .collect::<Vec<_>>();
        if place.chars == 0
            && let Some(first) = parts.first_mut()
        {
            first.is_first = true;
        }
        if next.is_none()
            && let Some(last) = parts.last_mut()
        {
            last.is_last = true;
        }
        Ok((parts, next))
    };
    tokio::task::spawn_blocking(read).await.map_err(|_| Error::internal("the index"))?.map_err(Error::from)
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn count_lines(text: &str) -> u64 {
    wide(memchr::memchr_iter(b'\n', text.as_bytes()).count())
}

/// Cuts a text into parts with the line that each begins in, at line ends where
/// there are any.
fn cut(text: &str, first_line: u64) -> Vec<(u64, &str)> {
    let (mut parts, mut rest, mut line) = (Vec::new(), text, first_line);
    while !rest.is_empty() {
        let most = rest.floor_char_boundary(PART);
        let end = match rest[..most].rfind('\n') {
            _ if most == rest.len() => most,
            Some(newline) => newline + 1,
            None => most,
        };
        parts.push((line, &rest[..end]));
        line += count_lines(&rest[..end]);
        rest = &rest[end..];
    }
    parts
}

/// Puts what is written to the stores into the index.
async fn file_changes(state: &Arc<State>, mut changes: Subscription) {
    while let Some(notification) = changes.next().await {
        let mut stores = BTreeMap::new();
        let mut note = |notification| {
            if let Notification::MemoryChanged(changed) = notification {
                stores.insert((changed.profile, domain_target(changed.target).name()), domain_target(changed.target));
            }
        };
        note(notification);
        // As with outputs: whoever writes now should have the disk. A search looks itself.
        let latest = Instant::now() + LATEST;
        loop {
            let quiet = (Instant::now() + QUIET).min(latest);
            match tokio::time::timeout_at(quiet, changes.next()).await {
                Ok(Some(notification)) => note(notification),
                Ok(None) | Err(_) => break,
            }
        }
        for ((profile, _), target) in stores {
            if let Err(error) = file_store(state, &profile, target).await {
                tracing::warn!(profile, %target, "changes that can't be found by recall: {error}");
            }
        }
    }
}

/// Puts those changes of the stores into the index that are not there yet: of one
/// profile, or of all that are in use.
pub(crate) async fn file_stores(state: &Arc<State>, profile: Option<&str>) -> Outcome<()> {
    let in_use = state.stores_in_use().into_iter();
    for (profile, target) in in_use.filter(|(name, _)| profile.is_none_or(|profile| name == profile)) {
        // One that can't be read keeps nobody from finding something else.
        if let Err(error) = file_store(state, &profile, target).await {
            tracing::debug!(profile, %target, "changes that can't be found by recall: {error}");
        }
    }
    Ok(())
}

async fn file_store(state: &Arc<State>, profile: &str, target: Target) -> Outcome<()> {
    if !state.archive.is_in_use() {
        return Ok(());
    }
    let revision = state.store(profile, target)?.view().await?.revision;
    if state.recall_indexer.filed(profile, target).is_some_and(|filed| filed >= revision) {
        return Ok(());
    }
    let all = state.archive.read(|reader| reader.indexed_memory()).await?;
    let newest = all.into_iter().find(|(of, store, _)| of == profile && store == target.name());
    let indexed = newest.map(|(_, _, revision)| revision);
    let owner = state.store(profile, target)?;
    let (mut before, mut texts) = (None, Vec::new());
    loop {
        let log = owner.log(LogPage { before, limit: ROWS }).await?;
        let is_new = |row: &Row| indexed.is_none_or(|indexed| row.revision > indexed);
        let oldest = log.rows.last().map(|row| row.revision);
        let all_new = log.rows.iter().all(is_new);
        let rows = log.rows.into_iter().filter(is_new);
        texts.extend(rows.filter_map(|row| text(state, target, &row).map(|text| (row, text))));
        match oldest {
            Some(oldest) if all_new && log.more => before = Some(oldest),
            _ => break,
        }
    }
    if !texts.is_empty() {
        let profile = profile.to_owned();
        state.archive.call(move |archive| keep(archive, &profile, target, &texts)).await?;
    }
    state.recall_indexer.set_filed(profile, target, revision);
    Ok(())
}

/// What a change brought, or took away, as a model may see it.
fn text(state: &State, target: Target, row: &Row) -> Option<String> {
    let only = |of: &[herma_memory::Entry], other: &[herma_memory::Entry]| {
        let others: HashSet<&str> = other.iter().map(|entry| &**entry).collect();
        let own = of.iter().filter(|entry| !others.contains(&***entry));
        own.map(|entry| shown(&state.config.guard.severity, target, entry)).collect::<Vec<_>>()
    };
    let brought = only(&row.after, &row.before);
    let entries = if brought.is_empty() { only(&row.before, &row.after) } else { brought };
    (!entries.is_empty()).then(|| entries.join("\n"))
}

/// Oldest first, so that what is in the index has no gaps.
fn keep(archive: &mut Archive, profile: &str, target: Target, texts: &[(Row, String)]) -> Result<(), ArchiveError> {
    for (row, text) in texts.iter().rev() {
        archive.index_memory(&MemoryText {
            profile,
            target: target.name(),
            revision: row.revision,
            time: row.time,
            session: row.author.session.as_deref(),
            action: row.action.name(),
            text,
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_end_with_lines_and_know_their_own() {
        let text = format!("{}\n{}\nlast", "a".repeat(PART - 10), "b".repeat(PART + 10));
        let parts = cut(&text, 7);
        let lengths: Vec<(u64, usize)> = parts.iter().map(|(line, text)| (*line, text.len())).collect();
        assert_eq!(lengths, [(7, PART - 9), (8, PART), (8, 10 + 1 + 4)]);
        assert_eq!(parts.iter().map(|(_, text)| *text).collect::<String>(), text);
        assert!(cut("", 1).is_empty());
        assert_eq!(cut("日本", 1), [(1, "日本")]);
    }
}
