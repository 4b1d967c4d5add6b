"""The types of `ledger`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

LedgerChangeKind = Literal[
    "definitions",
    "context",
    "tool",
    "output",
    "compaction",
    "handover",
    "summary",
]
"""What changed in a window."""


class LedgerCall(TypedDict):
    """A call of a model."""

    id: str
    """The call's id: 1 to 1,024 chars, no controls. A call that is recorded again is one call."""
    time: float
    """When, in Unix seconds."""
    model: NotRequired[str | None]
    """The model; the session's when absent."""
    provider: NotRequired[str | None]
    """The provider."""
    api_mode: NotRequired[str | None]
    """How the endpoint was spoken to."""
    usage: Any
    """What the provider reported, as it came."""


class LedgerChange(TypedDict):
    """A change of a session's window."""

    time: float
    """When, in Unix seconds."""
    kind: LedgerChangeKind
    """What changed."""
    added: int
    """Tokens that are in the window because of herma."""
    removed: int
    """Tokens that would be in the window without herma."""


class LedgerPart(TypedDict):
    """A part of what herma changed."""

    count: int
    """Changes."""
    added: int
    """Tokens that were added."""
    removed: int
    """Tokens that were removed."""
    cost: int
    """What that cost in all calls behind it; below 0 where it saved something."""


class LedgerRead(TypedDict):
    """Result of `ledger.read`."""

    rows: list[LedgerRow]
    """The largest cost first; days in their order. Sessions in which herma changed nothing are left
    out.
    """
    total: LedgerRow
    """All rows together, with an empty key."""


class LedgerRecord(TypedDict):
    """Result of `ledger.record`."""

    calls: int
    """Calls that were not recorded before."""
    changes: int
    """Changes that were recorded."""


class LedgerRow(TypedDict):
    """Calls and changes that belong together. Costs are tokens of plain input."""

    key: str
    """The session, the model, the agent or the day (YYYY-MM-DD)."""
    calls: int
    """Calls of a model."""
    cost: int
    """What the calls cost."""
    without_herma: int
    """What they would have cost without herma."""
    difference: int
    """`cost` minus `without_herma`: above 0 where herma cost more than it saved."""
    definitions: LedgerPart
    """Instructions and tool names."""
    context: LedgerPart
    """Memory, rules and state."""
    tools: LedgerPart
    """Calls of herma's tools."""
    outputs: LedgerPart
    """Large outputs."""
    compactions: LedgerPart
    """Windows that herma's compactions began."""
    summaries: LedgerPart
    """Requests for a summary: those that herma spared, and herma's instructions in those that were
    sent.
    """
