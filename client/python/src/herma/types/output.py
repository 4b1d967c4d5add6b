"""Tool outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict, Union

from .base import Content

if TYPE_CHECKING:
    from typing_extensions import NotRequired

Size = Union[int, Literal["inf"]]
"""Chars, or no limit."""

View = Literal["raw", "json"]
Gone = Literal["ttl", "quota", "removed"]
"""Why an output went: too old, too much, or somebody removed it."""


class OutputConfig(TypedDict, total=False):
    """Budgets in chars; what is absent comes from the daemon's configuration."""

    default_result_size: int
    turn_budget: int
    preview_size: int
    preview_tail_size: int
    tool_overrides: dict[str, Size]


class TurnResult(TypedDict):
    """One tool result of a turn."""

    id: NotRequired[str | None]
    tool: NotRequired[str | None]
    content: Content


TurnResults = list[TurnResult]


class AdmittedOutput(TypedDict):
    """What goes into the conversation, and where the rest is."""

    content: Content
    spilled: bool
    handle: str | None
    path: str | None
    chars: int
    lines: int
    sha256: str
    failure: Literal["storage_full", "storage_failed", "permission_denied"] | None


class Replacement(TypedDict):
    """What takes the place of the result at ``index``."""

    index: int
    content: Content
    handle: str | None
    path: str | None


class SettledTurn(TypedDict):
    """Replacements, and the chars of the turn after them."""

    replacements: list[Replacement]
    total: int


class Preview(TypedDict):
    """The beginning of a text, and its end if asked for."""

    text: str
    has_more: bool
    tail: str | None


class Place(TypedDict, total=False):
    """Where reading goes on: a line (from 1) or an offset in chars."""

    line: int
    offset: int


class OutputPage(TypedDict):
    """A part of an output."""

    text: str
    next: Place | None
    total_lines: int
    total_chars: int


class OutputMatch(TypedDict):
    """A line that matches; ``offset`` is in the output, ``start`` and ``end`` in ``text``."""

    handle: str
    line: int
    text: str
    before: list[str]
    after: list[str]
    offset: int
    start: int
    end: int
    cut: bool


class OutputMatches(TypedDict):
    """Matches, newest output first."""

    matches: list[OutputMatch]
    more: bool


class OutputRow(TypedDict):
    """An output, kept or gone."""

    handle: str
    session: str
    tool: str
    id: str
    path: str
    chars: int
    bytes: int
    sha256: str
    created_at: float
    state: Literal["kept", "expired"]
    expired_at: float | None
    reason: Gone | None


class OutputList(TypedDict):
    """Outputs, newest first."""

    outputs: list[OutputRow]


class RemovedOutput(TypedDict):
    """The bytes that it had."""

    bytes: int


class ExpiredOutput(TypedDict):
    """An output that went."""

    handle: str
    session: str
    tool: str
    id: str
    bytes: int
    reason: Gone


class CollectedOutputs(TypedDict):
    """What went and what stays, in outputs and bytes."""

    expired: list[ExpiredOutput]
    freed: int
    files: int
    bytes: int
