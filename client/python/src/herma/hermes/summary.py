"""Summaries written by the host's own model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Callable

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
