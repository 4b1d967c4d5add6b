//! Sessions: rows, snapshots, settings, what their engines remember, and their lineage.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use herma_archive::engine::EngineRow;
use herma_archive::list::{List, Shown};
use herma_archive::remove::Removed;
use herma_archive::session::{SessionRow, SnapshotRow};
use herma_archive::{Archive, ArchiveError, Reader};

use super::{ArchiveHandle, Shared};
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};

/// A session with what its engine remembers.
pub(crate) type KeptSession = (SessionRow, Option<EngineRow>);

/// A session that was closed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClosedSession {
    /// Its id.
    pub id: String,
    /// When, in Unix seconds.
    pub ended_at: f64,
}

impl ArchiveHandle {
    /// The session of an id; nothing when there is no archive. One that is there and can't be read
    /// may hold it, which is an error.
    pub(crate) async fn session(&self, id: String) -> Outcome<Option<KeptSession>> {
        if self.is_in_use() {
            return self.write(move |archive| kept(archive.reader(), &id)).await;
        }
        match self.read(move |reader| kept(reader, &id)).await {
            Err(Error::Unavailable(_)) => self.check_readable().map(|()| None),
            found => found,
        }
    }

    /// Keeps a session, unless there is one of its id: the first one counts. Answers the one
    /// that counts, and whether it was there before.
    pub(crate) async fn create_session(&self, row: SessionRow) -> Outcome<(KeptSession, bool)> {
        self.write(move |archive| match kept(archive.reader(), &row.id)? {
            Some(first) => Ok((first, true)),
            None => archive.create_session(&row).map(|()| ((row, None), false)),
        })
        .await
    }

    /// Opens a closed session again.
    pub(crate) async fn reopen_session(&self, id: String) -> Outcome<()> {
        self.write_if_in_use(move |archive| archive.reopen_session(&id)).await
    }

    /// The same; nobody waits for it.
    pub(crate) fn post_reopened(&self, id: String) {
        self.post(move |archive| archive.reopen_session(&id));
    }

    /// Notes that a session was used; nobody waits for it.
    pub(crate) fn post_used(&self, id: String) {
        self.post_if_in_use(move |archive| archive.touch(&id, unix_now()));
    }

    /// Keeps the title and the agent of a session, as far as they are given.
    pub(crate) async fn name_session(&self, id: String, title: Option<String>, agent: Option<String>) -> Outcome<()> {
        self.write_if_in_use(move |archive| archive.name_session(&id, title.as_deref(), agent.as_deref())).await
    }

    /// Keeps what was said of a session.
    pub(crate) async fn save_settings(&self, id: String, settings: String) -> Outcome<()> {
        self.write_if_in_use(move |archive| archive.save_settings(&id, &settings)).await
    }

    /// Keeps what was frozen anew for a session, and then has it done in memory too.
    pub(crate) async fn save_snapshot(
        &self,
        id: String,
        snapshot: SnapshotRow,
        then: impl FnOnce(SnapshotRow) + Send + 'static,
    ) -> Outcome<()> {
        self.write(move |archive| {
            archive.save_snapshot(&id, &snapshot)?;
            then(snapshot);
            Ok(())
        })
        .await
    }

    /// Closes a session, and then has it done in memory too.
    pub(crate) async fn close_session(
        &self,
        id: String,
        reason: String,
        then: impl FnOnce() + Send + 'static,
    ) -> Outcome<()> {
        self.write_if_in_use(move |archive| {
            archive.close_session(&id, &reason, unix_now())?;
            then();
            Ok(())
        })
        .await
    }

    /// Forgets everything of a session, and then has done what follows from that, though what is left
    /// to do in the index may fail.
    pub(crate) async fn remove_session(
        &self,
        id: String,
        then: impl FnOnce(&Removed) + Send + 'static,
    ) -> Outcome<Removed> {
        let mut handles = Vec::new();
        // Others have their turn in between.
        loop {
            let session = id.clone();
            let some = self.write(move |archive| archive.forget_some_outputs(&session)).await?;
            if some.is_empty() {
                break;
            }
            handles.extend(some);
        }
        let removed = self.write(move |archive| {
            let removed = archive.remove_session(&id)?;
            then(&removed);
            Ok(removed)
        });
        let mut removed = removed.await?;
        removed.output_handles.extend(handles);
        self.forget_removed().await?;
        Ok(removed)
    }

    /// The sessions that may leave the archive, the one first that was closed first.
    pub(crate) async fn closed_sessions(&self) -> Outcome<Vec<ClosedSession>> {
        let closed = self.read(Reader::closed).await?;
        Ok(closed.into_iter().map(|(id, ended_at)| ClosedSession { id, ended_at }).collect())
    }

    /// Removes one of them, unless it is open again.
    pub(crate) async fn remove_closed(&self, session: ClosedSession) -> Outcome<Option<Removed>> {
        self.write(move |archive| archive.remove_closed(&session.id, session.ended_at)).await
    }

    /// Takes the words of removed sessions out of the text index, in steps between which others
    /// have their turn.
    pub(crate) async fn forget_removed(&self) -> Outcome<()> {
        while self.write(Archive::forget_step).await? {}
        Ok(())
    }

    /// Bytes of the archive that hold something.
    pub(crate) async fn used_bytes(&self) -> Outcome<u64> {
        self.read(Reader::used_bytes).await
    }

    /// Keeps all that an engine remembers, as it is by the time of writing: a later change must
    /// not be overtaken by an earlier one.
    pub(crate) async fn save_engine(
        &self,
        id: String,
        row: impl FnOnce() -> EngineRow + Send + 'static,
    ) -> Outcome<()> {
        self.write_if_in_use(move |archive| archive.save_engine(&id, &row())).await
    }

    /// Keeps the figures of an engine in the same way; nobody waits for it.
    pub(crate) fn post_engine_figures(&self, id: String, figures: impl FnOnce() -> String + Send + 'static) {
        self.post_if_in_use(move |archive| archive.save_engine_state(&id, &figures()));
    }

    /// Sessions, newest first.
    pub(crate) async fn list_sessions(
        &self,
        profile: Option<String>,
        limit: usize,
        before: Option<f64>,
        raw: bool,
    ) -> Outcome<Vec<Shown>> {
        self.read(move |reader| reader.list(&List { profile: profile.as_deref(), limit, before, raw })).await
    }

    /// One session with its figures.
    pub(crate) async fn show_session(&self, id: String) -> Outcome<Option<Shown>> {
        self.read(move |reader| reader.show(&id)).await
    }

    /// The last one of those that go on for a session.
    pub(crate) async fn tip(&self, id: String) -> Outcome<String> {
        self.read(move |reader| reader.tip(&id)).await
    }

    /// The session to resume for an id.
    pub(crate) async fn resume_target(&self, id: String) -> Outcome<String> {
        self.read(move |reader| reader.resume_target(&id)).await
    }

    /// The title after a title.
    pub(crate) async fn next_title(&self, title: String) -> Outcome<String> {
        self.read(move |reader| reader.next_title(&title)).await
    }

    /// How many sessions are open, and how many there are.
    pub(crate) async fn count_sessions(&self) -> Outcome<(u64, u64)> {
        self.read(Reader::count_sessions).await
    }

    /// Every session's id and when it ended.
    pub(crate) async fn session_endings(&self) -> Outcome<Vec<(String, Option<f64>)>> {
        self.read(Reader::endings).await
    }

    /// Ends sessions whose parents are gone.
    pub(crate) async fn end_orphans(&self) -> Outcome<()> {
        self.write_if_in_use(|archive| archive.end_orphans(unix_now()).map(drop)).await
    }

    /// Notes what ended with a daemon that was killed, before anybody asks.
    pub(crate) async fn note_killed_daemon(&self) -> Outcome<()> {
        let shared = Arc::clone(&self.shared);
        self.write_if_in_use(move |archive| note_killed(archive, &shared)).await
    }
}

/// The same on the archive's thread, once in a daemon's life.
pub(super) fn note_killed(archive: &mut Archive, shared: &Shared) -> Result<(), ArchiveError> {
    archive.drop_unbound_locks()?;
    if shared.owes_note.swap(false, Ordering::AcqRel) {
        archive.mark_interrupted(unix_now())?;
    }
    Ok(())
}

fn kept(reader: &Reader, id: &str) -> Result<Option<KeptSession>, ArchiveError> {
    let Some(row) = reader.session(id)? else { return Ok(None) };
    Ok(Some((row, reader.engine(id)?)))
}

/// Keeps the sessions that are in use in an archive that took the place of a damaged one.
pub(super) fn keep_again(archive: &mut Archive, in_use: Vec<KeptSession>) {
    for (row, engine) in in_use {
        let kept = archive
            .create_session(&row)
            .and_then(|()| engine.map_or(Ok(()), |engine| archive.save_engine(&row.id, &engine)));
        if let Err(error) = kept {
            tracing::error!("a session that is in use could not be kept again: {error}");
        }
    }
}
