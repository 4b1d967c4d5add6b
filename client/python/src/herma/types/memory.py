"""The two stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

    from .daemon import Finding

Target = Literal["memory", "user"]
"""MEMORY.md or USER.md."""

Action = Literal["add", "replace", "remove"]

ToolArguments = Union[str, dict[str, Any]]
"""A model's arguments, as an object or as its JSON text."""


class Operation(TypedDict):
    """One of a batch."""

    action: Action
    content: NotRequired[str]
    old_text: NotRequired[str]


Operations = list[Operation]


class WriteResult(TypedDict):
    """What came of a write: done, refused (``success`` is false) or staged."""

    success: bool
    target: NotRequired[Target]
    entries: NotRequired[list[str]]
    usage: NotRequired[str]
    entry_count: NotRequired[int]
    message: NotRequired[str]
    revision: NotRequired[int]
    replaced_entry: NotRequired[str]
    removed_entry: NotRequired[str]
    error: NotRequired[str]
    current_entries: NotRequired[list[str]]
    over_by: NotRequired[int]
    matches: NotRequired[list[str]]
    drift_backup: NotRequired[str]
    remediation: NotRequired[str]
    done: NotRequired[bool]
    findings: NotRequired[list[Finding]]
    warnings: NotRequired[list[Finding]]
    staged: NotRequired[bool]
    pending_id: NotRequired[str]
    pending_count: NotRequired[int]


class StoreView(TypedDict):
    """A store as it is now."""

    entries: list[str]
    revision: int
    usage: str
    over_limit: bool


class MemoryList(TypedDict):
    """One store or both."""

    memory: StoreView | None
    user: StoreView | None
    pending_count: NotRequired[int]


class MemorySchema(TypedDict):
    """The function schema, and the paragraph for the system prompt."""

    tool: dict[str, Any]
    guidance: str


class LogRow(TypedDict):
    """A change, with all entries before and after it."""

    target: Target
    revision: int
    time: float
    action: str
    session: str | None
    agent: str | None
    before: list[str]
    after: list[str]


class MemoryLog(TypedDict):
    """Changes, newest first; ``damaged`` is lines that can't be read."""

    rows: list[LogRow]
    more: bool
    damaged: int
    pending_count: NotRequired[int]


class PendingWrite(TypedDict):
    """A write that waits for approval."""

    id: str
    target: Target
    action: str
    summary: str
    created_at: float
    session: str | None
    agent: str | None
    payload: dict[str, Any]


class Pending(TypedDict):
    """What waits, oldest first."""

    pending: list[PendingWrite]


class Decided(TypedDict):
    """An approved write and what came of it."""

    id: str
    result: WriteResult


class Approved(TypedDict):
    """What was done, and what failed and waits on."""

    approved: list[Decided]
    failed: list[Decided]


class Rejected(TypedDict):
    """Ids of what was thrown away."""

    rejected: list[str]
