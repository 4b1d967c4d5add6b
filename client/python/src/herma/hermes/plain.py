"""Messages as JSON can say them."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any


def plain(value: Any) -> Any:
    """The same value with what JSON or UTF-8 can't say replaced; itself where there is nothing.

    Half of a surrogate pair becomes U+FFFD, a number that isn't finite null, and an object of
    another type its text.
    """
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (TypeError, ValueError, RecursionError):  # UnicodeEncodeError is a ValueError.
        return _mended(value, DEEPEST)
    return value


DEEPEST = 100
"""Levels of a value that are kept; the daemon reads 128."""


def _mended(value: Any, levels: int) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if levels == 0:
        return None
    if isinstance(value, dict):
        return {
            _mended(key if isinstance(key, str) else str(key), levels): _mended(inner, levels - 1)
            for key, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_mended(inner, levels - 1) for inner in value]
    return _mended(str(value), levels)


def digest(message: Any) -> bytes:
    """Stands for what a message says: equal for equal messages."""
    text = json.dumps(plain(message), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).digest()
