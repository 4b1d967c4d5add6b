"""Tool results that are too large for a conversation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable

from . import sandbox
from .budget import BudgetConfig, size
from .plain import plain
from .shared import shared_client

if TYPE_CHECKING:
    from ..blocking.client import Client
    from ..types import Content
    from .sandbox import Environment

    Call = Callable[..., Any]
    """Takes a method's name, and its params by name."""

SESSION = "hermes"
"""The session of results whose caller names none."""

OPEN = "<persisted-output>"

TRUNCATED = (
    "{preview}\n\n[Truncated: tool response was {chars:,} chars. "
    "Full output could not be saved to sandbox.]"
)


def maybe_persist_tool_result(
    content: Any,
    tool_name: str,
    tool_use_id: str,
    env: Environment | None = None,
    config: Any = None,
    threshold: float | None = None,
    *,
    session: str = SESSION,
    client: Client | None = None,
) -> Any:
    """What goes into the conversation: the result, or its place and a preview.

    ``threshold`` is in chars and beats ``config``, which beats the daemon's
    configuration. ``config`` may be a host's own object with the same fields. The daemon keeps the full text, so that recall finds it; with
    an ``env`` the place that is named is a file in it.
    """
    daemon = client if client is not None else shared_client()
    return persist(
        daemon.call,
        content,
        tool_name,
        tool_use_id,
        session=session,
        env=env,
        config=config,
        threshold=threshold,
    )


def enforce_turn_budget(
    tool_messages: list[dict[str, Any]],
    env: Environment | None = None,
    config: Any = None,
    *,
    session: str = SESSION,
    client: Client | None = None,
) -> list[dict[str, Any]]:
    """Spills the largest results of a turn until all fit; changes the list and returns it."""
    daemon = client if client is not None else shared_client()
    return enforce(daemon.call, tool_messages, session=session, env=env, config=config)


def persist(
    call: Call,
    content: Any,
    tool: str,
    name: str,
    *,
    session: str,
    env: Environment | None,
    config: Any,
    threshold: float | None,
) -> Any:
    """The same by any way to the daemon."""
    config = BudgetConfig.of(config)
    kept = call(
        "output.admit",
        session=session,
        tool=tool,
        id=name,
        content=content,
        threshold=None if threshold is None else size(threshold),
        config=config.on_the_wire() if config else None,
    )
    if env is None or kept["path"] is None:
        return kept["content"]
    return _in_sandbox(env, content, kept["content"], kept["path"], config, call)


def enforce(
    call: Call,
    tool_messages: list[dict[str, Any]],
    *,
    session: str,
    env: Environment | None,
    config: Any,
) -> list[dict[str, Any]]:
    """The same by any way to the daemon."""
    config = BudgetConfig.of(config)
    settled = call(
        "output.settle_turn",
        session=session,
        messages=[plain(message) for message in tool_messages],
        config=config.on_the_wire() if config else None,
    )
    for replaced in settled["replacements"]:
        message, content = tool_messages[replaced["index"]], replaced["content"]
        if env is not None and replaced["path"] is not None:
            content = _in_sandbox(env, message["content"], content, replaced["path"], config, call)
        message["content"] = content
    return tool_messages


def generate_preview(
    content: str, max_chars: int = 1_500, *, client: Client | None = None
) -> tuple[str, bool]:
    """The beginning of a text, cut at a line where one ends late enough, and whether more is."""
    daemon = client if client is not None else shared_client()
    preview = daemon.output.preview(content=content, max=max_chars)
    return preview["text"], preview["has_more"]


def _in_sandbox(
    env: Environment,
    full: Content,
    shown: Content,
    path: str,
    config: BudgetConfig | None,
    call: Call,
) -> Content:
    """The block with the place in the sandbox, or the beginning where there is none."""
    text = _text(full)
    # The name is the daemon's: an id that is no file name has become one.
    written = sandbox.write(env, os.path.basename(path), text)
    if written is not None:
        return _each_block(shown, lambda block: block.replace(path, written, 1))
    limit = config.preview_size if config else BudgetConfig.preview_size
    preview = call("output.preview", content=text, max=limit)
    cut = TRUNCATED.format(preview=preview["text"], chars=len(text))
    return _each_block(shown, lambda block: cut)


def _text(content: Content) -> str:
    """The text parts, joined as the daemon joins them."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))


def _each_block(content: Content, change: Callable[[str], str]) -> Content:
    if isinstance(content, str):
        return change(content)
    return [
        {**part, "text": change(part["text"])} if str(part.get("text")).startswith(OPEN) else part
        for part in content
    ]
