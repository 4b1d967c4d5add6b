//! The step that adds the windows that providers named. It depends on no other table.

/// A model at an endpoint (`''` where none is named), and its window in tokens.
pub(super) const TABLES: &str = "
    CREATE TABLE windows (
        model TEXT NOT NULL,
        base_url TEXT NOT NULL,
        context_length INTEGER NOT NULL,
        at REAL NOT NULL,
        PRIMARY KEY (model, base_url)
    ) STRICT, WITHOUT ROWID;";
