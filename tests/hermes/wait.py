"""Waiting for conditions."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 60.0
PAUSE = 0.02


def until(true: Callable[[], object], words: str, seconds: float = PATIENCE) -> None:
    """Comes back as soon as it is true; raises with the words if it never is."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(words)
        time.sleep(PAUSE)
