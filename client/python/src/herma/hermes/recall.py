"""The recall tools of a model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..errors import HermaError

if TYPE_CHECKING:
    from ..blocking.client import Client

METHODS = {
    "recall_search": ("recall.search", ("query", "session", "kinds", "limit")),
    "recall_expand": ("recall.expand", ("handle", "before", "after")),
    "recall_describe": ("recall.describe", ("session",)),
}
"""The method behind each tool, and the params that a model may reach."""


def answer(client: Client, name: str, arguments: Any, *, session: str, profile: str | None) -> str:
    """Does what a model asked for; gives JSON text, an ``error`` for whatever is wrong."""
    known = METHODS.get(name)
    if known is None:
        return _error(f"there is no context tool {name!r}")
    method, params = known
    if not isinstance(arguments, dict):
        return _error(f"{name}: the arguments must be an object")
    strange = sorted(set(arguments) - set(params))
    if strange:
        return _error(f"{name}: unknown argument {strange[0]!r}; known are {', '.join(params)}")
    if name == "recall_describe":
        arguments = {"session": session, **arguments}
    try:
        result = client.call(method, profile=profile, **arguments)
    except HermaError as error:
        return _error(error.message)
    return json.dumps(result, ensure_ascii=False)


def _error(words: str) -> str:
    return json.dumps({"error": words}, ensure_ascii=False)
