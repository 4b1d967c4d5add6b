"""The types of `session`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

    from .guard import SecretCount

UsageBy = Literal["session", "model", "agent", "day"]
"""What the rows of `session.usage` and `ledger.read` are grouped by."""


class LedgerCall(TypedDict):
    """A model call."""

    id: str
    """The call's id: 1 to 1,024 chars without control characters. A repeated id is recorded only
    once.
    """
    time: float
    """When the call was made, in Unix seconds."""
    model: NotRequired[str | None]
    """The model; the session's when absent."""
    provider: NotRequired[str | None]
    """The provider."""
    api_mode: NotRequired[str | None]
    """The protocol of the endpoint."""
    usage: Any
    """The provider's usage report, unchanged."""


class Revisions(TypedDict):
    """The revisions of a profile's two stores."""

    memory: int
    """The revision of MEMORY.md."""
    user: int
    """The revision of USER.md."""


class SessionAppend(TypedDict):
    """Result of `session.append`."""

    position: int
    """Position of the next message."""
    secrets: NotRequired[list[SecretCount]]
    """The masked secrets of a captured session by kind; absent if there was none."""


class SessionId(TypedDict):
    """Result of `session.tip` and `session.resume_target`."""

    session: str
    """The session's id."""


class SessionImport(TypedDict):
    """Result of `session.import`."""

    position: int
    """Position of the next message."""
    masked: NotRequired[int]
    """Number of messages in which a secret was masked or a private part left out; absent if there
    was none.
    """
    secrets: NotRequired[list[SecretCount]]
    """The masked secrets by kind; absent if there was none."""


class SessionList(TypedDict):
    """Result of `session.list`."""

    sessions: list[SessionRow]
    """The sessions, newest root first."""


class SessionLock(TypedDict):
    """Result of `session.lock` and `session.unlock`."""

    ok: bool
    """Whether the lock was taken or released."""


class SessionLockHolder(TypedDict):
    """Result of `session.lock_holder`."""

    holder: str | None
    """The holder of the lock; null if it is free."""


class SessionMessage(TypedDict):
    """A message of a session."""

    handle: str
    """The handle for `recall.expand`."""
    role: str | None
    """Its role; null if it has none."""
    time: float
    """When it was kept, in Unix seconds."""
    text: str
    """Its text with the names and the arguments of its calls, at most the first 2,000 chars."""
    chars: NotRequired[int]
    """The chars of the whole text, if it is longer than that."""
    left_by: str | None
    """The compression that removed it from the list; null while it is in it."""
    message: NotRequired[Any]
    """The whole message, if it was requested."""


class SessionMessages(TypedDict):
    """Result of `session.messages`."""

    messages: list[SessionMessage]
    """The messages in the order in which they were said."""
    first: int
    """The number of the first one."""
    total: int
    """How many there are in all, of these roles."""


class SessionNextTitle(TypedDict):
    """Result of `session.next_title`."""

    title: str
    """The title of the continuation."""


class SessionOpen(TypedDict):
    """Result of `session.open`."""

    session: str
    """The session's id."""
    generation: int
    """Incremented by each in-place compression, from 0."""
    resumed: bool
    """Whether the session already existed; the snapshot is then the old one."""
    snapshot: Snapshot
    """The frozen memory blocks."""
    moved_from: NotRequired[str]
    """The host that owned the session until now; absent if it was this one."""


class SessionRemove(TypedDict):
    """Result of `session.remove`: counts of what was deleted."""

    messages: int
    """Deleted messages."""
    outputs: int
    """Deleted spilled outputs."""
    bytes: int
    """Bytes of both."""


class SessionRow(TypedDict):
    """A session in the result of `session.show` and `session.list`."""

    session: str
    """Its id."""
    parent: str | None
    """The parent session."""
    title: str | None
    """A title for people."""
    agent: str | None
    """The agent."""
    model: str | None
    """The model that it uses."""
    profile: str
    """The profile that it belongs to."""
    generation: int
    """Incremented by each in-place compression, from 0."""
    started_at: float
    """When it was first opened, in Unix seconds. For a compressed chain in `session.list`, when its
    root was opened.
    """
    ended_at: float | None
    """When it ended, in Unix seconds; null while it is open."""
    end_reason: str | None
    """Why it ended."""
    messages: int
    """Number of its stored messages."""
    tool_calls: int
    """Number of tool calls in them."""
    usage: Totals
    """Tokens of its model calls."""
    lineage_root: str
    """The first session in its chain of compressions."""
    preview: str
    """The beginning of the user's first message; empty if no message is stored."""
    last_active: float
    """When it was last active, in Unix seconds."""
    cwd: str | None
    """The working directory of the agent, if known."""
    source: str | None
    """The file of another program from which it was imported."""
    branch: NotRequired[str]
    """The branch of the working directory's repository; absent if unknown."""
    context_length: NotRequired[int]
    """The model's window in tokens; absent if unknown."""
    last_prompt: NotRequired[int]
    """Tokens of its newest model call's prompt; absent if no call was recorded."""


class SessionUsage(TypedDict):
    """Result of `session.usage`."""

    rows: list[UsageRow]
    """The rows by descending number of tokens, or days in order."""
    total: Totals
    """The sum of all rows."""


class Snapshot(TypedDict):
    """The rendered blocks of both stores, frozen for a session."""

    memory: str | None
    """The block of MEMORY.md; null if it was empty."""
    user: str | None
    """The block of USER.md; null if it was empty."""
    sha256: str
    """SHA-256 in hex of memory block, newline and user block; a missing block counts as empty."""
    revision: Revisions
    """The revisions of the stores in the snapshot."""


class Totals(TypedDict):
    """The usage of several calls together, without a key."""

    calls: int
    """Number of model calls."""
    input: int
    """Input tokens not served by a cache."""
    output: int
    """Output tokens."""
    cache_read: int
    """Tokens read from a prompt cache."""
    cache_write: int
    """Tokens written to a prompt cache."""
    reasoning: int
    """Reasoning tokens; they are part of `output`."""
    prompt: int
    """Sum of `input`, `cache_read` and `cache_write`."""
    total: int
    """Sum of `prompt` and `output`."""


class UsageRow(TypedDict):
    """The usage of one group of calls."""

    key: str
    """The session, model, agent or day (YYYY-MM-DD)."""
    calls: int
    """Number of model calls."""
    input: int
    """Input tokens not served by a cache."""
    output: int
    """Output tokens."""
    cache_read: int
    """Tokens read from a prompt cache."""
    cache_write: int
    """Tokens written to a prompt cache."""
    reasoning: int
    """Reasoning tokens; they are part of `output`."""
    prompt: int
    """Sum of `input`, `cache_read` and `cache_write`."""
    total: int
    """Sum of `prompt` and `output`."""
