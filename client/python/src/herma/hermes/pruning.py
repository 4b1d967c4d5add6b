"""Which old tool results are worth taking out of a list before it has to be compressed.

Taking one out changes the prompt from there on, and a provider's cache has to be written
anew behind it. That costs once; what is taken out is saved with every call that follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .counting import CHARS, estimate

WRITE_PRICE = 1.25
READ_PRICE = 0.10
"""Prices of a token that is written into a prompt cache and read from it, as a share of one
that isn't cached: what Anthropic asks for caches of five minutes."""

CALLS = 20
"""Calls that are expected to follow and to read the shorter prompt."""

LEAST_CHARS = 2_000
"""A result below this length stays: its preview would hardly be shorter."""

PREVIEW_CHARS = 400
"""Chars of a result that stay in its preview."""

BLOCK_CHARS = PREVIEW_CHARS + 900
"""Chars of the block that takes a result's place, with the end of the text and its path."""

SPILLED = "<persisted-output>"


def worth_pruning(messages: Sequence[Any], protected: int) -> list[int]:
    """Positions of the tool results to take out, oldest first; empty where it doesn't pay.

    The last ``protected`` messages stay. Of all beginnings the one is chosen with which most
    is gained: everything that can go behind it goes, as the cache breaks there anyway.
    """
    end = max(0, len(messages) - protected)
    able = [at for at in range(end) if _can_go(messages[at])]
    count, gained = 0, 0.0
    saved, rest = 0.0, float(estimate(messages[end:]))
    chosen: list[int] = []
    position = end
    for at in reversed(able):
        rest += estimate(messages[at + 1 : position])
        position = at
        saved += (len(messages[at]["content"]) - BLOCK_CHARS) / CHARS
        rest += BLOCK_CHARS / CHARS
        chosen.append(at)
        gain = saved * READ_PRICE * CALLS - rest * (WRITE_PRICE - READ_PRICE)
        if gain > gained:
            count, gained = len(chosen), gain
    return chosen[:count][::-1]


def _can_go(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("role") != "tool":
        return False
    content = message.get("content")
    return isinstance(content, str) and len(content) >= LEAST_CHARS and SPILLED not in content
