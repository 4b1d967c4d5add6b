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
