"""The types of `ledger`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

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
"""The kind of a change of a window."""


class LedgerChange(TypedDict):
    """A change of a session's window."""

    time: float
    """When the change was made, in Unix seconds."""
    kind: LedgerChangeKind
    """The kind of change."""
    added: int
    """Tokens that are in the window because of herma."""
    removed: int
    """Tokens that would be in the window without herma."""


class LedgerPart(TypedDict):
    """One kind of herma's changes."""

    count: int
    """Number of changes."""
    added: int
    """Added tokens."""
    removed: int
    """Removed tokens."""
    cost: int
    """Their cost in all later calls; negative if they saved something."""


class LedgerRead(TypedDict):
    """Result of `ledger.read`."""

    rows: list[LedgerRow]
    """The rows by descending cost, or days in order. Sessions and models of which herma changed
    nothing are left out.
    """
    total: LedgerRow
    """The sum of all rows, with an empty key."""


class LedgerRecord(TypedDict):
    """Result of `ledger.record`."""

    calls: int
    """Number of calls that were not recorded before."""
    changes: int
    """Number of recorded changes."""


class LedgerRow(TypedDict):
    """The calls and changes of one group. Costs are in tokens of plain input."""

    key: str
    """The session, model, agent or day (YYYY-MM-DD)."""
    agent: NotRequired[str]
    """The agent, if the rows are for each agent."""
    messages: int
    """Number of messages that were kept."""
    found: int
    """Number of kept messages that are the result of a search of herma's."""
    spilled: int
    """Number of tool outputs that were spilled, also of those that are gone since."""
    compressed: int
    """Number of compressions that were not undone."""
    calls: int
    """Number of model calls."""
    cost: int
    """The cost of the calls."""
    without_herma: int
    """What the calls would have cost without herma."""
    difference: int
    """`cost` minus `without_herma`; positive if herma cost more than it saved."""
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
    """Requests for a summary: those that herma saved, and herma's instructions in the others."""
