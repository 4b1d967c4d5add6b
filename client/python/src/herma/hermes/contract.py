"""What a host of the Hermes family expects of a context engine."""

from __future__ import annotations

import importlib
import json
from typing import Any


class ContextEngine:
    """The base for hosts that bring none of their own.

    The fields are read by the host; sizes are tokens.
    """

    last_prompt_tokens: int = 0
    last_completion_tokens: int = 0
    last_total_tokens: int = 0
    threshold_tokens: int = 0
    context_length: int = 0
    compression_count: int = 0
    threshold_percent: float = 0.75
    protect_first_n: int = 3
    protect_last_n: int = 6

    @property
    def name(self) -> str:
        """What ``context.engine`` of the host's configuration names."""
        raise NotImplementedError

    def should_compress_preflight(self, messages: list[dict[str, Any]]) -> bool:
        """Whether to compress before the first call."""
        return False

    def should_defer_preflight_to_real_usage(self, rough_tokens: int) -> bool:
        """Whether to wait for what the provider counts."""
        return False

    def has_content_to_compress(self, messages: list[dict[str, Any]]) -> bool:
        """Whether anything stands between head and tail."""
        return True

    def on_session_start(self, session_id: str, **about: Any) -> None:
        """A session begins, or goes on under another id."""

    def on_session_end(self, session_id: str, messages: list[dict[str, Any]]) -> None:
        """A session is over."""

    def on_session_reset(self) -> None:
        """The next session begins with nothing."""
        self.last_prompt_tokens = 0
        self.last_completion_tokens = 0
        self.last_total_tokens = 0
        self.compression_count = 0

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Functions for the model."""
        return []

    def handle_tool_call(self, name: str, args: dict[str, Any], **about: Any) -> str:
        """Does one of them; gives JSON text."""
        return json.dumps({"error": f"there is no context tool {name!r}"})

    def get_status(self) -> dict[str, Any]:
        """How full the window is."""
        used = self.last_prompt_tokens / self.context_length * 100 if self.context_length else 0
        return {
            "last_prompt_tokens": self.last_prompt_tokens,
            "threshold_tokens": self.threshold_tokens,
            "context_length": self.context_length,
            "usage_percent": min(100, used),
            "compression_count": self.compression_count,
        }

    def update_model(self, model: str, context_length: int, **about: Any) -> None:
        """Another model, or another window."""
        self.context_length = context_length
        self.threshold_tokens = int(context_length * self.threshold_percent)


def base_of_host() -> type[Any]:
    """The host's own base class where this runs in a host, else the one above."""
    try:
        module = importlib.import_module("agent.context_engine")
    except ImportError:
        return ContextEngine
    base = getattr(module, "ContextEngine", None)
    return base if isinstance(base, type) else ContextEngine
