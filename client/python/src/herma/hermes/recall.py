"""The recall tools of a model."""

from __future__ import annotations

import json
import pkgutil
from typing import Any, Callable

from ..errors import HermaError

METHODS = {
    "recall_search": ("recall.search", ("query", "session", "kinds", "limit", "scope")),
    "recall_expand": ("recall.expand", ("handle", "about", "before", "after", "tokens")),
    "recall_describe": ("recall.describe", ("session",)),
    "recall_state": ("recall.state", ("session", "entity", "limit")),
    "recall_ask": ("recall.ask", ("question", "session", "node")),
}
"""The method behind each tool, and the params that a model may reach."""

PAGE = {"tokens": 2_000, "messages": False}
"""What an expanded handle is limited to, if the model names nothing else: one page of texts."""

OF_SESSION = ("recall_describe", "recall_state")
"""Those that are about one session, the model's own when it names none."""


def schemas() -> list[dict[str, Any]]:
    """The functions for a model, without asking the daemon.

    They are those of ``recall.schema``, but that a model need not know its session's id.
    """
    data = pkgutil.get_data(__name__, "recall_schema.json")
    assert data is not None
    tools: list[dict[str, Any]] = json.loads(data)["tools"]
    for tool in tools:
        parameters = tool["parameters"]
        parameters["required"] = [name for name in parameters["required"] if name != "session"]
        session = parameters["properties"].get("session")
        if tool["name"] in OF_SESSION and session is not None:
            session["description"] = "The session's id; your own session when left out."
    return tools


def answer(call: Callable[..., Any], name: str, arguments: Any, *, session: str | None) -> str:
    """Does what a model asked for; gives JSON text, an ``error`` for whatever is wrong.

    ``call`` takes a method's name and its params; ``session`` is the model's own.
    """
    known = METHODS.get(name)
    if known is None:
        return failed(f"there is no context tool {name!r}")
    method, params = known
    try:
        arguments = arguments_of(name, arguments, params)
    except ValueError as error:
        return failed(str(error))
    if name == "recall_expand":
        arguments = PAGE | arguments
    if name in OF_SESSION and not arguments.get("session"):
        if session is None:
            return failed("nothing was compressed yet")
        arguments["session"] = session
    if name == "recall_ask" and session is not None and not (arguments.get("session") or arguments.get("node")):
        arguments["session"] = session
    try:
        result = call(method, **arguments)
    except HermaError as error:
        return failed(error.message)
    return json.dumps(result, ensure_ascii=False)


def arguments_of(name: str, arguments: Any, params: tuple[str, ...]) -> dict[str, Any]:
    """What a model gave to a tool that takes these params. Raises ``ValueError``."""
    if not isinstance(arguments, dict):
        raise ValueError(f"{name}: the arguments must be an object")
    strange = sorted(str(name) for name in set(arguments) - set(params))
    if strange:
        raise ValueError(f"{name}: unknown argument {strange[0]!r}; known are {', '.join(params)}")
    return {name: value for name, value in arguments.items() if value is not None}


def failed(words: str) -> str:
    """The answer of a tool that did nothing."""
    return json.dumps({"error": words}, ensure_ascii=False)
