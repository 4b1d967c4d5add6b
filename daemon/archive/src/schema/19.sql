-- The tables of version 19, the one of the first release.

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
    tool_calls INTEGER NOT NULL DEFAULT 0,
    -- Where an imported session was read from, and the folder that its agent worked in.
    source TEXT,
    cwd TEXT
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
    -- A row with `back_to` is an undo, which restored the list of that generation.
    back_to INTEGER,
    -- The generation of the undo that undid this one.
    undone INTEGER,
    UNIQUE (session, generation)
) STRICT;

CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
-- `epoch` binds the messages that wait in the write-ahead log to this file. `shares` is 1 once anything may be in a shared
-- database: `sent` is the newest message that may be there, `shipped` the newest that is, `masked` the newest that may have
-- been sent with secrets masked, and `identity` names this file's messages there.
INSERT INTO meta VALUES
    ('next_id', 1), ('indexed', 0), ('epoch', random() >> 2 & 0xfffffffffffffff),
    ('shares', 0), ('sent', 0), ('shipped', 0), ('identity', random() & 0xffffffff), ('masked', 0);

CREATE TABLE session_key (key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE) STRICT;

-- A message's place. Its text is in `message_text`, so that a compression moves places and writes no text twice; `body` has
-- the text of rows that an unreleased version wrote.
CREATE TABLE message_row (
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
CREATE INDEX message_session ON message_row (session);
CREATE UNIQUE INDEX message_transcript ON message_row (session, position) WHERE compression IS NULL;
CREATE INDEX message_removed ON message_row (compression, position) WHERE compression IS NOT NULL;
CREATE TABLE message_text (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE VIEW message AS
    SELECT row.id, row.session, row.generation, row.position, row.role, row.time, row.compression, row.recalled,
           coalesce(message_text.text, row.body) AS body
    FROM message_row AS row LEFT JOIN message_text ON message_text.id = row.id;

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
    words, stems, pieces, scope, content = '', contentless_delete = 1, tokenize = 'ascii'
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (word, 'row');
-- The terms of each document, next to the index.
CREATE TABLE document_terms (
    id INTEGER PRIMARY KEY,
    session INTEGER,
    words INTEGER NOT NULL,
    marks INTEGER NOT NULL,
    terms BLOB NOT NULL
) STRICT;

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
    reasoning INTEGER NOT NULL,
    -- The id of a call that may be recorded again.
    call TEXT
) STRICT;
CREATE INDEX usage_session ON usage (session);
CREATE INDEX usage_time ON usage (time);
CREATE UNIQUE INDEX usage_call ON usage (session, call) WHERE call IS NOT NULL;

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
) STRICT, WITHOUT ROWID;

-- Vectors of documents, and the embedder that made them. A trigger removes them with their documents.
CREATE TABLE vector (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE vector_space (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    embedder TEXT NOT NULL,
    dimensions INTEGER
) STRICT;
CREATE TRIGGER vector_goes AFTER DELETE ON document BEGIN
    DELETE FROM vector WHERE id = OLD.id;
END;

-- What an undo of a compression needs.
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
CREATE INDEX list_before_session ON list_before (session, generation);

-- The nodes of the lossless engine. `made_by` is the compression that made a node; while that is undone, the node does
-- not count. A leaf stands for the messages that left under `handle`, from position `start` to before `stop`; any other
-- node stands for its `children`, a JSON list of ids. `replaces` is the node that this one was rewritten from.
-- `original` says where a message that is in a list in a shorter form is kept whole: under a handle, at a position;
-- `sha256` identifies the shorter form, and `message` is its row in a transcript.
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
    replaces TEXT,
    UNIQUE (session, number)
) STRICT;
CREATE INDEX node_handle ON node (handle);
CREATE INDEX node_replaces ON node (replaces) WHERE replaces IS NOT NULL;
-- Which nodes no other one stands for is read from this index alone, because their texts are long.
CREATE INDEX node_mapped ON node (session, made_by, id, children, replaces);
CREATE TABLE original (
    session TEXT NOT NULL,
    sha256 BLOB NOT NULL,
    generation INTEGER NOT NULL,
    position INTEGER NOT NULL,
    handle TEXT NOT NULL,
    message INTEGER,
    PRIMARY KEY (session, sha256, generation, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX original_message ON original (message) WHERE message IS NOT NULL;

-- Messages that a compression must leave in the list, and outputs that the agent is done with. `id` identifies the
-- message or output; `text` is how a message begins.
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
) STRICT, WITHOUT ROWID;

-- Nodes whose messages are in the list of a generation again, and the messages before and after them there.
CREATE TABLE opened (
    session TEXT NOT NULL,
    node TEXT NOT NULL,
    generation INTEGER NOT NULL,
    before TEXT,
    behind TEXT,
    PRIMARY KEY (session, node)
) STRICT, WITHOUT ROWID;

-- Sub-tasks that the agent opened. `last` identifies the last message of one that is closed, `after` the message before
-- its first one.
CREATE TABLE episode (
    session TEXT NOT NULL,
    number INTEGER NOT NULL,
    title TEXT NOT NULL,
    outcome TEXT,
    after TEXT,
    last TEXT,
    at REAL NOT NULL,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

-- Sessions that hosts hand to each other. `birth` distinguishes sessions of one id on different hosts, and `term` grows
-- by one with each host that takes the session; `holder` is the host that has it, and NULL is this one. `changes`
-- counts changes, `mattered` is that count at the last change that must not be lost, `sent` at the last one that was
-- sent. `origin` has the archive and number by which other hosts know a message that came with a session, `came` the
-- number up to which a session has those of an archive, and `stray` the numbers to remove there.
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

-- What is sent to a shared database. `shipped_profile` has the profiles whose messages are up to `shipped`. A removed
-- session is remembered with the first message id that is not its own, until it is removed there too.
CREATE TABLE shipped_profile (profile TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE session_gone (
    session TEXT NOT NULL,
    below INTEGER NOT NULL,
    birth TEXT,
    term INTEGER,
    PRIMARY KEY (session, below)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER session_goes AFTER DELETE ON session
WHEN (SELECT value FROM meta WHERE name = 'shares') = 1 BEGIN
    INSERT OR IGNORE INTO session_gone (session, below, birth, term)
    SELECT OLD.id, meta.value, held.birth, held.term
    FROM meta LEFT JOIN held ON held.session = OLD.id AND held.holder IS NULL WHERE meta.name = 'next_id';
END;

-- The ledger. `kind` is what a row changed; `added` and `removed` are tokens with herma and without it.
CREATE TABLE window_change (
    session TEXT NOT NULL,
    time REAL NOT NULL,
    kind TEXT NOT NULL,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL
) STRICT;
CREATE INDEX window_change_session ON window_change (session, time);
