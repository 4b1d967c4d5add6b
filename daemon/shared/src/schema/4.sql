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
DROP FUNCTION herma.count_messages;
DROP FUNCTION herma.find_messages;
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
