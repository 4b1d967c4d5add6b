-- Stores that several hosts share. PostgreSQL 13 and later.
CREATE SCHEMA IF NOT EXISTS herma;

-- Which of these steps were taken.
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
