//! The statements for the table of messages.

/// Saves messages, and notes how far they go. Parameters: space, host, archive, a list for each column, and the last
/// number.
pub(super) const KEEP: &str = "
WITH kept AS (
INSERT INTO herma.message
    (space, host, archive, number, profile, session, agent, role, at, body, tokens, words, marks, terms)
SELECT $1, $2, $3, * FROM unnest($4::int8[], $5::text[], $6::text[], $7::text[], $8::text[], $9::float8[],
    $10::text[], $11::tsvector[], $12::int4[], $13::int2[], $14::bytea[])
ON CONFLICT DO NOTHING)
INSERT INTO herma.shipped (space, host, archive, through) VALUES ($1, $2, $3, $15)
ON CONFLICT (space, host, archive) DO UPDATE SET through = greatest(shipped.through, excluded.through)";

/// Returns how far an archive was uploaded.
pub(super) const SHIPPED: &str = "
SELECT through FROM herma.shipped WHERE space = $1 AND host = $2 AND archive = $3";

/// Removes a session's messages of an archive, below a number, unless another host took the session over and needs
/// them.
pub(super) const REMOVE: &str = "
DELETE FROM herma.message WHERE space = $1 AND host = $2 AND archive = $3 AND session = $4 AND number < $5
    AND NOT EXISTS (SELECT 1 FROM herma.session AS taken WHERE taken.space = message.space
        AND taken.profile = message.profile AND taken.session = message.session
        AND NOT (taken.host = $2 AND taken.archive = $3) AND $3 = ANY(taken.archives))";

/// Removes messages of an archive by their numbers.
pub(super) const REMOVE_EACH: &str = "
DELETE FROM herma.message WHERE space = $1 AND host = $2 AND archive = $3 AND number = ANY($4)";

/// Removes some of an archive's messages below a number, except those of published sessions.
pub(super) const REMOVE_SOME: &str = "
DELETE FROM herma.message WHERE space = $1 AND host = $2 AND archive = $3 AND number IN (
    SELECT number FROM herma.message WHERE space = $1 AND host = $2 AND archive = $3 AND number < $4
    AND NOT EXISTS (SELECT 1 FROM herma.session AS told WHERE told.space = message.space
        AND told.profile = message.profile AND told.session = message.session AND $3 = ANY(told.archives))
    ORDER BY number LIMIT $5)";

/// Counts the messages of other archives up to a limit; above it, returns the database's estimate. Parameters: space,
/// the host and the archive of the request, the archives and ids of sessions that came to it, up to which numbers, and
/// the profiles. Then, each may be null: a session, the earliest time, and the end of the time range. The last one is
/// the limit.
pub(super) const COUNT_ALL: &str = "
SELECT CASE WHEN number < $11 THEN number ELSE greatest(number, (
    SELECT reltuples::int8 FROM pg_class WHERE oid = 'herma.message'::regclass)) END
FROM (SELECT count(*) AS number FROM (
    SELECT 1 FROM herma.message WHERE space = $1 AND NOT (host = $2 AND archive = $3) AND profile = ANY($7)
        AND NOT EXISTS (SELECT 1 FROM unnest($4::int8[], $5::text[], $6::int8[]) AS came (archive, session, through)
            WHERE came.archive = message.archive AND came.session = message.session AND number <= came.through)
        AND tokens IS NOT NULL AND ($8::text IS NULL OR session = $8) AND ($9::float8 IS NULL OR at >= $9)
        AND ($10::float8 IS NULL OR at < $10)
    LIMIT $11) AS counted) AS messages";

/// Counts the messages with each of some expressions ($11), up to a limit ($12); the other parameters are the same.
pub(super) const COUNT: &str = "
SELECT * FROM herma.count_messages($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::text[]::tsquery[], $12)";

/// Returns the best messages for an expression ($11) by the worth ($13) of each of some others ($12), at most $14. Each
/// has the terms of the $15 messages before it and the $16 messages after it.
pub(super) const FIND: &str = "
SELECT * FROM herma.find_messages(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::text::tsquery, $12::text[]::tsquery[], $13, $14, $15, $16)";

/// Returns messages by their names, in that order, as long as they have at most $6 bytes together. Parameters: space,
/// hosts, archives, numbers, the profiles.
pub(super) const BY_KEY: &str = "
SELECT host, archive, number, profile, session, agent, role, at, body FROM (
SELECT message.*, sum(octet_length(body)) OVER (ORDER BY place) AS bytes
FROM unnest($2::text[], $3::int8[], $4::int8[]) WITH ORDINALITY AS wanted (host, archive, number, place)
CROSS JOIN LATERAL (
    SELECT * FROM herma.message WHERE space = $1 AND message.host = wanted.host AND message.archive = wanted.archive
        AND message.number = wanted.number AND profile = ANY($5) LIMIT 1) AS message) AS message WHERE bytes <= $6";

/// Returns a message with those around it in its session: at most $6 before it and $7 after it, nearest first as long
/// as they have at most $8 bytes. Each row has the number of the first message after them that is not returned, if
/// there is one.
pub(super) const AROUND: &str = "
WITH wanted AS (
    SELECT session FROM herma.message
    WHERE space = $1 AND host = $2 AND archive = $3 AND number = $4 AND profile = ANY($5)
),
around AS (
    (SELECT message.*, false AS is_beyond FROM herma.message, wanted WHERE space = $1 AND host = $2 AND archive = $3
        AND message.session = wanted.session AND number < $4 ORDER BY number DESC LIMIT $6::int8)
    UNION ALL
    (SELECT message.*, row_number() OVER (ORDER BY number) > $7::int8 + 1 FROM herma.message, wanted
        WHERE space = $1 AND host = $2 AND archive = $3
        AND message.session = wanted.session AND number >= $4 ORDER BY number LIMIT $7::int8 + 2)
),
sized AS (
    SELECT around.*, sum(CASE WHEN is_beyond THEN 0 ELSE octet_length(body) END)
        OVER (ORDER BY abs(number - $4), number) AS bytes FROM around
),
given AS (SELECT * FROM sized WHERE NOT is_beyond AND (bytes <= $8 OR number = $4))
SELECT host, archive, number, profile, session, agent, role, at, body,
    (SELECT min(number) FROM sized WHERE number > (SELECT max(number) FROM given)) AS next
FROM given ORDER BY number";
