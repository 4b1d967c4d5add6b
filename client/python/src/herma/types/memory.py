"""The types of `memory`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

Action = Literal["add", "replace", "remove"]
"""The kind of an operation."""

Severity = Literal["block", "warn"]
"""Whether a finding makes the daemon refuse a text."""

Target = Literal["memory", "user"]
"""One of a profile's two stores."""


class Decided(TypedDict):
    """The outcome of an approved write."""

    id: str
    """The id of the write."""
    result: WriteResult
    """The result of the write."""


class Finding(TypedDict):
    """A match of a guard pattern in a text."""

    id: str
    """The id of the pattern, such as `prompt_injection`."""
    start: int
    """Start of the match, in chars of the original text."""
    end: int
    """End of the match (exclusive), in chars of the original text."""
    folded: bool
    """Whether it was found only after folding look-alike characters."""
    severity: Severity
    """Whether the text is refused."""


class LogRow(TypedDict):
    """One change of a store, as recorded in the journal."""

    target: Target
    """The store."""
    revision: int
    """The revision that the change created."""
    time: float
    """When the change was made, in Unix seconds."""
    action: str
    """`add`, `replace`, `remove`, `batch`, `undo` or `restore`; `external` for a change by another
    program; `join` for entries that a host brought when it began to share.
    """
    session: str | None
    """The session that wrote."""
    agent: str | None
    """The agent that wrote."""
    host: NotRequired[str]
    """The host on which it was written, if several hosts share the store."""
    before: list[str]
    """All entries before the change."""
    after: list[str]
    """All entries after the change."""


class MemoryApprove(TypedDict):
    """Result of `memory.approve`."""

    approved: list[Decided]
    """Approved writes that are now done and no longer wait."""
    failed: list[Decided]
    """Writes that the store refused; they still wait."""


class MemoryList(TypedDict):
    """Result of `memory.list`; a store that was not requested is null."""

    memory: StoreView | None
    """MEMORY.md."""
    user: StoreView | None
    """USER.md."""
    pending_count: NotRequired[int]
    """Number of the profile's writes that wait for approval; absent if there are none."""


class MemoryLog(TypedDict):
    """Result of `memory.log`."""

    rows: list[LogRow]
    """The changes, newest first."""
    more: bool
    """Whether there are older rows."""
    damaged: int
    """Number of damaged journal lines, which are left out."""
    pending_count: NotRequired[int]
    """Number of the profile's writes that wait for approval; absent if there are none."""


class MemoryPending(TypedDict):
    """Result of `memory.pending`."""

    pending: list[PendingWrite]
    """The profile's writes that wait for approval, oldest first."""


class MemoryQueued(TypedDict):
    """Result of `memory.queued`."""

    queued: list[PendingWrite]
    """The writes that wait on this host until the shared database is back, oldest first."""


class MemoryReject(TypedDict):
    """Result of `memory.reject`."""

    rejected: list[str]
    """The ids of the discarded writes."""


class MemorySchema(TypedDict):
    """Result of `memory.schema`."""

    tool: Any
    """The function schema of the `memory` tool."""
    guidance: str
    """A paragraph about the tool for the system prompt."""


class Operation(TypedDict):
    """One operation of a batch."""

    action: Action
    """The kind of operation."""
    content: NotRequired[str | None]
    """The new text, for add and replace."""
    old_text: NotRequired[str | None]
    """The entry, for replace and remove."""


class PendingWrite(TypedDict):
    """A write that waits for a person's approval."""

    id: str
    """Its id: 8 hex digits."""
    target: Target
    """The store."""
    action: str
    """`add`, `replace`, `remove` or `batch`."""
    summary: str
    """What it would change, in one or two lines."""
    created_at: float
    """When it was staged, in Unix seconds."""
    session: str | None
    """The session that requested it."""
    agent: str | None
    """The agent that requested it."""
    payload: Any
    """The params of the write."""


class StoreView(TypedDict):
    """The content of a store."""

    entries: list[str]
    """The entries in order."""
    revision: int
    """The revision of this content."""
    usage: str
    """`P% — C/L chars`."""
    over_limit: bool
    """Whether the store is longer than its limit."""
    stale_s: NotRequired[float]
    """Seconds since a shared store was last known to match the database; -1 if that has not
    happened since the daemon started. Absent if the store is not shared.
    """


class WriteResult(TypedDict):
    """Result of a write.

    A refused write is a result and not an error, because a model reads it. Absent fields are left
    out of the JSON.
    """

    success: bool
    """Whether the store now contains the requested change."""
    target: NotRequired[Target]
    """The store."""
    entries: NotRequired[list[str]]
    """All entries, after a success."""
    usage: NotRequired[str]
    """`P% — C/L chars` after a success, `C/L` after an overflow."""
    entry_count: NotRequired[int]
    """Number of entries after a success."""
    message: NotRequired[str]
    """What the write did, for the model."""
    revision: NotRequired[int]
    """The store's revision after a success."""
    replaced_entry: NotRequired[str]
    """The entry that a replace removed."""
    removed_entry: NotRequired[str]
    """The entry that a remove removed."""
    error: NotRequired[str]
    """Why the write was refused, for the model."""
    current_entries: NotRequired[list[str]]
    """All entries, if the store is too full."""
    over_by: NotRequired[int]
    """Number of chars to remove before the same write fits."""
    matches: NotRequired[list[str]]
    """The entries that match `old_text`, shortened."""
    drift_backup: NotRequired[str]
    """The path of the backup copy of a drifted store."""
    remediation: NotRequired[str]
    """What a person can do about the refusal."""
    done: NotRequired[bool]
    """True after too many refusals in a row: the model should stop writing memory for now."""
    findings: NotRequired[list[Finding]]
    """Findings of the guard in a refused text."""
    warnings: NotRequired[list[Finding]]
    """Findings of the guard that only warn."""
    staged: NotRequired[bool]
    """Whether the write waits for a person's approval; the store is unchanged."""
    pending_id: NotRequired[str]
    """The id of the waiting write for `memory.approve` and `memory.reject`."""
    pending_count: NotRequired[int]
    """Number of the profile's writes that wait for approval; absent if there are none."""
    shared: NotRequired[bool]
    """For a shared store: whether the write is in the shared database."""
    host_bound: NotRequired[bool]
    """For a shared store: whether the write concerns only entries that never leave this host."""
    queued_id: NotRequired[str]
    """The id in `memory.queued` of a write that waits on this host until the shared database is
    back.
    """
