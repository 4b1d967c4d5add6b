"""What was said, seen or noted before."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from .base import Message

RecallKind = Literal["message", "output", "memory"]
RecallKinds = list[RecallKind]


class RecallHit(TypedDict):
    """A place; ``start`` and ``end`` (exclusive) are chars of the snippet."""

    handle: str
    kind: RecallKind
    session: str | None
    role: str | None
    time: float
    snippet: str
    start: int
    end: int
    score: float


class RecallHits(TypedDict):
    """Hits, best first."""

    hits: list[RecallHit]
    more: bool
    recalled: bool


class RecallItem(TypedDict):
    """A message, a line of an output, or a change of a store."""

    handle: str
    role: str | None
    text: str
    message: Message | None


class RecallItems(TypedDict):
    """What a handle stands for; ``next`` is the handle to go on with."""

    items: list[RecallItem]
    next: str | None
    recalled: bool


class Compression(TypedDict):
    """What a compression took out, and the summary in its place."""

    generation: int
    time: float
    handle: str
    messages: int
    chars: int
    summary: str


class RecallDescription(TypedDict):
    """Compressions, oldest first."""

    compressions: list[Compression]


class RecallSchema(TypedDict):
    """Function schemas for a model."""

    tools: list[dict[str, Any]]
