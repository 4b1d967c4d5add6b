"""The host's functions for large tool results, with the daemon keeping the texts."""

from __future__ import annotations

import logging
from typing import Any, Callable

from ..errors import HermaError
from . import host
from .host_store import daemon_session
from .link import Link, shared_link
from .plain import plain
from .results import SESSION, enforce, persist
from .settings import PluginSettings

MARK = "_is_of_herma"

logger = logging.getLogger("herma.hermes")


def result_functions(module: Any, settings: PluginSettings) -> dict[str, Callable[..., Any]]:
    """``maybe_persist_tool_result`` and ``enforce_turn_budget`` of a host, by herma.

    ``module`` is the host's own; its functions do the work while the daemon can't be reached.
    """
    own_persist = module.maybe_persist_tool_result
    own_enforce = module.enforce_turn_budget
    if getattr(own_persist, MARK, False):
        return {"maybe_persist_tool_result": own_persist, "enforce_turn_budget": own_enforce}

    def maybe_persist_tool_result(
        content: Any,
        tool_name: str,
        tool_use_id: str,
        env: Any = None,
        config: Any = None,
        threshold: float | None = None,
    ) -> Any:
        """What goes into the conversation: the result, or its place and a preview."""
        limit = threshold if threshold is not None else _threshold(config, tool_name)
        if not isinstance(content, str) or (limit is not None and len(content) <= limit):
            return content
        try:
            return persist(
                _link(settings).call,
                plain(content),
                tool_name,
                tool_use_id,
                session=_session(),
                env=env,
                config=config,
                threshold=limit,
            )
        except HermaError as error:
            logger.warning("a tool result is kept by the host itself: %s", error.message)
        given = {} if config is None else {"config": config}
        return own_persist(content, tool_name, tool_use_id, env=env, threshold=threshold, **given)

    def enforce_turn_budget(tool_messages: Any, env: Any = None, config: Any = None) -> Any:
        """Spills the largest results of a turn until all fit; changes the list and returns it."""
        try:
            total = sum(len(message.get("content") or "") for message in tool_messages)
            if config is not None and total <= config.turn_budget:
                return tool_messages
            return enforce(
                _link(settings).call,
                tool_messages,
                session=_session(),
                env=env,
                config=config,
            )
        except (HermaError, AttributeError, TypeError) as error:
            logger.warning("a turn's budget is kept by the host itself: %s", type(error).__name__)
        given = {} if config is None else {"config": config}
        return own_enforce(tool_messages, env=env, **given)

    for function in (maybe_persist_tool_result, enforce_turn_budget):
        setattr(function, MARK, True)
    return {
        "maybe_persist_tool_result": maybe_persist_tool_result,
        "enforce_turn_budget": enforce_turn_budget,
    }


def _threshold(config: Any, tool: str) -> float | None:
    """Chars from which on the host spills results of a tool; ``None`` where it doesn't say."""
    resolve = getattr(config, "resolve_threshold", None)
    if not callable(resolve):
        return None
    try:
        return float(resolve(tool))
    except Exception:
        return None


def _session() -> str:
    """The daemon's session of the agent whose tool ran."""
    return daemon_session(host.calling_agent()) or SESSION


def _link(settings: PluginSettings) -> Link:
    return shared_link(host.place(), settings.timeout)
