"""The tools by which a model says what it is done with."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import HermaError
from .recall import arguments_of, failed

if TYPE_CHECKING:
    from .conversation import Conversation

METHODS = {
    "context_discard": ("context.discard", ("calls", "handles", "reason")),
    "context_episode": ("context.episode", ("action", "title", "outcome")),
}
"""The method behind each tool, and the params that a model may reach."""


def schemas() -> list[dict[str, Any]]:
    """The functions for a model, those of ``context.schema``, without asking the daemon."""
    data = pkgutil.get_data(__name__, "context_schema.json")
    assert data is not None
    tools: list[dict[str, Any]] = json.loads(data)["tools"]
    return tools


def answer(
    name: str, arguments: Any, conversation: Conversation | None, messages: Sequence[Any] | None
) -> str:
    """Does what a model asked for; gives JSON text, an ``error`` for whatever is wrong.

    ``messages`` is the list as it is now, where the host says it; the daemon gets what it has not
    of it, for what is discarded or closed has to stand there.
    """
    method, params = METHODS[name]
    if conversation is None:
        return failed("there is no conversation yet")
    try:
        arguments = arguments_of(name, arguments, params)
        lacking = conversation.lacking(messages) if messages else None
        if name == "context_episode" and lacking is not None:
            arguments["messages"] = lacking
        result = conversation.call(method, **arguments)
    except ValueError as error:
        return failed(str(error))
    except HermaError as error:
        return failed(error.message)
    return json.dumps(result, ensure_ascii=False)
