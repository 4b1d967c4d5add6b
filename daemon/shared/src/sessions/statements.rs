//! The statements for the tables of sessions.

/// The columns of a session, and the seconds that are left of its lease.
macro_rules! session {
    () => {
        "profile, session, birth, host, archive, term,
    greatest(0, extract(epoch FROM lease - clock_timestamp()))::float8, version"
    };
}

/// Returns the stored parts, and the SHA-256 of each. Parameters here and below: space, profile, session, birth.
pub(super) const KNOWN: &str = "
SELECT name, sha256 FROM herma.session_part WHERE space = $1 AND profile = $2 AND session = $3 AND birth = $4";

/// Returns the number of stored parts, and their bytes.
pub(super) const SIZE: &str = "
SELECT count(*), coalesce(sum(octet_length(body)), 0)::int8 FROM herma.session_part
WHERE space = $1 AND profile = $2 AND session = $3 AND birth = $4";

/// Publishes a session of an archive ($6) of a host ($5) for its term ($7). The other parameters are the seconds of the
/// lease ($8), the archives of its messages ($9), the version ($10), its parts ($11), and the changed parts: names,
/// sums and texts ($12 to $14). Returns the number of rows: 0 if another host has the session for this term or a later
/// one.
pub(super) const TELL: &str = "
WITH told AS (
    INSERT INTO herma.session AS known
        (space, profile, session, birth, host, archive, term, lease, archives, version)
    VALUES ($1, $2, $3, $4, $5, $6, $7,
        CASE WHEN $8::float8 > 0 THEN clock_timestamp() + make_interval(secs => $8) ELSE to_timestamp(0) END, $9, $10)
    ON CONFLICT (space, profile, session, birth) DO UPDATE SET host = excluded.host, archive = excluded.archive,
        term = excluded.term, lease = excluded.lease, archives = excluded.archives, version = excluded.version
    WHERE known.term < excluded.term
        OR (known.term = excluded.term AND known.host = excluded.host AND known.archive = excluded.archive)
    RETURNING 1
), gone AS (
    DELETE FROM herma.session_part WHERE space = $1 AND profile = $2 AND session = $3 AND birth = $4
        AND NOT name = ANY($11) AND EXISTS (SELECT 1 FROM told)
), kept AS (
    INSERT INTO herma.session_part (space, profile, session, birth, name, sha256, body)
    SELECT $1, $2, $3, $4, * FROM unnest($12::text[], $13::bytea[], $14::text[]) WHERE EXISTS (SELECT 1 FROM told)
    ON CONFLICT (space, profile, session, birth, name) DO UPDATE SET sha256 = excluded.sha256, body = excluded.body
)
SELECT count(*) FROM told";

/// Returns the sessions of an id, the most recently renewed first. Parameters: space, profile, session.
pub(super) const OF_ID: &str = concat!(
    "SELECT ",
    session!(),
    " FROM herma.session WHERE space = $1 AND profile = $2 AND session = $3 ORDER BY lease DESC, birth"
);

/// Gives a session to an archive ($6) of a host ($5) for $8 seconds, if it is at this term ($7), and its host released
/// it or is this one.
pub(super) const TAKE: &str = concat!(
    "UPDATE herma.session SET host = $5, archive = $6, term = term + 1,
    lease = clock_timestamp() + make_interval(secs => $8)
WHERE space = $1 AND profile = $2 AND session = $3 AND birth = $4 AND term = $7
    AND (lease <= clock_timestamp() OR (host = $5 AND archive = $6))
RETURNING ",
    session!()
);

/// Returns parts by their names ($5).
pub(super) const PARTS: &str = "
SELECT name, sha256, body FROM herma.session_part
WHERE space = $1 AND profile = $2 AND session = $3 AND birth = $4 AND name = ANY($5)";

/// Returns the hosts that uploaded messages of a session ($2), each with its archive.
pub(super) const HOSTS: &str = "
SELECT DISTINCT host, archive FROM herma.message WHERE space = $1 AND session = $2";

/// Returns texts of messages of a profile ($2) by the hosts that uploaded them ($3), their archives ($4) and numbers
/// there ($5). Texts that are much longer than published ($6) are left out; each NUL became three bytes in the upload.
pub(super) const TEXTS: &str = "
SELECT message.archive, message.number, message.body
FROM unnest($3::text[], $4::int8[], $5::int8[], $6::int8[]) AS wanted (host, archive, number, bytes)
CROSS JOIN LATERAL (
    SELECT archive, number, body FROM herma.message WHERE space = $1 AND message.host = wanted.host
        AND message.archive = wanted.archive AND message.number = wanted.number AND profile = $2
        AND octet_length(body) <= 3 * least(wanted.bytes, 1::int8 << 40) + 1024 LIMIT 1) AS message";

/// Returns the sessions that an archive ($3) of a host ($2) has, by birth and term.
pub(super) const OWN: &str = "
SELECT birth, term FROM herma.session WHERE space = $1 AND host = $2 AND archive = $3";

/// Forgets the sessions of a profile ($4) that an archive ($3) of a host ($2) has.
pub(super) const FORGET_ALL: &str = "
DELETE FROM herma.session WHERE space = $1 AND host = $2 AND archive = $3 AND profile = $4";

/// Renews the leases of those of some sessions ($2 to $5: profiles, ids, births, terms) that an archive ($7) of a host
/// ($6) has, for $8 seconds; 0 releases them. A session that its host released stays so, unless $9 is true, because it
/// may have been closed since the caller looked.
pub(super) const RENEW: &str = "
UPDATE herma.session AS known
SET lease = CASE WHEN $8::float8 > 0 THEN clock_timestamp() + make_interval(secs => $8) ELSE to_timestamp(0) END
FROM unnest($2::text[], $3::text[], $4::text[], $5::int8[]) AS wanted (profile, session, birth, term)
WHERE known.space = $1 AND known.profile = wanted.profile AND known.session = wanted.session
    AND known.birth = wanted.birth AND known.term = wanted.term AND known.host = $6 AND known.archive = $7
    AND ($9::bool OR known.lease > to_timestamp(0))";

/// Returns those of some sessions that an archive ($7) of a host ($6) no longer has in their terms. If the answer of its
/// last takeover was lost, it has one in a later term.
pub(super) const LOST: &str = concat!(
    "WITH wanted AS (SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::int8[])
    AS wanted (in_profile, of_session, of_birth, of_term))
SELECT ",
    session!(),
    " FROM wanted JOIN herma.session ON profile = in_profile AND session = of_session AND birth = of_birth
WHERE space = $1 AND term >= of_term AND NOT (term = of_term AND host = $6 AND archive = $7)"
);

/// Forgets the session of an id ($4) and birth ($5) that an archive ($3) of a host ($2) had in a term ($6). Removes
/// also the messages of it that other archives uploaded, unless these have another session of that id.
pub(super) const FORGET: &str = "
WITH gone AS (
    DELETE FROM herma.session WHERE space = $1 AND host = $2 AND archive = $3 AND session = $4
        AND birth = $5 AND term <= $6
    RETURNING profile, archives, birth
)
DELETE FROM herma.message USING gone
WHERE message.space = $1 AND message.session = $4 AND message.profile = gone.profile
    AND message.archive = ANY(gone.archives) AND NOT (message.host = $2 AND message.archive = $3)
    AND NOT EXISTS (SELECT 1 FROM herma.session AS other WHERE other.space = $1 AND other.profile = gone.profile
        AND other.session = $4 AND other.birth <> gone.birth AND message.archive = ANY(other.archives))";
