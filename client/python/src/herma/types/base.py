"""What is no type of the wire, but of this package."""

from __future__ import annotations

from typing import Any, TypedDict

Message = dict[str, Any]
"""A chat message exactly as the agent has it."""

Messages = list[Message]
"""A conversation, or a part of it."""

Empty = dict[str, Any]
"""A result that says only that it was done."""


class Options(TypedDict, total=False):
    """What every call takes."""

    profile: str | None
    """A named pair of stores; the client's when absent."""
    timeout: float | None
    """Seconds, for the call as a whole; the client's when absent."""


class WriteOptions(Options, total=False):
    """What a call that changes something takes."""

    idempotency_key: str | None
    """Names the call, so that asking again with it answers the first result."""
