-- Stores that several hosts share. PostgreSQL 13 and later.
CREATE SCHEMA IF NOT EXISTS herma;

-- Which versions were made.
CREATE TABLE herma.version (
    version int4 PRIMARY KEY,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Which role may use which space.
CREATE TABLE herma.member (
    role text NOT NULL,
    space text NOT NULL,
    PRIMARY KEY (role, space)
);

-- A store: its entries and its revision. `born` changes when a database is created again, or restored from a backup of
-- another one, so that a host does not take it for the one it knew.
CREATE TABLE herma.store (
    space text NOT NULL,
    profile text NOT NULL,
    target text NOT NULL,
    revision int8 NOT NULL,
    entries jsonb NOT NULL,
    born uuid NOT NULL DEFAULT gen_random_uuid(),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (space, profile, target)
) WITH (fillfactor = 50);

-- Each change of a store, with its entries before and after. A revision is given once, and so is the id of a write: a host
-- that repeats a write after its connection broke finds the row.
CREATE TABLE herma.journal (
    space text NOT NULL,
    profile text NOT NULL,
    target text NOT NULL,
    revision int8 NOT NULL,
    at timestamptz NOT NULL,
    host text NOT NULL,
    action text NOT NULL,
    session text,
    agent text,
    write_id text NOT NULL,
    before jsonb NOT NULL,
    after jsonb NOT NULL,
    PRIMARY KEY (space, profile, target, revision),
    UNIQUE (space, write_id)
);

-- A role sees only the spaces that it is a member of. The owner of the tables sees all.
ALTER TABLE herma.member ENABLE ROW LEVEL SECURITY;
ALTER TABLE herma.store ENABLE ROW LEVEL SECURITY;
ALTER TABLE herma.journal ENABLE ROW LEVEL SECURITY;
CREATE POLICY member_own ON herma.member USING (role = current_user);
CREATE POLICY store_own ON herma.store
    USING (space IN (SELECT member.space FROM herma.member WHERE member.role = current_user));
CREATE POLICY journal_own ON herma.journal
    USING (space IN (SELECT member.space FROM herma.member WHERE member.role = current_user));

-- Messages of all hosts, which every host can find. `archive` is the identity of a host's archive; an archive that was
-- replaced had another one. `tokens` are herma's own, so that a word finds the same messages here and locally. They are
-- stored in the row itself as far as they fit, because a search reads those of thousands.
CREATE TABLE herma.message (
    space text NOT NULL,
    host text NOT NULL,
    archive int8 NOT NULL,
    number int8 NOT NULL,
    profile text NOT NULL,
    session text NOT NULL,
    agent text,
    role text NOT NULL,
    at float8 NOT NULL,
    body text NOT NULL,
    tokens tsvector,
    words int4 NOT NULL DEFAULT 0,
    marks int2 NOT NULL DEFAULT 0,
    terms bytea,
    PRIMARY KEY (space, host, archive, number)
) WITH (toast_tuple_target = 8160);
CREATE INDEX message_tokens ON herma.message USING gin (tokens);
CREATE INDEX message_session ON herma.message (session, space, host, archive, number);

-- How far each archive was uploaded. A host that finds less here than it uploaded sends the rest again. One that finds more
-- than it ever sent knows that its archive was restored from a backup.
CREATE TABLE herma.shipped (
    space text NOT NULL,
    host text NOT NULL,
    archive int8 NOT NULL,
    through int8 NOT NULL,
    PRIMARY KEY (space, host, archive)
);

ALTER TABLE herma.message ENABLE ROW LEVEL SECURITY;
ALTER TABLE herma.shipped ENABLE ROW LEVEL SECURITY;
CREATE POLICY shipped_own ON herma.shipped
    USING (space IN (SELECT member.space FROM herma.member WHERE member.role = current_user));
CREATE POLICY message_own ON herma.message
    USING (space IN (SELECT member.space FROM herma.member WHERE member.role = current_user));

-- Returns whether the connected role may see a space. Under the policy above PostgreSQL uses no index for `@@`, because it
-- can't know that the operator leaks nothing about rows. The functions below therefore search as the owner of the tables,
-- and call this function first.
CREATE FUNCTION herma.may_see(wanted text) RETURNS bool
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT 1 FROM herma.member WHERE member.space = wanted AND member.role = session_user)
        OR pg_has_role(session_user, current_user, 'USAGE')
$$;

REVOKE ALL ON FUNCTION herma.may_see FROM PUBLIC;

-- Outputs of tools of all hosts, and their texts by content. A text is in `body`, or in an object store under its sha256;
-- without either it is on its host only. A text that no row names for an hour is removed. `touched_at` is when a host was
-- last about to name it.
CREATE TABLE herma.content (
    space text NOT NULL,
    sha256 bytea NOT NULL CHECK (length(sha256) = 32),
    bytes int8 NOT NULL,
    body bytea,
    touched_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (space, sha256)
);
ALTER TABLE herma.content ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE TABLE herma.output (
    space text NOT NULL,
    host text NOT NULL,
    handle text NOT NULL,
    sha256 bytea NOT NULL,
    profile text NOT NULL,
    session text NOT NULL,
    tool text NOT NULL,
    call text NOT NULL,
    is_shared bool NOT NULL,
    at float8 NOT NULL,
    PRIMARY KEY (space, host, handle),
    FOREIGN KEY (space, sha256) REFERENCES herma.content (space, sha256)
);
CREATE INDEX output_handle ON herma.output (handle, space);
CREATE INDEX output_content ON herma.output (sha256, space);

ALTER TABLE herma.content ENABLE ROW LEVEL SECURITY;
ALTER TABLE herma.output ENABLE ROW LEVEL SECURITY;
CREATE POLICY content_own ON herma.content
    USING (space IN (SELECT member.space FROM herma.member WHERE member.role = current_user));
CREATE POLICY output_own ON herma.output
    USING (space IN (SELECT member.space FROM herma.member WHERE member.role = current_user));

-- Sessions that hosts hand to each other: the host that has a session, until when no other host may take it, and its data in
-- parts. `birth` distinguishes sessions with one id. `term` grows by one with each host that takes the session. `lease` is the
-- beginning of 1970 if its host released it. `archives` are those that first received its messages, which names their texts.
CREATE TABLE herma.session (
    space text NOT NULL,
    profile text NOT NULL,
    session text NOT NULL,
    birth text NOT NULL,
    host text NOT NULL,
    archive int8 NOT NULL,
    term int8 NOT NULL,
    lease timestamptz NOT NULL,
    archives int8[] NOT NULL,
    version int4 NOT NULL,
    PRIMARY KEY (space, profile, session, birth)
);
CREATE INDEX session_host ON herma.session (space, host, archive);
CREATE TABLE herma.session_part (
    space text NOT NULL,
    profile text NOT NULL,
    session text NOT NULL,
    birth text NOT NULL,
    name text NOT NULL,
    sha256 bytea NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (space, profile, session, birth, name),
    FOREIGN KEY (space, profile, session, birth) REFERENCES herma.session ON DELETE CASCADE
);
ALTER TABLE herma.session ENABLE ROW LEVEL SECURITY;
ALTER TABLE herma.session_part ENABLE ROW LEVEL SECURITY;
CREATE POLICY session_own ON herma.session
    USING (space IN (SELECT member.space FROM herma.member WHERE member.role = current_user));
CREATE POLICY session_part_own ON herma.session_part
    USING (space IN (SELECT member.space FROM herma.member WHERE member.role = current_user));

-- A search can leave out messages that the calling host received with sessions: those of an archive up to a number.
-- Counts the messages that match each expression, up to a limit, without those of one archive. The space is compared in a
-- form that no index has, because such an index would be read as a whole.
CREATE FUNCTION herma.count_messages(
    in_space text, not_host text, not_archive int8, came_archives int8[], came_sessions text[], came_through int8[],
    of_profiles text[], of_session text, since float8, until float8, queries tsquery[], most int8
) RETURNS SETOF int8
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT (
        SELECT count(*) FROM (
            SELECT 1 FROM herma.message
            WHERE tokens @@ wanted.query AND (space || '') = in_space AND NOT (host = not_host AND archive = not_archive)
                AND NOT EXISTS (
                    SELECT 1 FROM unnest(came_archives, came_sessions, came_through) AS came (archive, session, through)
                    WHERE came.archive = message.archive AND came.session = message.session AND message.number <= came.through)
                AND profile = ANY (of_profiles) AND (of_session IS NULL OR session = of_session)
                AND (since IS NULL OR at >= since) AND (until IS NULL OR at < until)
            LIMIT most
        ) AS counted
    )
    FROM unnest(queries) WITH ORDINALITY AS wanted (query, place)
    WHERE (SELECT herma.may_see(in_space))
    ORDER BY place
$$;

-- Returns the best messages for an expression, by the worth of each of the queries that they match, with the terms of the
-- messages around them in their sessions: so many before and after, the nearest first.
CREATE FUNCTION herma.find_messages(
    in_space text, not_host text, not_archive int8, came_archives int8[], came_sessions text[], came_through int8[],
    of_profiles text[], of_session text, since float8, until float8,
    expression tsquery, queries tsquery[], worths float8[], most int8, before int8, behind int8
) RETURNS TABLE (
    host text, archive int8, number int8, words int4, marks int2, terms bytea, first float8, has bool[],
    earlier_words int4[], earlier_marks int2[], earlier_terms bytea[], later_words int4[], later_marks int2[],
    later_terms bytea[]
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH fitting AS MATERIALIZED (
        SELECT message.host, message.archive, message.number, message.at,
            (SELECT array_agg(tokens @@ wanted.query ORDER BY place)
             FROM unnest(queries) WITH ORDINALITY AS wanted (query, place)) AS has
        FROM herma.message
        WHERE tokens @@ expression AND (space || '') = in_space
            AND NOT (message.host = not_host AND message.archive = not_archive)
            AND NOT EXISTS (
                SELECT 1 FROM unnest(came_archives, came_sessions, came_through) AS came (archive, session, through)
                WHERE came.archive = message.archive AND came.session = message.session AND message.number <= came.through)
            AND profile = ANY (of_profiles) AND (of_session IS NULL OR session = of_session)
            AND (since IS NULL OR at >= since) AND (until IS NULL OR at < until)
            AND (SELECT herma.may_see(in_space))
    ), best AS MATERIALIZED (
        SELECT fitting.*, (
            SELECT coalesce(sum(worth), 0) FROM unnest(fitting.has, worths) AS part (has, worth) WHERE part.has
        ) AS first
        FROM fitting ORDER BY first DESC, fitting.at DESC LIMIT most
    )
    SELECT best.host, best.archive, best.number, own.words, own.marks, own.terms, best.first, best.has,
        earlier.words, earlier.marks, earlier.terms, later.words, later.marks, later.terms
    FROM best
    JOIN herma.message AS own ON own.space = in_space AND own.host = best.host AND own.archive = best.archive
        AND own.number = best.number
    CROSS JOIN LATERAL (
        SELECT array_agg(near.words) AS words, array_agg(near.marks) AS marks,
            array_agg(coalesce(near.terms, '')) AS terms
        FROM (
            SELECT near.words, near.marks, near.terms FROM herma.message AS near
            WHERE near.space = in_space AND near.host = own.host AND near.archive = own.archive
                AND near.session = own.session AND near.number < own.number
            ORDER BY near.number DESC LIMIT before
        ) AS near
    ) AS earlier
    CROSS JOIN LATERAL (
        SELECT array_agg(near.words) AS words, array_agg(near.marks) AS marks,
            array_agg(coalesce(near.terms, '')) AS terms
        FROM (
            SELECT near.words, near.marks, near.terms FROM herma.message AS near
            WHERE near.space = in_space AND near.host = own.host AND near.archive = own.archive
                AND near.session = own.session AND near.number > own.number
            ORDER BY near.number LIMIT behind
        ) AS near
    ) AS later
    ORDER BY best.first DESC, best.number DESC
$$;
REVOKE ALL ON FUNCTION herma.count_messages, herma.find_messages FROM PUBLIC;
