//! The second version: transcripts, the text index, usage and locks. What was
//! removed moves to where every message is.

use rusqlite::{Transaction, params};

use crate::{ArchiveError, transcript};

pub(super) const TABLES: &str = "
    ALTER TABLE session ADD COLUMN last_active REAL;
    ALTER TABLE session ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE session ADD COLUMN tool_calls INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX session_parent ON session (parent);
    CREATE INDEX session_started ON session (started_at);
    CREATE INDEX session_title ON session (title);

    ALTER TABLE compression ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE compression ADD COLUMN chars INTEGER NOT NULL DEFAULT 0;

    CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO meta VALUES ('next_id', 1), ('indexed', 0);

    CREATE TABLE session_key (key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE) STRICT;

    CREATE TABLE message (
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES session_key (key),
        generation INTEGER NOT NULL,
        position INTEGER NOT NULL,
        role TEXT NOT NULL,
        time REAL NOT NULL,
        compression TEXT REFERENCES compression (handle),
        recalled INTEGER NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX message_session ON message (session);
    CREATE UNIQUE INDEX message_transcript ON message (session, position) WHERE compression IS NULL;
    CREATE INDEX message_removed ON message (compression, position) WHERE compression IS NOT NULL;

    CREATE TABLE recall_call (
        session INTEGER NOT NULL REFERENCES session_key (key),
        call TEXT NOT NULL,
        PRIMARY KEY (session, call)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE output (
        key INTEGER PRIMARY KEY,
        handle TEXT NOT NULL UNIQUE,
        session TEXT NOT NULL,
        profile TEXT NOT NULL,
        complete INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX output_session ON output (session);
    CREATE TABLE output_part (
        id INTEGER PRIMARY KEY,
        output INTEGER NOT NULL REFERENCES output (key),
        line INTEGER NOT NULL,
        start INTEGER NOT NULL,
        chars INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX output_part_output ON output_part (output);

    CREATE TABLE memory_text (
        id INTEGER PRIMARY KEY,
        profile TEXT NOT NULL,
        target TEXT NOT NULL,
        revision INTEGER NOT NULL,
        time REAL NOT NULL,
        session TEXT,
        action TEXT NOT NULL,
        text TEXT NOT NULL,
        UNIQUE (profile, target, revision)
    ) STRICT;

    CREATE TABLE document (
        id INTEGER PRIMARY KEY,
        kind INTEGER NOT NULL,
        profile TEXT NOT NULL,
        time REAL NOT NULL
    ) STRICT;
    CREATE VIRTUAL TABLE word USING fts5 (
        words, pieces, scope, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '3'
    );

    CREATE TABLE usage (
        session TEXT,
        time REAL NOT NULL,
        model TEXT,
        agent TEXT,
        provider TEXT,
        input INTEGER NOT NULL,
        output INTEGER NOT NULL,
        cache_read INTEGER NOT NULL,
        cache_write INTEGER NOT NULL,
        reasoning INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX usage_session ON usage (session);
    CREATE INDEX usage_time ON usage (time);

    CREATE TABLE lock (
        session TEXT PRIMARY KEY,
        holder TEXT NOT NULL,
        until REAL
    ) STRICT, WITHOUT ROWID;";

/// Every removed message becomes a row like any other, oldest compression first,
/// so that its id tells its age; the old table goes.
pub(super) fn move_removed(transaction: &Transaction<'_>) -> Result<(), ArchiveError> {
    transaction.execute_batch(
        "UPDATE session SET last_active = (SELECT max(time) FROM compression WHERE compression.session = session.id);",
    )?;
    {
        let mut query = transaction.prepare(
            "SELECT compression.handle, compression.session, compression.generation, compression.time,
                    removed.position, removed.message
             FROM compression JOIN removed ON removed.compression = compression.handle
             ORDER BY compression.time, compression.session, compression.generation, removed.position",
        )?;
        let mut rows = query.query([])?;
        let mut count = transaction
            .prepare("UPDATE compression SET messages = messages + 1, chars = chars + ?2 WHERE handle = ?1")?;
        while let Some(row) = rows.next()? {
            let (handle, session): (String, String) = (row.get(0)?, row.get(1)?);
            let (generation, time, position): (u64, f64, u64) = (row.get(2)?, row.get(3)?, row.get(4)?);
            let body: String = row.get(5)?;
            let key = transcript::session_key(transaction, &session)?;
            let id = transcript::take_ids(transaction, 1)?;
            let message = transcript::NewMessage {
                id,
                generation: generation.saturating_sub(1),
                position,
                time,
                compression: Some(&handle),
                body: &body,
            };
            let mut rows = transcript::Rows::new(transaction, &session, key)?;
            rows.insert(&message)?;
            rows.count(time)?;
            count.execute(params![handle, transcript::chars(&body)])?;
        }
    }
    transaction.execute_batch("DROP TABLE removed;")?;
    Ok(())
}
