//! The statements for the tables of stores.

/// Assigns revisions in one statement, if the store still has the revision, entries and birth that they begin with, and
/// notifies the other hosts. Entries that no host can read are overwritten too. Parameters: space, profile, target, the
/// revision before, the one after, the entries after, the host, the rows as JSON, the entries before, and the id that
/// distinguishes the store from another one.
pub(crate) const COMMIT: &str = "
WITH moved AS (
    UPDATE herma.store SET revision = $5, entries = $6::text::jsonb, changed_at = clock_timestamp()
    WHERE space = $1 AND profile = $2 AND target = $3 AND revision = $4 AND born::text = $10
        AND (entries = $9::text::jsonb OR jsonb_typeof(entries) <> 'array' OR octet_length(entries::text) > 4194304
            OR jsonb_path_exists(entries, 'strict $[*] ? (@.type() != \"string\")'))
    RETURNING changed_at
), kept AS (
    INSERT INTO herma.journal
        (space, profile, target, revision, at, host, action, session, agent, write_id, before, after)
    SELECT $1, $2, $3, row.revision, moved.changed_at, $7, row.action, row.session, row.agent, row.write_id,
        row.before, row.after
    FROM moved, jsonb_to_recordset($8::text::jsonb) AS row
        (revision int8, action text, session text, agent text, write_id text, before jsonb, after jsonb)
)
SELECT extract(epoch FROM changed_at)::float8,
    pg_notify('herma', encode(sha256(convert_to(concat_ws('/', $10::text, $1::text, $2::text, $3::text), 'UTF8')), 'hex')
        || ' ' || $5::int8)
FROM moved";

/// Locks a store for the next change, and returns its revision.
pub(crate) const CONTEND: &str = "
SELECT revision, born::text FROM herma.store WHERE space = $1 AND profile = $2 AND target = $3 FOR UPDATE";

/// Returns the revisions of a store after one, oldest first, at most $5 of the newest. Entries that are longer than 4
/// MiB are left out.
pub(crate) const SINCE: &str = "
SELECT revision, extract(epoch FROM at)::float8, left(host, 1000), left(action, 100), left(session, 1000), left(agent, 1000),
    CASE WHEN pg_column_size(before) <= 4194304 AND octet_length(before::text) <= 4194304 THEN before::text END,
    CASE WHEN pg_column_size(after) <= 4194304 AND octet_length(after::text) <= 4194304 THEN after::text END
FROM (
    SELECT * FROM herma.journal WHERE space = $1 AND profile = $2 AND target = $3 AND revision > $4
    ORDER BY revision DESC LIMIT $5
) AS newest ORDER BY revision";

/// Returns the revision of every store of a space.
pub(crate) const REVISIONS: &str = "SELECT profile, target, revision, born::text FROM herma.store WHERE space = $1";

/// Returns which of these writes were done, and their revisions.
pub(crate) const WRITTEN: &str = "SELECT write_id, revision FROM herma.journal WHERE space = $1 AND write_id = ANY($2)";

/// Creates a store if it does not exist.
pub(crate) const MAKE: &str = "
INSERT INTO herma.store (space, profile, target, revision, entries) VALUES ($1, $2, $3, 0, '[]')
ON CONFLICT DO NOTHING";

/// Forgets all but the newest revisions of a store.
pub(crate) const PRUNE: &str = "
DELETE FROM herma.journal WHERE space = $1 AND profile = $2 AND target = $3 AND revision <= $4";
