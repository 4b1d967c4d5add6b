"""The types of `recall`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

RecallKind = Literal["message", "output", "memory"]
"""What a hit is in."""


class Compression(TypedDict):
    """A compression."""

    generation: int
    """The session's generation after it."""
    time: float
    """When, in Unix seconds."""
    handle: str
    """Leads to the messages in `recall.expand`."""
    messages: int
    """Messages whose text left the list."""
    chars: int
    """Their chars."""
    summary: str
    """The summary that took their place."""


class RecallDescribe(TypedDict):
    """Result of `recall.describe`."""

    compressions: list[Compression]
    """What each compression took out, oldest first."""


class RecallExpand(TypedDict):
    """Result of `recall.expand`."""

    items: list[RecallItem]
    """What was found and what is around it, in its order."""
    next: str | None
    """Expanding this goes on where the items end; null at the end."""
    recalled: bool
    """Always true: a message with this result is not archived as new."""


class RecallHit(TypedDict):
    """Something that was found."""

    handle: str
    """Leads to it in `recall.expand`."""
    kind: RecallKind
    """What it is in."""
    session: str | None
    """The session; null when none is known."""
    role: str | None
    """Who said it."""
    time: float
    """When, in Unix seconds."""
    snippet: str
    """The text around the hit."""
    start: int
    """Where the hit begins in the snippet, in chars."""
    end: int
    """Where it ends in the snippet, in chars."""
    score: float
    """How well it fits; higher is better, and comparable within one result only."""


class RecallItem(TypedDict):
    """A message, a part of an output, or an entry of a store."""

    handle: str
    """Names it."""
    role: str | None
    """Who said it."""
    text: str
    """Its text."""
    message: Any
    """The whole message, byte for byte."""


class RecallSchema(TypedDict):
    """Result of `recall.schema`."""

    tools: list[Any]
    """The function schemas that let a model search, expand and describe."""


class RecallSearch(TypedDict):
    """Result of `recall.search`."""

    hits: list[RecallHit]
    """The hits, best first."""
    more: bool
    """There are more than were asked for."""
    recalled: bool
    """Always true: a message with this result is not archived as new."""
