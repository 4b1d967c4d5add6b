"""The types of `session`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

UsageBy = Literal["session", "model", "agent", "day"]
"""What makes a row of `session.usage`."""


class Revisions(TypedDict):
    """The revisions of a profile's two stores."""

    memory: int
    """Of MEMORY.md."""
    user: int
    """Of USER.md."""


class SessionAppend(TypedDict):
    """Result of `session.append`."""

    position: int
    """Position of the next message."""


class SessionId(TypedDict):
    """Result of `session.tip` and `session.resume_target`."""

    session: str
    """The session's id."""


class SessionImport(TypedDict):
    """Result of `session.import`."""

    position: int
    """Position of the next message."""


class SessionList(TypedDict):
    """Result of `session.list`."""

    sessions: list[SessionRow]
    """The sessions, newest root first."""


class SessionLock(TypedDict):
    """Result of `session.lock` and `session.unlock`."""

    ok: bool
    """Whether it was taken or released."""


class SessionLockHolder(TypedDict):
    """Result of `session.lock_holder`."""

    holder: str | None
    """Who has it; null when nobody does."""


class SessionNextTitle(TypedDict):
    """Result of `session.next_title`."""

    title: str
    """The title of the continuation."""


class SessionOpen(TypedDict):
    """Result of `session.open`."""

    session: str
    """The session's id."""
    generation: int
    """Grows by one with each in-place compression, from 0."""
    resumed: bool
    """The session was known before; the snapshot is the old one."""
    snapshot: Snapshot
    """The frozen blocks."""
    moved_from: NotRequired[str]
    """The host that had it until now; absent where this one had."""


class SessionRemove(TypedDict):
    """Result of `session.remove`: what is gone for good."""

    messages: int
    """Messages."""
    outputs: int
    """Spilled outputs."""
    bytes: int
    """Bytes of both."""


class SessionRow(TypedDict):
    """A session as `session.show` and `session.list` give it."""

    session: str
    """Its id."""
    parent: str | None
    """The session that it came out of."""
    title: str | None
    """A title for people."""
    agent: str | None
    """Which agent."""
    model: str | None
    """The model that it uses."""
    profile: str
    """The profile that it belongs to."""
    generation: int
    """Grows by one with each in-place compression, from 0."""
    started_at: float
    """When it was first opened, in Unix seconds. Of a compressed chain in `session.list`: when its
    root was.
    """
    ended_at: float | None
    """When it ended; null while it is open."""
    end_reason: str | None
    """Why it ended."""
    messages: int
    """Messages that are kept of it."""
    tool_calls: int
    """Tool calls in them."""
    usage: Totals
    """What its calls of models used."""
    lineage_root: str
    """The session that its chain of compressions began with."""
    preview: str
    """The beginning of what the user first said; empty when nothing is kept."""
    last_active: float
    """When it last did something, in Unix seconds."""
    cwd: str | None
    """The folder that the agent worked in, when that is known."""
    source: str | None
    """The file of another program that it was imported from."""


class SessionUsage(TypedDict):
    """Result of `session.usage`."""

    rows: list[UsageRow]
    """Most tokens first; days in their order."""
    total: Totals
    """All rows together."""


class Snapshot(TypedDict):
    """The rendered blocks of both stores, frozen for a session."""

    memory: str | None
    """The block of MEMORY.md; null when it was empty."""
    user: str | None
    """The block of USER.md; null when it was empty."""
    sha256: str
    """Hex, of memory block, newline, user block; a missing block counts as empty."""
    revision: Revisions
    """The revisions that were frozen."""


class Totals(TypedDict):
    """The same without a key."""

    calls: int
    """Calls of a model."""
    input: int
    """Tokens that were sent and not cached."""
    output: int
    """Tokens that came back."""
    cache_read: int
    """Tokens read from a prompt cache."""
    cache_write: int
    """Tokens written to a prompt cache."""
    reasoning: int
    """Tokens of reasoning, part of `output`."""
    prompt: int
    """`input`, `cache_read` and `cache_write` together."""
    total: int
    """`prompt` and `output` together."""


class UsageRow(TypedDict):
    """Calls that belong together."""

    key: str
    """The session, the model, the agent or the day (YYYY-MM-DD)."""
    calls: int
    """Calls of a model."""
    input: int
    """Tokens that were sent and not cached."""
    output: int
    """Tokens that came back."""
    cache_read: int
    """Tokens read from a prompt cache."""
    cache_write: int
    """Tokens written to a prompt cache."""
    reasoning: int
    """Tokens of reasoning, part of `output`."""
    prompt: int
    """`input`, `cache_read` and `cache_write` together."""
    total: int
    """`prompt` and `output` together."""
