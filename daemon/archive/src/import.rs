//! Transcripts of other programs, stored as closed sessions.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::session::{self, SessionRow};
use crate::transcript::{NewMessage, Rows, next_position, session_key, take_ids, to_u64};
use crate::{Archive, ArchiveError};

/// The end reason of a session that was imported and that no agent opened here. Only such a session may grow by
/// imports.
pub const IMPORTED: &str = "imported";

/// Messages of a session of another program.
#[derive(Debug, Clone, Copy)]
pub struct Import<'a> {
    /// The session. All of it is stored if no session of its id exists yet. Later only title, source, branch,
    /// settings and a missing working folder are updated, and the end time if messages are added.
    pub session: &'a SessionRow,
    /// The position of the first message in its transcript.
    pub position: u64,
    /// When each was said, in Unix seconds, and its JSON text.
    pub messages: &'a [(f64, &'a str)],
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imported {
    /// Everything is stored. The next message belongs at this position.
    Next(u64),
    /// Nothing was stored, because earlier messages are missing. The import must continue at this position.
    Gap(u64),
    /// Nothing was stored, because an agent opened the session of this id.
    Taken,
    /// Nothing was stored, because the session belongs to this other profile.
    OtherProfile(String),
}

impl Archive {
    /// Adds messages to an imported session, which is created if it does not exist. Messages at occupied positions are
    /// skipped and not compared, because secrets may have been removed from the stored ones.
    ///
    /// # Errors
    /// A failure of the database; nothing is stored then.
    pub fn import(&mut self, import: &Import<'_>) -> Result<Imported, ArchiveError> {
        let Import { session: row, position, messages } = *import;
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        match found(&transaction, &row.id)? {
            None if position > 0 => return Ok(Imported::Gap(0)),
            None => session::insert(&transaction, row)?,
            Some(found) if !found.is_imported => return Ok(Imported::Taken),
            Some(found) if found.profile != row.profile => return Ok(Imported::OtherProfile(found.profile)),
            Some(_) => name(&transaction, row)?,
        }
        let key = session_key(&transaction, &row.id)?;
        let next = next_position(&transaction, key)?;
        if position > next {
            return Ok(Imported::Gap(next));
        }
        let known = usize::try_from(next - position).unwrap_or(usize::MAX);
        let new = messages.get(known..).unwrap_or_default();
        let first = take_ids(&transaction, new.len())?;
        let mut rows = Rows::new(&transaction, &row.id, key)?;
        for (position, (&(time, body), id)) in (next..).zip(new.iter().zip(first..)) {
            rows.insert(&NewMessage { id, generation: 0, position, time, compression: None, body })?;
        }
        rows.count(new.iter().map(|(time, _)| *time).fold(row.started_at, f64::max))?;
        if !new.is_empty() {
            let query = "UPDATE session SET ended_at = max(ended_at, ?2) WHERE id = ?1";
            transaction.prepare_cached(query)?.execute(params![row.id, row.ended_at])?;
        }
        transaction.commit()?;
        Ok(Imported::Next(next + to_u64(new.len())))
    }
}

struct Found {
    profile: String,
    is_imported: bool,
}

fn found(connection: &Connection, id: &str) -> Result<Option<Found>, ArchiveError> {
    let query = "SELECT profile, end_reason IS ?2 AND generation = 0 FROM session WHERE id = ?1";
    let read = |row: &rusqlite::Row<'_>| Ok(Found { profile: row.get(0)?, is_imported: row.get(1)? });
    Ok(connection.prepare_cached(query)?.query_row([id, IMPORTED], read).optional()?)
}

/// Updates the fields that may become known only later, or may have changed.
fn name(connection: &Connection, row: &SessionRow) -> Result<(), ArchiveError> {
    let query = "UPDATE session SET title = coalesce(?2, title), source = coalesce(?3, source),
                 cwd = coalesce(cwd, ?4), branch = coalesce(?5, branch),
                 settings = json_patch(coalesce(settings, '{}'), coalesce(?6, '{}')) WHERE id = ?1";
    let SessionRow { id, title, source, cwd, branch, settings, .. } = row;
    connection.prepare_cached(query)?.execute(params![id, title, source, cwd, branch, settings])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Search;
    use crate::testing::{archive, said, session};

    fn imported(id: &str) -> SessionRow {
        let (ended_at, end_reason) = (Some(9.0), Some(IMPORTED.into()));
        SessionRow { started_at: 1.0, ended_at, end_reason, source: Some("/f".into()), ..session(id) }
    }

    fn import(archive: &mut Archive, row: &SessionRow, position: u64, messages: &[(f64, &str)]) -> Imported {
        archive.import(&Import { session: row, position, messages }).unwrap()
    }

    #[test]
    fn what_is_there_is_passed_over_and_a_gap_is_told() {
        let (_folder, mut archive) = archive();
        let row = imported("x:1");
        assert_eq!(import(&mut archive, &row, 1, &[(2.0, "b")]), Imported::Gap(0));
        assert_eq!(archive.reader().session("x:1").unwrap(), None);
        for (position, messages, expect) in [
            (0, &[(2.0, "a"), (3.0, "b")][..], Imported::Next(2)),
            (0, &[(2.0, "a"), (3.0, "other"), (5.0, "c")], Imported::Next(3)),
            (1, &[], Imported::Next(3)),
            (4, &[(6.0, "e")], Imported::Gap(3)),
            (3, &[(4.0, "d")], Imported::Next(4)),
        ] {
            assert_eq!(import(&mut archive, &row, position, messages), expect, "{position} {messages:?}");
        }
        assert_eq!(archive.reader().transcript("x:1").unwrap(), ["a", "b", "c", "d"]);
        let shown = archive.reader().show("x:1").unwrap().unwrap();
        assert_eq!((shown.messages, shown.row.started_at, shown.last_active), (4, 1.0, 5.0));
        assert_eq!((shown.row.ended_at, shown.row.source.as_deref()), (Some(9.0), Some("/f")));
    }

    #[test]
    fn a_title_may_come_later_and_another_sessions_messages_are_left_alone() {
        let (_folder, mut archive) = archive();
        archive.create_session(&session("live")).unwrap();
        assert_eq!(import(&mut archive, &imported("live"), 0, &[(2.0, "a")]), Imported::Taken);
        let row = imported("x:1");
        import(&mut archive, &row, 0, &[(2.0, "a")]);
        let titled = SessionRow { title: Some("later".into()), agent: None, source: None, ..row.clone() };
        import(&mut archive, &titled, 1, &[]);
        let kept = archive.reader().session("x:1").unwrap().unwrap();
        assert_eq!((kept.title.as_deref(), kept.agent, kept.source), (Some("later"), row.agent.clone(), row.source));
        let other = SessionRow { profile: "work".into(), ..imported("x:1") };
        assert_eq!(import(&mut archive, &other, 1, &[(3.0, "b")]), Imported::OtherProfile("default".into()));
        archive.reopen_session("x:1").unwrap();
        assert_eq!(import(&mut archive, &imported("x:1"), 1, &[(3.0, "b")]), Imported::Taken);
        assert_eq!(archive.reader().transcript("x:1").unwrap(), ["a"]);
    }

    #[test]
    fn it_is_found_by_its_words_and_its_time_and_says_where_it_is_from() {
        let (_folder, mut archive) = archive();
        import(&mut archive, &imported("x:1"), 0, &[(2.0, &said("user", "the blue heron"))]);
        archive.index_pending(10).unwrap();
        let search = |since| Search { since: Some(since), ..Search::everywhere("heron", 9) };
        let hits = archive.reader().search(&search(2.0)).unwrap().hits;
        assert_eq!(hits.iter().map(|hit| (hit.time, hit.origin.as_deref())).collect::<Vec<_>>(), [(2.0, Some("/f"))]);
        assert_eq!(archive.reader().search(&search(2.5)).unwrap().hits, []);
    }
}
