"""The types of `output`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

Content = Union[str, list[Any]]
"""The content of a tool result: a text, or a list of parts, each exactly as the agent has it."""

Gone = Literal["ttl", "quota", "removed"]
"""Why an output went."""

OutputFailure = Literal["storage_full", "storage_failed", "permission_denied"]
"""Why an output could not be kept."""

OutputState = Literal["kept", "expired"]
"""Whether an output is still there."""

Size = Union[int, Literal["inf"]]
"""A size in chars, or no limit at all."""

View = Literal["raw", "json"]
"""How to show an output."""


class ExpiredOutput(TypedDict):
    """An output that went."""

    handle: str
    """Names it."""
    session: str
    """The session."""
    tool: str
    """The tool."""
    id: str
    """The call's id."""
    bytes: int
    """Its bytes."""
    reason: Gone
    """Why."""


class OutputAdmit(TypedDict):
    """Result of `output.admit`."""

    content: Content
    """What goes into the conversation."""
    spilled: bool
    """The full text went to disk."""
    handle: str | None
    """Names the spilled output."""
    path: str | None
    """Where it is."""
    chars: int
    """Chars of the full text."""
    lines: int
    """Lines of the full text."""
    sha256: str
    """Hex, of the full text in UTF-8."""
    failure: OutputFailure | None
    """Why the text could not be kept; `content` is then a truncation."""


class OutputConfig(TypedDict):
    """Budgets for one call; what is absent comes from the daemon's configuration."""

    default_result_size: NotRequired[int | None]
    """Chars that a result may have before it is spilled."""
    turn_budget: NotRequired[int | None]
    """Chars that all results of one turn may have together."""
    preview_size: NotRequired[int | None]
    """Chars of the preview that stays in the conversation."""
    preview_tail_size: NotRequired[int | None]
    """Chars of the tail that stays with it; 0 for none."""
    tool_overrides: NotRequired[dict[str, Size] | None]
    """Chars by tool."""


class OutputGc(TypedDict):
    """Result of `output.gc`."""

    expired: list[ExpiredOutput]
    """What went, or would go."""
    freed: int
    """Bytes that are free now, or would be."""
    files: int
    """Outputs that stay."""
    bytes: int
    """Their bytes; identical content counts once."""


class OutputList(TypedDict):
    """Result of `output.list`."""

    outputs: list[OutputRow]
    """The outputs, newest first."""


class OutputMatch(TypedDict):
    """A line that matches."""

    handle: str
    """The output."""
    line: int
    """The line, from 1."""
    text: str
    """The line; of one beyond 2,000 chars the part around the match."""
    before: list[str]
    """The lines before it."""
    after: list[str]
    """The lines after it."""
    offset: int
    """Where the match begins in the output, in chars: `output.read` takes it as `offset`."""
    start: int
    """Where the match begins in `text`, in chars."""
    end: int
    """Where it ends in `text`, in chars."""
    cut: bool
    """`text` is not the whole line."""


class OutputPreview(TypedDict):
    """Result of `output.preview`."""

    text: str
    """The head, cut after a line where that keeps more than half."""
    has_more: bool
    """There is more than the head."""
    tail: str | None
    """The tail, when one was asked for and there is more than the head."""


class OutputRead(TypedDict):
    """Result of `output.read`."""

    text: str
    """The page."""
    next: Place | None
    """Where the next page begins; null at the end."""
    total_lines: int
    """Lines of the whole output."""
    total_chars: int
    """Chars of the whole output."""


class OutputRemove(TypedDict):
    """Result of `output.remove`."""

    bytes: int
    """Its bytes."""


class OutputRow(TypedDict):
    """An output."""

    handle: str
    """Names it."""
    session: str
    """The session."""
    tool: str
    """The tool; empty when that is not known any more."""
    id: str
    """The call's id."""
    path: str
    """Where it is, or was."""
    chars: int
    """Its chars."""
    bytes: int
    """Its bytes."""
    sha256: str
    """Hex, of its text in UTF-8."""
    created_at: float
    """When it was kept, in Unix seconds."""
    state: OutputState
    """Whether it is still there."""
    expired_at: float | None
    """When it went, in Unix seconds."""
    reason: Gone | None
    """Why it went."""


class OutputSearch(TypedDict):
    """Result of `output.search`."""

    matches: list[OutputMatch]
    """The matches, newest output first."""
    more: bool
    """There are more than were asked for."""


class OutputSettleTurn(TypedDict):
    """Result of `output.settle_turn`."""

    replacements: list[Replacement]
    """What to put in the place of which results."""
    total: int
    """Chars of all results after the replacements."""


class Place(TypedDict):
    """Where the next page begins, in the unit of the request."""

    line: NotRequired[int]
    offset: NotRequired[int]


class Replacement(TypedDict):
    """One result that gets another content."""

    index: int
    """Position in the list that was given."""
    content: Content
    """Its new content."""
    handle: str | None
    """Names the spilled output; null when it could not be kept."""
    path: str | None
    """Where it is."""


class TurnResult(TypedDict):
    """One tool result of a turn."""

    id: NotRequired[str | None]
    """The call's id; `budget_<index>` when absent."""
    tool: NotRequired[str | None]
    """The tool."""
    content: Content
    """The result."""
