//! The thread of the archive. It opens the file, runs the jobs, sets a damaged file aside, and makes sure that
//! confirmed data is in the file that exists.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use herma_archive::{Archive, ArchiveError, BUSY};
use herma_disk::quarantine;

use super::files::{self, Change, Files};
use super::intake::Intake;
use super::queue::{LastWork, MOST_WAITING, QUIET, Queue};
use super::sessions::note_killed;
use super::transcripts::Append;
use super::{Condition, Finished, Job, Refill, Shared};
use crate::data::error::{Error, Outcome};

/// The number of messages that are indexed in one step while no caller waits.
const SLICE: usize = 200;

/// How long the thread waits for another program's lock while no caller waits.
const IDLE: Duration = Duration::from_millis(100);

/// The first and the longest pause between two attempts to open an archive that can't be used.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The suffix of a removed archive's copy until the copy is complete.
const COPY: &str = ".restored";
/// The suffix of an archive that was replaced by another file, before a number.
const REPLACED: &str = ".replaced-";
/// The number of such suffixes.
const MOST_REPLACED: u32 = 1000;

/// Opens the archive of a home, and returns its condition.
pub(super) fn begin(path: &Path) -> (Option<Archive>, Condition) {
    let was_there = files::is_something(path);
    let unusable =
        |words: String| if was_there { (None, Condition::Unreadable(words)) } else { (None, Condition::Broken(words)) };
    // SQLite would make the file readable for others. Its log and index get the same mode.
    if let Err(error) = herma_disk::file::append_to(path) {
        return unusable(error.to_string());
    }
    match Archive::open(path) {
        Ok(archive) => (Some(archive), Condition::InUse(None)),
        Err(error) if error.is_damaged() => recreate(path, &error),
        Err(error @ ArchiveError::Newer { .. }) => (None, Condition::ReadOnly(error.to_string())),
        Err(error) => unusable(format!("{}: {error}", path.display())),
    }
}

/// Sets a damaged archive aside and creates a new one.
fn recreate(path: &Path, damage: &ArchiveError) -> (Option<Archive>, Condition) {
    let kept = match quarantine::quarantine(&files::all(path)) {
        Ok(kept) => kept,
        Err(error) => {
            return (None, Condition::Unreadable(format!("{damage}; it could not be set aside: {error}")));
        }
    };
    let words = format!("a damaged archive was set aside as {}: {damage}", kept.display());
    // The file is closed before the archive is opened: closing it later would release SQLite's locks.
    let made = herma_disk::file::append_to(path).map(drop).map_err(|error| error.to_string());
    match made.and_then(|()| Archive::open(path).map_err(|error| error.to_string())) {
        Ok(archive) => (Some(archive), Condition::InUse(Some(words))),
        Err(error) => (None, Condition::Broken(format!("{words}; no new one could be made: {error}"))),
    }
}

/// Runs the jobs until all senders are gone. If the archive can't be used, tries to open one again and again.
pub(super) fn serve(archive: Option<Archive>, jobs: &Receiver<Job>, shared: &Shared, refill: &Refill) {
    let mut archive = archive;
    loop {
        let Some(opened) = archive.take().or_else(|| wait_for_one(jobs, shared, refill)) else { return };
        let mut worker = Worker { files: Files::at(&shared.path), archive: Some(opened), shared, refill };
        if worker.work(jobs) == End::Closed {
            return;
        }
    }
}

/// The reason why the worker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// All senders are gone.
    Closed,
    /// There is no usable archive any more.
    Lost,
}

/// Opens the archive as soon as possible; `None` if all senders are gone.
fn wait_for_one(jobs: &Receiver<Job>, shared: &Shared, refill: &Refill) -> Option<Archive> {
    let mut pause = FIRST_PAUSE;
    loop {
        match jobs.recv_timeout(pause) {
            Err(RecvTimeoutError::Disconnected) => return None,
            // The job arrived when the archive was just lost. Dropping it answers its caller with an error.
            Ok(_) => continue,
            Err(RecvTimeoutError::Timeout) => pause = (pause * 2).min(LONGEST_PAUSE),
        }
        let (archive, condition) = begin(&shared.path);
        if let Some(mut archive) = archive {
            shared.intake().begin(&mut archive);
            if let Err(error) = note_killed(&mut archive, shared) {
                tracing::warn!("what a killed daemon left open stays so: {error}");
            }
            refill(&mut archive);
            shared.begin_epoch();
            shared.set_condition(condition);
            tracing::warn!("the archive is in use again");
            return Some(archive);
        }
        shared.set_condition(condition);
    }
}

/// How long a request waits for another program's lock. Requests in a queue spend the same time together.
fn patience(asked: Instant) -> Duration {
    BUSY.saturating_sub(asked.elapsed())
}

/// Indexes a part of the waiting messages.
fn index(archive: &mut Archive, intake: &mut Intake) -> (Finished, bool) {
    match intake.take_over(archive).and_then(|()| archive.index_pending(SLICE)) {
        Ok(left) => (Ok(()).into(), left > 0),
        Err(error) => (Err(Arc::new(error)).into(), false),
    }
}

/// The worker that runs the jobs with the archive.
struct Worker<'a> {
    /// `None` once there is no usable archive.
    archive: Option<Archive>,
    /// The files that were opened.
    files: Files,
    shared: &'a Shared,
    refill: &'a Refill,
}

impl Worker<'_> {
    /// Runs the jobs. While there are none, indexes messages.
    fn work(&mut self, jobs: &Receiver<Job>) -> End {
        let mut queue = Queue::of(jobs);
        let mut behind = true;
        self.note(&mut self.shared.intake());
        while self.archive.is_some() {
            let Ok(job) = queue.next(behind) else { return self.end() };
            behind = match job {
                None if self.goes_on(&mut queue) => true,
                Some(Job::Appended) => true,
                None => {
                    let left = self.step(index, false, IDLE);
                    queue.indexed(left);
                    left
                }
                Some(Job::Alone(job, asked)) => {
                    let work = |archive: &mut Archive, intake: &mut Intake| match intake.take_over(archive) {
                        Ok(()) => {
                            let _: Option<()> = intake.forget_places();
                            job(Ok(archive))
                        }
                        Err(error) => job(Err(Arc::new(error))),
                    };
                    self.step(|archive, intake| (work(archive, intake), true), true, patience(asked))
                }
                Some(Job::Append(first)) => {
                    let appends = queue.drain_batch(first);
                    if appends.len() > 1 {
                        self.shared.crowd.seen();
                    }
                    self.append(appends)
                }
            };
        }
        End::Lost
    }

    /// Whether a client appended in place a moment ago, and probably will again.
    fn goes_on(&self, queue: &mut Queue<'_>) -> bool {
        let mut intake = self.shared.intake();
        queue.waiting = queue.waiting.saturating_add(intake.take_in_place_weight());
        let goes_on = queue.waiting < MOST_WAITING && !intake.is_quiet(QUIET);
        if goes_on {
            queue.last = LastWork::Append;
        }
        goes_on
    }

    /// Stores messages, in the log if possible.
    fn append(&mut self, appends: Vec<Append>) -> bool {
        let shared = self.shared;
        let patience = appends.first().map_or(BUSY, |first| patience(first.asked));
        let work = |archive: &mut Archive, intake: &mut Intake| match intake.keep(&appends, archive) {
            Some(answers) => {
                shared.appended.fetch_add(1, Ordering::AcqRel);
                let answers = answers.into_iter().map(Ok).collect();
                Finished { failure: Ok(()), answer: Some(Append::answer_all(appends, answers)) }
            }
            None => match intake.take_over(archive) {
                Ok(()) => Append::all(appends, archive),
                Err(error) => Append::refused(appends, error),
            },
        };
        self.step(|archive, intake| (work(archive, intake), true), true, patience)
    }

    /// Publishes to readers how far they see, and to in-place appends which files belong to the archive.
    fn note(&self, intake: &mut Intake) {
        if intake.is_empty() {
            self.shared.taken_over.send_replace(self.shared.appended.load(Ordering::Acquire));
        }
        intake.note(self.archive.is_some().then_some(self.files));
    }

    /// Ends the work, because all senders are gone. Data in a file without a name would be lost.
    fn end(&mut self) -> End {
        let mut intake = self.shared.intake();
        if let Some(Err(error)) = self.archive.as_mut().map(|archive| intake.take_over(archive)) {
            tracing::warn!("appended messages are still in their log: {error}");
        }
        if let Err(error) = self.ensure_durable(&mut intake) {
            tracing::error!("what the archive held is lost: {error}");
        }
        End::Closed
    }

    /// Runs work on the archive. Returns whether messages are left to index; on failure, returns `unless_done`. Waits
    /// for another program's lock no longer than `patience`.
    fn step(
        &mut self,
        work: impl FnOnce(&mut Archive, &mut Intake) -> (Finished, bool),
        unless_done: bool,
        patience: Duration,
    ) -> bool {
        let shared = self.shared;
        let mut intake = shared.intake();
        let Some(archive) = self.archive.as_mut() else { return false };
        if let Err(error) = archive.wait_for_locks(patience) {
            tracing::debug!("how long locks are waited for is as before: {error}");
        }
        // The archive itself stays intact: SQLite rolls back a transaction whose guard is dropped.
        let done = catch_unwind(AssertUnwindSafe(|| work(archive, &mut intake)));
        let Ok((Finished { failure, answer }, is_behind)) = done else {
            tracing::error!("a job of the archive panicked");
            return unless_done;
        };
        let kept = self.ensure_durable(&mut intake);
        self.note(&mut intake);
        // A caller that has its answer may append again at once, in place.
        drop(intake);
        if let Some(answer) = answer {
            answer(kept);
        }
        self.note_lock(failure.as_ref().err().is_some_and(|error| error.is_locked()));
        match failure {
            Ok(()) => is_behind,
            Err(error) if error.is_locked() => unless_done,
            Err(error) if error.is_damaged() => {
                let mut intake = shared.intake();
                self.renew(&error, &mut intake);
                self.note(&mut intake);
                true
            }
            Err(error) => {
                tracing::warn!("the archive: {error}");
                unless_done
            }
        }
    }

    /// Notes whether another program has the archive locked, and logs each change once.
    fn note_lock(&self, failed: bool) {
        // Not every job writes, so a job without a failure proves nothing.
        let is_still =
            || self.shared.is_locked.load(Ordering::Acquire) && self.archive.as_ref().is_some_and(Archive::is_locked);
        let is_locked = failed || is_still();
        let was_locked = self.shared.is_locked.swap(is_locked, Ordering::AcqRel);
        match (was_locked, is_locked) {
            (false, true) => {
                tracing::warn!("another program has the archive locked; what needs it is refused meanwhile")
            }
            (true, false) => tracing::info!("the archive is not locked any more"),
            _ => {}
        }
    }

    /// Sets a damaged archive aside and creates a new one.
    fn renew(&mut self, damage: &ArchiveError, intake: &mut Intake) {
        self.close();
        let (archive, condition) = recreate(&self.shared.path, damage);
        self.switch_archive(archive, condition, intake);
    }

    /// Handles files that were removed or replaced, in which the written data would be lost. The data goes into a file
    /// that has a name, or the caller gets an error.
    fn ensure_durable(&mut self, intake: &mut Intake) -> Outcome<()> {
        match self.files.change(&self.shared.path) {
            None => Ok(()),
            Some(change) => self.recover(change, intake),
        }
    }

    fn recover(&mut self, change: Change, intake: &mut Intake) -> Outcome<()> {
        let path = self.shared.path.clone();
        if let Some(Err(error)) = self.archive.as_mut().map(|archive| intake.take_over(archive)) {
            tracing::warn!("appended messages are still in their log: {error}");
        }
        // Nothing is closed before its data is safe elsewhere. If that fails, the next job tries again.
        let saved = match change {
            Change::Removed => self.copy_to(&files::with_suffix(&path, COPY)),
            Change::LogLost => self.checkpoint(),
            Change::Replaced => return self.adopt_replacement(&path, intake),
        };
        saved.map_err(|words| {
            Error::Unavailable(format!("the archive's file was taken away, and can't be put back yet: {words}"))
        })?;
        self.close();
        let replaced = match change {
            Change::Removed => self.put_back(&path),
            _ => self.begin_log(&path),
        };
        replaced.map_err(|words| self.lose(&words))?;
        match Archive::open(&path) {
            Ok(archive) => {
                self.archive = Some(archive);
                self.files = Files::at(&path);
                Ok(())
            }
            Err(error) if error.is_damaged() => {
                self.renew(&error, intake);
                Err(Error::Unavailable(format!("{error}; a new one was begun, ask again")))
            }
            Err(error) => Err(self.lose(&error.to_string())),
        }
    }

    /// Moves the copy to the place of the removed archive.
    fn put_back(&self, path: &Path) -> Result<(), String> {
        self.files.remove_log(path).map_err(|error| error.to_string())?;
        herma_disk::file::rename(&files::with_suffix(path, COPY), path).map_err(|error| error.to_string())?;
        let path = path.display();
        tracing::error!("the archive was removed while it was in use, and was written again: {path}");
        Ok(())
    }

    /// Moves the contents of SQLite's log into the archive.
    fn checkpoint(&self) -> Result<(), String> {
        let Some(archive) = &self.archive else { return Ok(()) };
        archive.checkpoint().map_err(|error| error.to_string())
    }

    /// Makes room for a new log.
    fn begin_log(&self, path: &Path) -> Result<(), String> {
        self.files.remove_log(path).map_err(|error| error.to_string())?;
        // The files that are here now belong to no archive of this daemon, and SQLite would read them into this one.
        let [_, log, index] = files::all(path);
        quarantine::quarantine(&[log, index]).map_err(|error| error.to_string())?;
        tracing::error!("the archive's log was removed while it was in use; what it held is in the archive");
        Ok(())
    }

    /// Switches to the file that is here now, and keeps the old archive under another name.
    fn adopt_replacement(&mut self, path: &Path, intake: &mut Intake) -> Outcome<()> {
        let names = (1..=MOST_REPLACED).map(|number| files::with_suffix(path, &format!("{REPLACED}{number}")));
        let Some(aside) = names.into_iter().find(|name| std::fs::symlink_metadata(name).is_err()) else {
            return Err(self.lose("it was replaced too often"));
        };
        let words = "the archive was replaced by another file while it was in use";
        self.copy_to(&aside).map_err(|error| {
            Error::Unavailable(format!("{words}, and its content can't be moved aside yet: {error}"))
        })?;
        self.close();
        if let Err(error) = self.files.remove_log(path) {
            return Err(self.lose(&error.to_string()));
        }
        let words = format!("{words}; what it held is in {}", aside.display());
        let (archive, condition) = begin(path);
        let condition =
            if condition == Condition::InUse(None) { Condition::InUse(Some(words.clone())) } else { condition };
        self.switch_archive(archive, condition, intake);
        Err(Error::Unavailable(format!("{words}; ask again")))
    }

    /// Writes the whole archive to a new private file, durably.
    fn copy_to(&self, path: &Path) -> Result<(), String> {
        let Some(archive) = &self.archive else { return Ok(()) };
        // Removes a copy that a killed daemon began.
        let begun = herma_disk::file::remove_name(path).and_then(|_| herma_disk::file::append_to(path));
        let file = begun.map_err(|error| error.to_string())?;
        archive.copy_to(path).map_err(|error| error.to_string())?;
        file.sync_all().map_err(|error| error.to_string())
    }

    fn close(&mut self) {
        self.shared.begin_epoch();
        self.archive = None;
    }

    /// Continues with another archive, after adding the sessions that are in use.
    fn switch_archive(&mut self, archive: Option<Archive>, condition: Condition, intake: &mut Intake) {
        self.archive = archive;
        if let Some(archive) = &mut self.archive {
            (self.refill)(archive);
            intake.switch_archive(archive);
        }
        self.files = Files::at(&self.shared.path);
        self.shared.set_condition(condition);
    }

    /// Gives up the archive, and returns the error for callers.
    fn lose(&mut self, words: &str) -> Error {
        self.close();
        let words = format!("its file was taken away while it was in use: {words}");
        self.shared.set_condition(if files::is_something(&self.shared.path) {
            Condition::Unreadable(words.clone())
        } else {
            Condition::Broken(words.clone())
        });
        Error::Unavailable(format!("the archive is not in use: {words}"))
    }
}
