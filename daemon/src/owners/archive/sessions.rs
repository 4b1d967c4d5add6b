//! Sessions: rows, snapshots, settings, the state of their engines, and their lineage.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use herma_archive::browse::MessagePage;
use herma_archive::engine::EngineRow;
use herma_archive::list::{List, SessionOverview};
use herma_archive::remove::Removed;
use herma_archive::session::{SessionNames, SessionRow, SnapshotRow};
use herma_archive::{Archive, ArchiveError, Reader};

use super::{ArchiveHandle, Shared};
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};

/// A session with the state of its engine.
pub(crate) type KeptSession = (SessionRow, Option<EngineRow>);

/// A closed session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClosedSession {
    /// Its id.
    pub id: String,
    /// The time of its end, in Unix seconds.
    pub ended_at: f64,
}

impl ArchiveHandle {
    /// Returns the session with this id; `None` if there is no archive. An archive that exists and can't be read may
    /// contain the session, so that is an error.
    pub(crate) async fn session(&self, id: String) -> Outcome<Option<KeptSession>> {
        if self.is_in_use() {
            return self.write(move |archive| kept(archive.reader(), &id)).await;
        }
        match self.read(move |reader| kept(reader, &id)).await {
            Err(Error::Unavailable(_)) => self.check_readable().map(|()| None),
            found => found,
        }
    }

    /// Creates a session, unless one with this id exists. Returns the stored session, and whether it existed before.
    pub(crate) async fn create_session(&self, row: SessionRow) -> Outcome<(KeptSession, bool)> {
        self.write(move |archive| match kept(archive.reader(), &row.id)? {
            Some(first) => Ok((first, true)),
            None => archive.create_session(&row).map(|()| ((row, None), false)),
        })
        .await
    }

    /// Reopens a closed session.
    pub(crate) async fn reopen_session(&self, id: String) -> Outcome<()> {
        self.write_if_in_use(move |archive| archive.reopen_session(&id)).await
    }

    /// Reopens a closed session without waiting for it.
    pub(crate) fn post_reopened(&self, id: String) {
        self.post(move |archive| archive.reopen_session(&id));
    }

    /// Notes that a session was used, without waiting for it.
    pub(crate) fn post_used(&self, id: String) {
        self.post_if_in_use(move |archive| archive.touch(&id, unix_now()));
    }

    /// Stores names of a session, if any is given.
    pub(crate) async fn name_session(&self, id: String, names: SessionNames) -> Outcome<()> {
        if names == SessionNames::default() {
            return Ok(());
        }
        self.write_if_in_use(move |archive| archive.name_session(&id, &names)).await
    }

    /// Stores the settings of a session.
    pub(crate) async fn save_settings(&self, id: String, settings: String) -> Outcome<()> {
        self.write_if_in_use(move |archive| archive.save_settings(&id, &settings)).await
    }

    /// Stores a session's new snapshot, then calls `then` to change it in memory.
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

    /// Closes a session, then calls `then` to close it in memory.
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

    /// Removes all data of a session, then calls `then`. Its words stay in the index until [`Self::forget_removed`].
    pub(crate) async fn remove_session(
        &self,
        id: String,
        then: impl FnOnce(&Removed) + Send + 'static,
    ) -> Outcome<Removed> {
        let mut handles = Vec::new();
        // Other jobs run between the steps.
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
        Ok(removed)
    }

    /// Returns the sessions that may leave the archive, those closed first in front.
    pub(crate) async fn closed_sessions(&self) -> Outcome<Vec<ClosedSession>> {
        let closed = self.read(Reader::closed).await?;
        Ok(closed.into_iter().map(|(id, ended_at)| ClosedSession { id, ended_at }).collect())
    }

    /// Removes a closed session, unless it is open again.
    pub(crate) async fn remove_closed(&self, session: ClosedSession) -> Outcome<Option<Removed>> {
        self.write(move |archive| archive.remove_closed(&session.id, session.ended_at)).await
    }

    /// Removes the words of removed sessions from the text index, in steps between which other jobs run.
    pub(crate) async fn forget_removed(&self) -> Outcome<()> {
        while self.forget_some().await? {}
        Ok(())
    }

    /// Returns the number of bytes of the archive that are in use.
    pub(crate) async fn used_bytes(&self) -> Outcome<u64> {
        self.read(Reader::used_bytes).await
    }

    /// Stores the whole state of an engine. `row` returns the state at the time of the write, so that an older state
    /// never overwrites a newer one.
    pub(crate) async fn save_engine(
        &self,
        id: String,
        row: impl FnOnce() -> EngineRow + Send + 'static,
    ) -> Outcome<()> {
        self.write_if_in_use(move |archive| archive.save_engine(&id, &row())).await
    }

    /// Stores the figures of an engine in the same way, without waiting for it.
    pub(crate) fn post_engine_figures(&self, id: String, figures: impl FnOnce() -> String + Send + 'static) {
        self.post_if_in_use(move |archive| archive.save_engine_state(&id, &figures()));
    }

    /// Returns sessions, newest first.
    pub(crate) async fn list_sessions(&self, list: List) -> Outcome<Vec<SessionOverview>> {
        self.read(move |reader| reader.list(&list)).await
    }

    /// Returns one session with its figures.
    pub(crate) async fn show_session(&self, id: String) -> Outcome<Option<SessionOverview>> {
        self.read(move |reader| reader.show(&id)).await
    }

    /// Returns a page of a session's messages.
    pub(crate) async fn session_page(
        &self,
        id: String,
        from: i64,
        limit: usize,
        roles: Option<Vec<String>>,
    ) -> Outcome<MessagePage> {
        self.read(move |reader| reader.session_page(&id, from, limit, roles.as_deref())).await
    }

    /// Returns the last session of the chain that continues this one.
    pub(crate) async fn tip(&self, id: String) -> Outcome<String> {
        self.read(move |reader| reader.tip(&id)).await
    }

    /// Returns the session to resume for an id.
    pub(crate) async fn resume_target(&self, id: String) -> Outcome<String> {
        self.read(move |reader| reader.resume_target(&id)).await
    }

    /// Returns the title that follows a title.
    pub(crate) async fn next_title(&self, title: String) -> Outcome<String> {
        self.read(move |reader| reader.next_title(&title)).await
    }

    /// Returns the number of open sessions and of all sessions.
    pub(crate) async fn count_sessions(&self) -> Outcome<(u64, u64)> {
        self.read(Reader::count_sessions).await
    }

    /// Returns the id and the end of each session.
    pub(crate) async fn session_endings(&self) -> Outcome<Vec<(String, Option<f64>)>> {
        self.read(Reader::endings).await
    }

    /// Ends sessions whose parents are gone.
    pub(crate) async fn end_orphans(&self) -> Outcome<()> {
        self.write_if_in_use(|archive| archive.end_orphans(unix_now()).map(drop)).await
    }

    /// Notes, before the first request, what ended with a daemon that was killed.
    pub(crate) async fn note_killed_daemon(&self) -> Outcome<()> {
        let shared = Arc::clone(&self.shared);
        self.write_if_in_use(move |archive| note_killed(archive, &shared)).await
    }
}

/// Does so on the archive's thread, once in a daemon's life.
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

/// Stores the sessions that are in use in a new archive that replaced a damaged one.
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
