"""What a method does, as far as repeating it goes."""

from __future__ import annotations

from enum import Enum


class Effect(Enum):
    """What a method does, as far as repeating it goes."""

    READ = "read"
    """It only looks."""

    SAME = "same"
    """Done twice it comes to the same as done once."""

    WRITE = "write"
    """It changes something, and a repeat is safe only with a key that the daemon knows."""

    ONCE = "once"
    """It is asked of the daemon that runs now, and never repeated."""

    @property
    def keyed(self) -> bool:
        """Whether calls carry an idempotency key."""
        return self in (Effect.SAME, Effect.WRITE)
