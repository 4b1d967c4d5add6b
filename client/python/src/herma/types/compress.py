"""Compressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from .base import Message
from .context import AuxFailure

if TYPE_CHECKING:
    from typing_extensions import NotRequired

ReplyForm = Literal["messages", "edits"]
CompressMode = Literal["in_place", "continue"]


class Plan(TypedDict):
    """What a compression would do; positions are of the pruned list."""

    head_size: int
    start: int
    end: int
    min_tail: int
    pruned: int
    messages: list[Message]
    serialized: str
    prompt: str | None
    max_tokens: int | None
    summary_budget: int
    focus: str | None
    previous_summary: str | None


class ReplacedMessage(TypedDict):
    """Another message in the place of the one at ``index``."""

    index: int
    message: Message


class InsertedMessage(TypedDict):
    """A message that goes before the one at ``at``."""

    at: int
    message: Message


class Edits(TypedDict):
    """What changed; positions are of the list that was sent, ends exclusive."""

    keep: list[list[int]]
    replace: list[ReplacedMessage]
    insert: list[InsertedMessage]


class Archived(TypedDict):
    """Where what left the list is."""

    handle: str
    messages: int


class OverPart(TypedDict):
    """A part of a list that no compression touches; ``request`` is what is sent beside it."""

    part: Literal["system", "head", "last_exchange", "request"]
    tokens: int


class Over(TypedDict):
    """A list that is over the threshold although nothing in it can be made smaller."""

    threshold: int
    tokens: int
    parts: list[OverPart]


class Report(TypedDict):
    """What came of a compression."""

    compressed: bool
    reason: str | None
    generation: int
    session: str
    messages_before: int
    messages_after: int
    chars_before: int
    chars_after: int
    tokens_before: int
    tokens_after: int
    head: int
    tail: int
    pruned: int
    archived: Archived | None
    summarizer: str
    fallback: bool
    aborted: bool
    dropped: int
    aux_failure: AuxFailure | None
    error: str | None
    savings_pct: float
    ineffective_count: int
    compression_count: int
    cooldown_s: float
    constraints: int
    anchors: int
    unverified: list[str]
    warnings: list[str]
    elapsed_ms: float
    over: Over | None


class SummaryRequest(TypedDict):
    """What the agent's own model is to be asked; null is the session's own model."""

    task: str
    model: str | None
    messages: list[Message]
    max_tokens: int


class NeedsSummary(TypedDict):
    """A compression that waits for a summary; the ticket is for ``context.resume``."""

    ticket: str
    request: SummaryRequest


class Compressed(TypedDict):
    """``needs_summary``, or ``report`` and the list or its edits."""

    messages: NotRequired[list[Message]]
    edits: NotRequired[Edits]
    report: NotRequired[Report]
    needs_summary: NotRequired[NeedsSummary]


class SummaryError(TypedDict):
    """Why there is no summary; ``status`` is that of HTTP."""

    text: str
    status: NotRequired[int | None]
    kind: NotRequired[Literal["no_provider", "json", "connection", "timeout", "other"]]


class CompactAhead(TypedDict):
    """A compression in the background."""

    job: str
    state: Literal["started", "running", "ready", "nothing"]
