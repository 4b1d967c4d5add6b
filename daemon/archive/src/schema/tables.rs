//! The tables of the first released version, and what later ones changed.

/// From nothing to version [`super::FIRST`].
pub(super) const TABLES: &str = "
    CREATE TABLE session (
        id TEXT PRIMARY KEY,
        profile TEXT NOT NULL,
        agent TEXT,
        parent TEXT,
        title TEXT,
        generation INTEGER NOT NULL DEFAULT 0,
        settings TEXT,
        memory_block TEXT,
        user_block TEXT,
        sha256 TEXT NOT NULL,
        memory_revision INTEGER NOT NULL,
        user_revision INTEGER NOT NULL,
        started_at REAL NOT NULL,
        ended_at REAL,
        end_reason TEXT,
        last_active REAL,
        messages INTEGER NOT NULL DEFAULT 0,
        tool_calls INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX session_parent ON session (parent);
    CREATE INDEX session_started ON session (started_at);
    CREATE INDEX session_title ON session (title);

    CREATE TABLE compression (
        handle TEXT PRIMARY KEY,
        session TEXT NOT NULL REFERENCES session (id),
        generation INTEGER NOT NULL,
        time REAL NOT NULL,
        summary TEXT NOT NULL,
        messages INTEGER NOT NULL DEFAULT 0,
        chars INTEGER NOT NULL DEFAULT 0,
        UNIQUE (session, generation)
    ) STRICT;

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
    ) STRICT, WITHOUT ROWID;

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
    ) STRICT, WITHOUT ROWID;

    -- A model at an endpoint, an empty text where none is named, and its window in tokens.
    CREATE TABLE windows (
        model TEXT NOT NULL,
        base_url TEXT NOT NULL,
        context_length INTEGER NOT NULL,
        at REAL NOT NULL,
        PRIMARY KEY (model, base_url)
    ) STRICT, WITHOUT ROWID;";

/// From version 4 to 5: a message's text stands apart from its place, so that a compression moves
/// places and no text is written twice. Rows of before keep their text in `body`.
pub(super) const TEXTS_APART: &str = "
    ALTER TABLE message RENAME TO message_row;
    CREATE TABLE message_text (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
    CREATE VIEW message AS
        SELECT row.id, row.session, row.generation, row.position, row.role, row.time, row.compression, row.recalled,
               coalesce(message_text.text, row.body) AS body
        FROM message_row AS row LEFT JOIN message_text ON message_text.id = row.id;";

/// From version 5 to 6: the index has stems, and beside it stand the terms of each document. The index
/// of before is made anew: of messages and memory texts from what is kept of them, of outputs
/// from their files.
pub(super) const STEMS: &str = "
    DROP TABLE word;
    CREATE VIRTUAL TABLE word USING fts5 (
        words, stems, pieces, scope, content = '', contentless_delete = 1, tokenize = 'ascii'
    );
    CREATE VIRTUAL TABLE vocabulary USING fts5vocab (word, 'row');
    CREATE TABLE document_terms (
        id INTEGER PRIMARY KEY,
        session INTEGER,
        words INTEGER NOT NULL,
        marks INTEGER NOT NULL,
        terms BLOB NOT NULL
    ) STRICT;
    DELETE FROM document;
    DELETE FROM output_part;
    DELETE FROM output;
    UPDATE meta SET value = 0 WHERE name = 'indexed';";

/// From version 6 to 7: where a session was read from, and the folder that its agent worked in.
pub(super) const IMPORTS: &str = "
    ALTER TABLE session ADD COLUMN source TEXT;
    ALTER TABLE session ADD COLUMN cwd TEXT;";

/// From version 7 to 8: vectors beside the words of documents, and which embedder made them. They go with their
/// documents.
pub(super) const VECTORS: &str = "
    CREATE TABLE vector (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
    CREATE TABLE vector_space (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        embedder TEXT NOT NULL,
        dimensions INTEGER
    ) STRICT;
    CREATE TRIGGER vector_goes AFTER DELETE ON document BEGIN
        DELETE FROM vector WHERE id = OLD.id;
    END;";

/// From version 8 to 9: what it takes to undo a compression. A compression with `back_to` is an undo, which
/// brought back the list of that generation; `undone` is the generation of the undo that took one back.
/// Compressions of before can't be undone.
pub(super) const UNDO: &str = "
    ALTER TABLE compression ADD COLUMN back_to INTEGER;
    ALTER TABLE compression ADD COLUMN undone INTEGER;
    CREATE TABLE list_before (
        handle TEXT PRIMARY KEY REFERENCES compression (handle),
        session TEXT NOT NULL,
        generation INTEGER NOT NULL,
        pieces TEXT NOT NULL,
        length INTEGER NOT NULL,
        sha256 BLOB NOT NULL,
        state TEXT,
        summary TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX list_before_session ON list_before (session, generation);";

/// From version 9 to 10: the nodes of sessions whose engine loses nothing. `made_by` is the compression that
/// made one; while that is undone, the node does not count. A leaf stands for the messages that left under `handle`,
/// from position `start` to before `stop` where these are known; any other node for its children, whose ids are a
/// JSON list. `original` says of messages that stand in a list in a shorter form, known by its sha256, where they
/// are kept whole: under a handle, at a position.
pub(super) const NODES: &str = "
    CREATE TABLE node (
        id TEXT PRIMARY KEY,
        session TEXT NOT NULL,
        number INTEGER NOT NULL,
        made_by TEXT NOT NULL,
        depth INTEGER NOT NULL,
        first INTEGER NOT NULL,
        next INTEGER NOT NULL,
        since REAL NOT NULL,
        until REAL NOT NULL,
        tokens INTEGER NOT NULL,
        writer TEXT NOT NULL,
        handle TEXT,
        start INTEGER,
        stop INTEGER,
        children TEXT,
        text TEXT NOT NULL,
        exact TEXT NOT NULL,
        state TEXT NOT NULL,
        warnings TEXT NOT NULL,
        UNIQUE (session, number)
    ) STRICT;
    CREATE INDEX node_handle ON node (handle);
    CREATE TABLE original (
        session TEXT NOT NULL,
        sha256 BLOB NOT NULL,
        generation INTEGER NOT NULL,
        position INTEGER NOT NULL,
        handle TEXT NOT NULL,
        PRIMARY KEY (session, sha256, generation, position)
    ) STRICT, WITHOUT ROWID;";

/// From version 10 to 11: messages that a compression must leave in the list, and outputs that the agent is done
/// with. `id` says by what they are known; `text` is how one begins.
pub(super) const PINS_AND_DISCARDS: &str = "
    CREATE TABLE pin (
        session TEXT NOT NULL,
        id TEXT NOT NULL,
        role TEXT NOT NULL,
        text TEXT NOT NULL,
        tokens INTEGER NOT NULL,
        at REAL NOT NULL,
        until REAL,
        PRIMARY KEY (session, id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE discard (
        session TEXT NOT NULL,
        id TEXT NOT NULL,
        reason TEXT,
        at REAL NOT NULL,
        PRIMARY KEY (session, id)
    ) STRICT, WITHOUT ROWID;";

/// From version 11 to 12: the number to which messages are bound that wait in the write-ahead log. It begins at
/// another one in each archive, so that none takes another's.
pub(super) const EPOCH: &str = "INSERT INTO meta VALUES ('epoch', random() >> 2 & 0xfffffffffffffff);";

/// From version 12 to 13: nodes whose messages stand in the list of a generation again, and who says what stands before
/// and behind them there.
pub(super) const OPENED: &str = "
    CREATE TABLE opened (
        session TEXT NOT NULL,
        node TEXT NOT NULL,
        generation INTEGER NOT NULL,
        before TEXT,
        behind TEXT,
        PRIMARY KEY (session, node)
    ) STRICT, WITHOUT ROWID;";

/// From version 13 to 14: sub-tasks that the agent opened, and closed where `last` says by what their last message is
/// known. `after` says it of the message before them.
pub(super) const EPISODES: &str = "
    CREATE TABLE episode (
        session TEXT NOT NULL,
        number INTEGER NOT NULL,
        title TEXT NOT NULL,
        outcome TEXT,
        after TEXT,
        last TEXT,
        at REAL NOT NULL,
        PRIMARY KEY (session, number)
    ) STRICT, WITHOUT ROWID;";

/// From version 14 to 15: the node in whose place one stands that was written anew.
pub(super) const REWRITTEN: &str = "
    ALTER TABLE node ADD COLUMN replaces TEXT;
    CREATE INDEX node_replaces ON node (replaces) WHERE replaces IS NOT NULL;";

/// From version 15 to 16: which nodes no other one stands for is read from an index alone, for their texts are long and
/// a session has more and more of them. `message` of `original` is the row that has the shorter form, in a transcript. And
/// what came late to a session that was removed goes.
pub(super) const MAPPED: &str = "
    ALTER TABLE original ADD COLUMN message INTEGER;
    CREATE INDEX original_message ON original (message) WHERE message IS NOT NULL;
    CREATE INDEX node_mapped ON node (session, made_by, id, children, replaces);
    DELETE FROM engine WHERE session NOT IN (SELECT id FROM session);
    DELETE FROM usage WHERE session NOT IN (SELECT id FROM session);";

/// From version 16 to 17: what is brought to a database that hosts share. `shares` is 1 once anything may be
/// there, `sent` the newest message that may be, `shipped` the newest one that is; `identity` tells this file's messages there from those of one that took its place.
/// A session that was removed is remembered, with the first message id that is none of its own, until it is removed there
/// too. `shipped_profile` has those whose messages are up to `shipped`.
pub(super) const SHIPPED: &str = "
    INSERT INTO meta VALUES ('shares', 0), ('sent', 0), ('shipped', 0), ('identity', random() & 0xffffffff);
    CREATE TABLE shipped_profile (profile TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TABLE session_gone (
        session TEXT NOT NULL,
        below INTEGER NOT NULL,
        PRIMARY KEY (session, below)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER session_goes AFTER DELETE ON session
    WHEN (SELECT value FROM meta WHERE name = 'shares') = 1 BEGIN
        INSERT OR IGNORE INTO session_gone SELECT OLD.id, value FROM meta WHERE name = 'next_id';
    END;";

/// From version 17 to 18: sessions that hosts hand to each other. `birth` tells one from another of its id on another host,
/// and `term` grows by one with each host that takes it; `holder` is the one that has it now, and NULL is this one.
/// `changes` counts what changed, `mattered` is that count at the last change that must not be lost, `sent` what of it is there.
/// `origin` says of messages that came with one by which archive and number others know them, `came` up to which number a
/// session has those of an archive, and `stray` which numbers are to be removed there, for their messages have others here. `masked`
/// is the newest message that may have been brought with secrets masked.
pub(super) const HANDED: &str = "
    INSERT INTO meta VALUES ('masked', 0);
    CREATE TABLE held (
        session TEXT PRIMARY KEY,
        birth TEXT NOT NULL,
        term INTEGER NOT NULL,
        holder TEXT,
        changes INTEGER NOT NULL,
        mattered INTEGER NOT NULL,
        sent INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX held_unsent ON held (session) WHERE changes > sent;
    CREATE INDEX held_elsewhere ON held (session) WHERE holder IS NOT NULL;
    CREATE TABLE origin (id INTEGER PRIMARY KEY, archive INTEGER NOT NULL, number INTEGER NOT NULL) STRICT;
    CREATE TABLE came (
        session TEXT NOT NULL,
        archive INTEGER NOT NULL,
        through INTEGER NOT NULL,
        PRIMARY KEY (session, archive)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE stray (number INTEGER PRIMARY KEY) STRICT;
    ALTER TABLE session_gone ADD COLUMN birth TEXT;
    ALTER TABLE session_gone ADD COLUMN term INTEGER;
    DROP TRIGGER session_goes;
    CREATE TRIGGER session_goes AFTER DELETE ON session
    WHEN (SELECT value FROM meta WHERE name = 'shares') = 1 BEGIN
        INSERT OR IGNORE INTO session_gone (session, below, birth, term)
        SELECT OLD.id, meta.value, held.birth, held.term
        FROM meta LEFT JOIN held ON held.session = OLD.id AND held.holder IS NULL WHERE meta.name = 'next_id';
    END;";

/// From version 18 to 19: the ledger. `call` is the id of a call that may be recorded again. `kind` says what a row of
/// `window_change` changed; `added` and `removed` are tokens with herma and without it.
pub(super) const LEDGER: &str = "
    ALTER TABLE usage ADD COLUMN call TEXT;
    CREATE UNIQUE INDEX usage_call ON usage (session, call) WHERE call IS NOT NULL;
    CREATE TABLE window_change (
        session TEXT NOT NULL,
        time REAL NOT NULL,
        kind TEXT NOT NULL,
        added INTEGER NOT NULL,
        removed INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX window_change_session ON window_change (session, time);";
