"""What a host tells of a call's tokens, in the shape that the daemon knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BUCKETS = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "request_count",
)
"""What hosts add to the usage of chat completions."""


def as_chat_completion(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Usage that counts the whole prompt, with the parts of it in their usual place."""
    plain = {name: value for name, value in usage.items() if name not in BUCKETS}
    plain.setdefault(
        "prompt_tokens_details",
        {
            "cached_tokens": usage.get("cache_read_tokens") or 0,
            "cache_write_tokens": usage.get("cache_write_tokens") or 0,
        },
    )
    plain.setdefault(
        "output_tokens_details", {"reasoning_tokens": usage.get("reasoning_tokens") or 0}
    )
    return plain
