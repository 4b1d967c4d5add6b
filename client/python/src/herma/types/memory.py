"""The types of `memory`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

Action = Literal["add", "replace", "remove"]
"""What an operation does."""

Severity = Literal["block", "warn"]
"""Whether a finding refuses a text."""

Target = Literal["memory", "user"]
"""Which of a profile's two stores is meant."""


class Decided(TypedDict):
    """What an approved write came to."""

    id: str
    """The pending write."""
    result: WriteResult
    """Its write result."""


class Finding(TypedDict):
    """Something that the guard found in a text."""

    id: str
    """Which pattern, such as `prompt_injection`."""
    start: int
    """Where it begins, in chars of the original text."""
    end: int
    """Where it ends (exclusive), in chars of the original text."""
    folded: bool
    """Found only after folding look-alikes."""
    severity: Severity
    """What it means for the text."""


class LogRow(TypedDict):
    """One change of a store, as the journal has it."""

    target: Target
    """The store."""
    revision: int
    """The revision that the change made."""
    time: float
    """When, in Unix seconds."""
    action: str
    """`add`, `replace`, `remove`, `batch`, `undo`, `restore`, `external` for a change by another
    program, or `join` for what a host brought that began to share.
    """
    session: str | None
    """Who wrote: the session."""
    agent: str | None
    """Who wrote: the agent."""
    host: NotRequired[str]
    """Where it was written: the host, of a store that several share."""
    before: list[str]
    """All entries before it."""
    after: list[str]
    """All entries after it."""


class MemoryApprove(TypedDict):
    """Result of `memory.approve`."""

    approved: list[Decided]
    """Those that were written, and wait no more."""
    failed: list[Decided]
    """Those that the store refused; they wait on."""


class MemoryList(TypedDict):
    """Result of `memory.list`: null for a store that wasn't asked for."""

    memory: StoreView | None
    """MEMORY.md."""
    user: StoreView | None
    """USER.md."""
    pending_count: NotRequired[int]
    """How many writes of the profile wait for approval; absent when none does."""


class MemoryLog(TypedDict):
    """Result of `memory.log`."""

    rows: list[LogRow]
    """The changes, newest first."""
    more: bool
    """Older rows are kept that were not asked for."""
    damaged: int
    """Lines of the journal that are damaged and left out."""
    pending_count: NotRequired[int]
    """How many writes of the profile wait for approval; absent when none does."""


class MemoryPending(TypedDict):
    """Result of `memory.pending`."""

    pending: list[PendingWrite]
    """The writes of the profile that wait for approval, oldest first."""


class MemoryQueued(TypedDict):
    """Result of `memory.queued`."""

    queued: list[PendingWrite]
    """The writes that are kept here until the shared database is back, oldest first."""


class MemoryReject(TypedDict):
    """Result of `memory.reject`."""

    rejected: list[str]
    """Those that were thrown away."""


class MemorySchema(TypedDict):
    """Result of `memory.schema`."""

    tool: Any
    """The function schema of the `memory` tool."""
    guidance: str
    """The paragraph for the system prompt."""


class Operation(TypedDict):
    """One step of a batch."""

    action: Action
    """What to do."""
    content: NotRequired[str | None]
    """For add and replace: the new text."""
    old_text: NotRequired[str | None]
    """For replace and remove: which entry."""


class PendingWrite(TypedDict):
    """A write that waits for a person's approval."""

    id: str
    """Its name: 8 hex digits."""
    target: Target
    """The store."""
    action: str
    """`add`, `replace`, `remove` or `batch`."""
    summary: str
    """What it would do, in one or two lines."""
    created_at: float
    """When it was staged, in Unix seconds."""
    session: str | None
    """Who wants it: the session."""
    agent: str | None
    """Who wants it: the agent."""
    payload: Any
    """The write itself."""


class StoreView(TypedDict):
    """One store, read."""

    entries: list[str]
    """The entries in their order."""
    revision: int
    """The revision that this is."""
    usage: str
    """`P% — C/L chars`."""
    over_limit: bool
    """The store is longer than its limit."""
    stale_s: NotRequired[float]
    """Of a store that several hosts share: seconds since it was known to be as the others have it;
    -1 where it never was since the daemon started.
    """


class WriteResult(TypedDict):
    """What a write came to.

    A refused write is a result, not an error, for a model reads it. Absent fields are left out on
    the JSON wire.
    """

    success: bool
    """Whether the store now holds what was asked for."""
    target: NotRequired[Target]
    """The store."""
    entries: NotRequired[list[str]]
    """All entries after a success."""
    usage: NotRequired[str]
    """`P% — C/L chars` after a success, `C/L` after an overflow."""
    entry_count: NotRequired[int]
    """Number of entries after a success."""
    message: NotRequired[str]
    """What was done, for the model."""
    revision: NotRequired[int]
    """The store's revision after a success."""
    replaced_entry: NotRequired[str]
    """The entry that a replace took out."""
    removed_entry: NotRequired[str]
    """The entry that a remove took out."""
    error: NotRequired[str]
    """Why the write was refused, for the model."""
    current_entries: NotRequired[list[str]]
    """All entries, when the store is too full."""
    over_by: NotRequired[int]
    """How many chars must go before the same write fits."""
    matches: NotRequired[list[str]]
    """The entries that `old_text` could mean, shortened."""
    drift_backup: NotRequired[str]
    """Where a copy of a drifted store was put."""
    remediation: NotRequired[str]
    """What a person can do about it."""
    done: NotRequired[bool]
    """Too many refusals in a row: leave memory alone for now."""
    findings: NotRequired[list[Finding]]
    """What the guard found in a refused text."""
    warnings: NotRequired[list[Finding]]
    """What the guard only warns of."""
    staged: NotRequired[bool]
    """The write waits for a person's approval; the store is as it was."""
    pending_id: NotRequired[str]
    """What `memory.approve` and `memory.reject` call that write."""
    pending_count: NotRequired[int]
    """How many writes of the profile wait for approval; absent when none does."""
    shared: NotRequired[bool]
    """Of a store that several hosts share: whether all of them have the write."""
    host_bound: NotRequired[bool]
    """Of a store that several hosts share: the write is of entries that never leave this host."""
    queued_id: NotRequired[str]
    """What `memory.queued` calls a write that is kept here until the shared database is back."""
