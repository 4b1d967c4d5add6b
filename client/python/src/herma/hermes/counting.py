"""What an engine counts by itself, so that it can go on without the daemon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .plain import plain

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

CHARS = 4
"""Chars that are taken for a token."""

IMAGE = 1_500
"""Tokens that are taken for an image."""

IMAGE_TYPES = ("image", "image_url", "input_image")

SMALL_WINDOW = 64_000
SMALL_SHARE = 0.85
"""A small window is used up to this share before it is compressed."""

SLACK = 4_096
SLACK_SHARE = 0.05
"""Growth of a rough estimate, in tokens or as a share of the threshold, that is no reason to
doubt what a provider counted; the larger counts."""


def threshold(window: int, share: float) -> int:
    """Tokens from which on a window is compressed: the daemon's formula."""
    return max(int(window * share), min(SMALL_WINDOW, int(window * SMALL_SHARE)))


def estimate(messages: Sequence[Any]) -> int:
    """Tokens of a list, roughly: a token for four chars, and a sum for each image."""
    chars = images = 0
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else message
        if isinstance(content, list):
            found = sum(1 for part in content if _is_image(part))
            images += found
            chars += sum(len(str(plain(part))) for part in content if not _is_image(part))
        else:
            chars += len(str(content)) if content is not None else 0
        if isinstance(message, dict):
            calls = message.get("tool_calls")
            chars += len(str(calls)) if calls else 0
            chars += 30
    return -(-chars // CHARS) + images * IMAGE


def is_number(found: Any) -> TypeGuard[float]:
    """Whether it is one; true and false are none."""
    return isinstance(found, (int, float)) and not isinstance(found, bool)


def number(usage: Mapping[str, Any], name: str) -> int:
    """A count out of a usage; 0 for what is missing or no number."""
    found = usage.get(name)
    if not is_number(found) or found != found:
        return 0
    return int(min(max(0, found), 2**53))


def defers(rough: int, threshold: int, last_real: int, baseline: int) -> bool:
    """Whether the provider's last count is trusted more than an estimate that is too high.

    All in tokens; ``baseline`` is the estimate that went with that count.
    """
    if rough < threshold or not 0 < last_real < threshold or baseline <= 0:
        return False
    return max(0, rough - baseline) <= max(SLACK, int(threshold * SLACK_SHARE))


def _is_image(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in IMAGE_TYPES
