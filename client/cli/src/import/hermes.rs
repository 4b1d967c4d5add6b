//! The database of an agent of the Hermes family, `state.db`. The agent may write it at the same time.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::Path;

use herma_base::Failure;
use herma_transcripts::{Session, Tally, TimedMessage, hermes};
use rusqlite::{Connection, params};

use super::sink::{ImportOutcome, Sink};
use super::sqlite::{self, text};
use super::whole::{self, TRIES};

/// The most seconds between two rows that one compaction wrote. The agent adds a millionth to each.
const AT_ONCE: f64 = 0.001;

pub(super) fn read(path: &Path, sink: &mut Sink<'_>, seen: &mut dyn FnMut(u64, u64)) -> Result<bool, Failure> {
    let failed = |error: rusqlite::Error| Failure::File(format!("{}: {error}", path.display()));
    let database = Database::open(path).map_err(failed)?;
    whole::each(database.sessions().map_err(failed)?, sink, seen, |session, sink| one(path, &database, session, sink))
}

fn one(path: &Path, database: &Database, session: &StoredSession, sink: &mut Sink<'_>) -> Result<(), Failure> {
    let failed = |error: rusqlite::Error| Failure::File(format!("{}: {error}", path.display()));
    for _ in 0..TRIES {
        let known = sink.known(&session.id)?;
        if known.live {
            sink.report.live(&session.id);
        }
        if known.live || known.removed || known.row >= session.last_row {
            return Ok(());
        }
        if known.messages == 0 && known.row == 0 && sink.is_live(&session.id)? {
            sink.report.live(&session.id);
            sink.is_known_live(&session.id)?;
            return Ok(());
        }
        let mut tally = Tally::default();
        let mut transcript = session.transcript.clone();
        let rows = known.row..=session.last_row;
        database.messages(&session.id, rows, &mut transcript, &mut tally).map_err(failed)?;
        if known.row > 0 {
            transcript.begin_at(known.messages);
        }
        if sink.take(path, &mut transcript, true)? == ImportOutcome::Done {
            sink.read_to(&session.id, session.last_row)?;
            sink.report.left_out(&tally);
            return Ok(());
        }
    }
    Err(whole::changes(path))
}

struct Database {
    connection: Connection,
    /// The columns of the two tables. Older versions have fewer.
    sessions: HashSet<String>,
    messages: HashSet<String>,
}

/// A session of the database.
struct StoredSession {
    id: String,
    /// The id of its newest message.
    last_row: i64,
    transcript: Session,
}

impl Database {
    fn open(path: &Path) -> rusqlite::Result<Self> {
        let connection = sqlite::open(path, &["sessions", "messages"])?;
        let (sessions, messages) =
            (sqlite::columns(&connection, "sessions")?, sqlite::columns(&connection, "messages")?);
        Ok(Self { connection, sessions, messages })
    }

    /// Returns the sessions with messages, the oldest first.
    fn sessions(&self) -> rusqlite::Result<Vec<StoredSession>> {
        let column = |name: &str| if self.sessions.contains(name) { format!("sessions.{name}") } else { "NULL".into() };
        let [title, model, parent, cwd] = ["title", "model", "parent_session_id", "cwd"].map(column);
        let query = format!(
            "SELECT sessions.id, max(messages.id), {title}, {model}, {parent}, {cwd} FROM sessions
             JOIN messages ON messages.session_id = sessions.id GROUP BY sessions.id ORDER BY max(messages.id)"
        );
        let mut query = self.connection.prepare(&query)?;
        let kept = query.query_map([], |row| {
            let id = text(row, 0)?.unwrap_or_default();
            let mut transcript = Session::new(id.clone());
            transcript.title = text(row, 2)?;
            transcript.model = text(row, 3)?;
            transcript.parent = text(row, 4)?;
            transcript.cwd = text(row, 5)?;
            Ok(StoredSession { id, last_row: row.get(1)?, transcript })
        })?;
        kept.collect()
    }

    /// Reads the messages of a session in a range of rows. It skips messages that the user undid, and messages that a
    /// compaction wrote again: at the same time as before, or right after another row.
    fn messages(
        &self,
        session: &str,
        rows: RangeInclusive<i64>,
        transcript: &mut Session,
        tally: &mut Tally,
    ) -> rusqlite::Result<()> {
        let has = |name: &str| self.messages.contains(name);
        let column = |name: &str, none: &str| if has(name) { name.to_owned() } else { none.to_owned() };
        let [calls, call, tool] = ["tool_calls", "tool_call_id", "tool_name"].map(|name| column(name, "NULL"));
        let [active, compacted] = [column("active", "1"), column("compacted", "0")];
        let query = format!(
            "SELECT id, timestamp, role, content, {calls}, {call}, {tool}, {active}, {compacted} FROM messages
             WHERE session_id = ?1 AND id <= ?2 ORDER BY id"
        );
        let mut query = self.connection.prepare(&query)?;
        let (behind, last) = rows.into_inner();
        let mut rows = query.query(params![session, last])?;
        let mut compacted: HashMap<String, Vec<f64>> = HashMap::new();
        let mut before = f64::NEG_INFINITY;
        while let Some(row) = rows.next()? {
            let flag = |at, none| row.get::<_, Option<i64>>(at).map(|flag| flag.map_or(none, |flag| flag != 0));
            let [is_active, is_compacted] = [flag(7, true)?, flag(8, false)?];
            let id: i64 = row.get(0)?;
            let read = hermes::Row {
                role: text(row, 2)?.unwrap_or_default(),
                content: text(row, 3)?,
                tool_calls: text(row, 4)?,
                tool_call_id: text(row, 5)?,
                tool_name: text(row, 6)?,
            };
            let Some(message) = hermes::message(&read) else {
                tally.add("message without words");
                continue;
            };
            let time: Option<f64> = row.get(1).ok().filter(|time| *time >= 0.0);
            let said = time.unwrap_or(0.0);
            let is_at_once = (0.0..AT_ONCE).contains(&(said - std::mem::replace(&mut before, said)));
            let known = compacted.get(&message);
            let is_again = known.is_some_and(|times| is_at_once || times.contains(&said));
            if is_compacted {
                compacted.entry(message.clone()).or_default().push(said);
            }
            match (is_active || is_compacted, is_again) {
                (false, _) => tally.add("undone message"),
                (true, true) => tally.add("duplicate message"),
                (true, false) if id > behind => {
                    transcript.push(TimedMessage { time, message });
                }
                (true, false) => {}
            }
        }
        Ok(())
    }
}
