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
"""Why an output was removed."""

OutputFailure = Literal["storage_full", "storage_failed", "permission_denied"]
"""Why an output could not be stored."""

OutputState = Literal["kept", "expired"]
"""Whether an output is still stored."""

Size = Union[int, Literal["inf"]]
"""A size in chars, or no limit at all."""

View = Literal["raw", "json"]
"""The form in which an output is returned."""


class ExpiredOutput(TypedDict):
    """A removed output."""

    handle: str
    """Its handle."""
    session: str
    """The session."""
    tool: str
    """The tool."""
    id: str
    """The call's id."""
    bytes: int
    """Its size in bytes."""
    reason: Gone
    """Why it was removed."""


class OutputAdmit(TypedDict):
    """Result of `output.admit`."""

    content: Content
    """The content for the conversation."""
    spilled: bool
    """Whether the full text was written to disk."""
    handle: str | None
    """The handle of the spilled output."""
    path: str | None
    """The path of the spilled output."""
    chars: int
    """Chars of the full text."""
    lines: int
    """Lines of the full text."""
    sha256: str
    """SHA-256 of the full text in UTF-8, in hex."""
    failure: OutputFailure | None
    """Why the text could not be stored; `content` is then cut."""


class OutputConfig(TypedDict):
    """Budgets for one call. Absent fields come from the daemon's configuration."""

    default_result_size: NotRequired[int | None]
    """The most chars of a result that is not spilled."""
    turn_budget: NotRequired[int | None]
    """The most chars of all results of one turn together."""
    preview_size: NotRequired[int | None]
    """Chars of the preview that stays in the conversation."""
    preview_tail_size: NotRequired[int | None]
    """Chars of the tail in the preview; 0 for none."""
    tool_overrides: NotRequired[dict[str, Size] | None]
    """Size limits in chars for individual tools."""


class OutputGc(TypedDict):
    """Result of `output.gc`."""

    expired: list[ExpiredOutput]
    """The outputs that were removed, or would be."""
    freed: int
    """Bytes that were freed, or would be."""
    files: int
    """Number of remaining outputs."""
    bytes: int
    """Bytes of the remaining outputs; identical content counts once."""


class OutputList(TypedDict):
    """Result of `output.list`."""

    outputs: list[OutputRow]
    """The outputs, newest first."""


class OutputMatch(TypedDict):
    """A matching line."""

    handle: str
    """The handle of the output."""
    line: int
    """The number of the line, from 1."""
    text: str
    """The text of the line; if it has more than 2,000 chars, the part around the match."""
    before: list[str]
    """The lines before it."""
    after: list[str]
    """The lines after it."""
    offset: int
    """Start of the match in the output, in chars: a valid `offset` for `output.read`."""
    start: int
    """Start of the match in `text`, in chars."""
    end: int
    """End of the match in `text`, in chars."""
    cut: bool
    """Whether `text` is only a part of the line."""


class OutputPreview(TypedDict):
    """Result of `output.preview`."""

    text: str
    """The head. It ends at a line end if that keeps more than half of it."""
    has_more: bool
    """Whether there is more than the head."""
    tail: str | None
    """The tail, if one was requested and there is more than the head."""


class OutputRead(TypedDict):
    """Result of `output.read`."""

    text: str
    """The requested part."""
    next: Place | None
    """Where the next page begins; null at the end."""
    total_lines: int
    """Number of lines of the whole output."""
    total_chars: int
    """Number of chars of the whole output."""


class OutputRemove(TypedDict):
    """Result of `output.remove`."""

    bytes: int
    """Its size in bytes."""


class OutputRow(TypedDict):
    """A stored or expired output."""

    handle: str
    """Its handle."""
    session: str
    """The session."""
    tool: str
    """The tool; empty if it is no longer known."""
    id: str
    """The call's id."""
    path: str
    """Its path, or its former path."""
    chars: int
    """Its size in chars."""
    bytes: int
    """Its size in bytes."""
    sha256: str
    """SHA-256 of its UTF-8 text, in hex."""
    created_at: float
    """When it was stored, in Unix seconds."""
    state: OutputState
    """Whether it is still stored."""
    expired_at: float | None
    """When it was removed, in Unix seconds."""
    reason: Gone | None
    """Why it was removed."""


class OutputSearch(TypedDict):
    """Result of `output.search`."""

    matches: list[OutputMatch]
    """The matches, newest output first."""
    more: bool
    """Whether there are more matches."""


class OutputSettleTurn(TypedDict):
    """Result of `output.settle_turn`."""

    replacements: list[Replacement]
    """The results to replace, and their new content."""
    total: int
    """Chars of all results after the replacements."""


class Place(TypedDict):
    """Where the next page begins, in the unit of the request."""

    line: NotRequired[int]
    offset: NotRequired[int]


class Replacement(TypedDict):
    """A result that gets new content."""

    index: int
    """Position in the given list."""
    content: Content
    """Its new content."""
    handle: str | None
    """The handle of the spilled output; null if it could not be stored."""
    path: str | None
    """The path of the spilled output."""


class TurnResult(TypedDict):
    """One tool result of a turn."""

    id: NotRequired[str | None]
    """The call's id; `budget_<index>` when absent."""
    tool: NotRequired[str | None]
    """The tool."""
    content: Content
    """The result."""
