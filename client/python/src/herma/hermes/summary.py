"""Summaries written by the host's own model."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from ..types import SummaryError, SummaryRequest

    Summarizer = Callable[[SummaryRequest], str]
    """Asks a model and gives its text. It may raise whatever its library raises; a
    ``status_code`` of the exception is understood as that of HTTP. The request's
    ``model`` is null for the session's own."""

TEXT = 2_000
"""Chars of an error's words that are passed on."""


def failure(error: Exception) -> SummaryError:
    """What the daemon is told of a summarizer that failed."""
    told: SummaryError = {"text": (str(error) or type(error).__name__)[:TEXT]}
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and 100 <= status < 600:
        told["status"] = status
    if isinstance(error, TimeoutError):
        told["kind"] = "timeout"
    elif isinstance(error, ConnectionError):
        told["kind"] = "connection"
    elif isinstance(error, json.JSONDecodeError):
        told["kind"] = "json"
    return told


def host_model(runtime: Callable[[], Mapping[str, str]]) -> Summarizer | None:
    """The host's own model as a summarizer, with the host's settings for compressions.

    ``runtime`` gives the session's own model: ``model``, ``provider``, ``base_url``,
    ``api_key``, ``api_mode``. ``None`` outside a host.
    """
    try:
        module = importlib.import_module("agent.auxiliary_client")
        call_llm = module.call_llm
    except Exception:  # Whatever a module of the host's raises while it is loaded.
        return None
    protected = getattr(module, "aux_interrupt_protection", contextlib.nullcontext)
    known = inspect.signature(call_llm).parameters

    def summarize(request: SummaryRequest) -> str:
        # No limit on the answer: a model that thinks first would be cut in its record.
        given: dict[str, Any] = {
            "task": request["task"],
            "main_runtime": dict(runtime()),
            "messages": request["messages"],
        }
        if request.get("model"):
            given["model"] = request["model"]
        with protected():
            answer = call_llm(**{name: value for name, value in given.items() if name in known})
        return _text(answer)

    return summarize


def _text(answer: Any) -> str:
    """The words of a chat completion, in whatever shape a proxy gave them."""
    message = answer.choices[0].message
    content = message.get("content") if isinstance(message, dict) else message
    content = getattr(content, "content", content)
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        content = "\n".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str) or not content.strip():
        raise ValueError("the model's answer has no text")
    return content
