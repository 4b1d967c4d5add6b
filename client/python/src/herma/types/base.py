"""What several resources share."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union

Json = dict[str, Any]
"""An object that is JSON by nature."""

Message = dict[str, Any]
"""A chat message exactly as the agent has it."""

Messages = list[Message]
"""A conversation, or a part of it."""

Schemas = list[Json]
"""Function schemas as the model gets them."""

Texts = list[str]

Content = Union[str, list[dict[str, Any]]]
"""A text, or the parts of a message."""

TextOrOff = Union[str, Literal[False]]
"""A text, or ``False`` to switch off what happens without one."""

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
