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

-- A store: what it holds, and at which revision. `born` tells a database that was made anew, or put back
-- from a backup of another one, from the one that a host knew.
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

-- Each change of a store, with what it held before and after. A revision is given once, and so is the id of
-- a write: who asks again, after a connection broke, finds it.
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

-- A role sees the spaces that it is a member of, whatever it asks for; the owner of the tables sees all.
ALTER TABLE herma.member ENABLE ROW LEVEL SECURITY;
ALTER TABLE herma.store ENABLE ROW LEVEL SECURITY;
ALTER TABLE herma.journal ENABLE ROW LEVEL SECURITY;
CREATE POLICY member_own ON herma.member USING (role = current_user);
CREATE POLICY store_own ON herma.store
    USING (space IN (SELECT member.space FROM herma.member WHERE member.role = current_user));
CREATE POLICY journal_own ON herma.journal
    USING (space IN (SELECT member.space FROM herma.member WHERE member.role = current_user));

-- Messages that were said on any host, to be found on all of them. `archive` tells those of a host's archive from
-- those of one that it had before; `tokens` are herma's own, so that the same words find the same here and there;
-- they stand in the row itself as far as they fit, for a search looks at those of thousands.
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

-- How far each archive was brought: a host that finds less here than it brought brings the rest again, and one that finds
-- more than it ever sent knows that its archive was put back from a backup.
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

-- Whether whoever is connected may see a space. Below the policy above no index can answer `@@`, for PostgreSQL
-- does not know that this operator tells nobody of the rows that it is asked about; so what follows searches as the
-- owner of the tables, and asks this first.
CREATE FUNCTION herma.may_see(wanted text) RETURNS bool
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT 1 FROM herma.member WHERE member.space = wanted AND member.role = session_user)
        OR pg_has_role(session_user, current_user, 'USAGE')
$$;

REVOKE ALL ON FUNCTION herma.may_see FROM PUBLIC;

-- Outputs of tools that were kept on any host: who has which, and their texts by content. A text is here, in `body`,
-- or in an object store, by its sha256; one without either is on its host alone. A text that no row names for an hour
-- is removed: `touched_at` says when somebody was about to name it.
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

-- Sessions that hosts hand to each other: who has which, until when nobody else may take it, and all that its host
-- kept of it, in parts. `birth` tells a session from another one of its id; `term` grows by one with each host that
-- takes it; `lease` is the beginning of 1970 where its host let it go; `archives` are those that its messages came to first, where their texts are found by their numbers.
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

-- What is searched may leave out what came to whoever asks with sessions: messages of an archive in one up to a number.
-- In how many messages each of some expressions is, counted up to a limit; none of one archive are counted. The space
-- is compared in a way that no index knows: it would be gone through as a whole.
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

-- The best messages for an expression by what each of some others is worth, with the terms of those around them in
-- their sessions: so many before and behind, the nearest first.
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
