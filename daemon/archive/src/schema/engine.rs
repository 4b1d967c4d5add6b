//! What an engine remembers of a session, and the rules of its user.

pub(super) const TABLES: &str = "
    CREATE TABLE engine (
        session TEXT PRIMARY KEY,
        state TEXT NOT NULL,
        summary TEXT
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE user_rule (
        session TEXT NOT NULL,
        id TEXT NOT NULL,
        text TEXT NOT NULL,
        scope TEXT NOT NULL,
        source TEXT NOT NULL,
        at REAL NOT NULL,
        state TEXT NOT NULL,
        PRIMARY KEY (session, id)
    ) STRICT, WITHOUT ROWID;";
