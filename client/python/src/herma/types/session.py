"""Sessions, their chain, locks and usage."""

from __future__ import annotations

from typing import Literal, TypedDict

UsageBy = Literal["session", "model", "agent", "day"]


class Revisions(TypedDict):
    """The revisions that a snapshot was taken at."""

    memory: int
    user: int


class Snapshot(TypedDict):
    """The rendered blocks, null for an empty store.

    ``sha256`` is the hex digest of memory block, newline, user block.
    """

    memory: str | None
    user: str | None
    sha256: str
    revision: Revisions


class OpenedSession(TypedDict):
    """A session and what it froze."""

    session: str
    generation: int
    resumed: bool
    snapshot: Snapshot


class Appended(TypedDict):
    """Position of the next message."""

    position: int


class Totals(TypedDict):
    """Calls of models, and tokens."""

    calls: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int
    prompt: int
    total: int


class UsageRow(Totals):
    """What belongs to one session, model, agent or day."""

    key: str


class UsageTable(TypedDict):
    """Most tokens first, days in their order."""

    rows: list[UsageRow]
    total: Totals


class SessionRow(TypedDict):
    """A session."""

    session: str
    parent: str | None
    title: str | None
    agent: str | None
    model: str | None
    profile: str
    generation: int
    started_at: float
    ended_at: float | None
    end_reason: str | None
    messages: int
    tool_calls: int
    usage: Totals
    lineage_root: str
    preview: str
    last_active: float
    cwd: str | None


class SessionList(TypedDict):
    """Sessions, newest root first."""

    sessions: list[SessionRow]


class SessionId(TypedDict):
    """A session's id."""

    session: str


class NextTitle(TypedDict):
    """A title."""

    title: str


class LockResult(TypedDict):
    """Whether the lock was taken or released."""

    ok: bool


class LockHolder(TypedDict):
    """Who has the lock."""

    holder: str | None


class RemovedSession(TypedDict):
    """What is gone for good."""

    messages: int
    outputs: int
    bytes: int
