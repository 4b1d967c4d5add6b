//! The statements for the tables of outputs.

/// Saves a text by its content, or notes that a host is about to name it. Parameters: space, sha256, bytes, and the
/// text if the database is to store it.
pub(super) const TOUCH: &str = "
INSERT INTO herma.content (space, sha256, bytes, body) VALUES ($1, $2, $3, $4)
ON CONFLICT (space, sha256) DO UPDATE SET touched_at = clock_timestamp(), body = coalesce(content.body, excluded.body)";

/// Saves an output. Parameters: space, host, handle, sha256, profile, session, tool, call, whether others can read it,
/// and when it was kept.
pub(super) const KEEP: &str = "
INSERT INTO herma.output (space, host, handle, sha256, profile, session, tool, call, is_shared, at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (space, host, handle) DO UPDATE SET sha256 = excluded.sha256, profile = excluded.profile,
    session = excluded.session, tool = excluded.tool, call = excluded.call, is_shared = excluded.is_shared,
    at = excluded.at";

/// Returns the outputs of a host.
pub(super) const OWN: &str = "SELECT handle, is_shared FROM herma.output WHERE space = $1 AND host = $2";

/// Forgets outputs of a host.
pub(super) const FORGET: &str = "DELETE FROM herma.output WHERE space = $1 AND host = $2 AND handle = ANY($3)";

/// Returns the outputs with a handle, and their hosts. Parameters: space, handle, profiles.
pub(super) const OF_HANDLE: &str = "
SELECT host, handle, output.sha256, profile, session, tool, call, is_shared, at, content.bytes
FROM herma.output JOIN herma.content ON content.space = output.space AND content.sha256 = output.sha256
WHERE handle = $2 AND output.space = $1 AND profile = ANY($3)
ORDER BY is_shared DESC, at DESC";

/// Returns a text that the database stores.
pub(super) const BODY: &str = "
SELECT body FROM herma.content WHERE space = $1 AND sha256 = $2 AND octet_length(body) <= 262144";

/// Whether there is an output that others can read and whose text is in an object store.
pub(super) const IN_OBJECTS: &str = "
SELECT EXISTS (
    SELECT 1 FROM herma.output JOIN herma.content
        ON content.space = output.space AND content.sha256 = output.sha256
    WHERE output.space = $1 AND output.is_shared AND content.body IS NULL
)";

/// Removes texts that no output has named for an hour, at most $2, and returns their sha256. Texts that may be in an
/// object store are removed only if it is available ($3).
pub(super) const UNNAMED: &str = "
DELETE FROM herma.content WHERE (space, sha256) IN (
    SELECT space, sha256 FROM herma.content
    WHERE space = $1 AND touched_at < clock_timestamp() - interval '1 hour'
        AND NOT EXISTS (
            SELECT 1 FROM herma.output WHERE output.space = content.space AND output.sha256 = content.sha256)
        AND (body IS NOT NULL OR $3)
    LIMIT $2 FOR UPDATE SKIP LOCKED
)
RETURNING sha256";
