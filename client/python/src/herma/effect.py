"""What a method does, as far as repeating it goes.

Whether a method reads or writes is said by the daemon's own table of methods; what that
table does not know is here.
"""

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


SAME = {
    "memory.add": "an entry that is there already is a success",
    "session.open": "a session that is known keeps its snapshot",
    "session.refresh": "both stores are frozen as they are",
    "session.close": "the first reason stays",
    "session.append": "messages that are there already are passed over",
    "session.lock": "a holder may take its lock again",
    "profile.create": "a profile that is there is left as it is",
    "shared.init": "tables that are there are left as they are",
    "shared.join": "what is there already is not brought again",
    "output.admit": "the same text of the same call has the same handle",
    "output.settle_turn": "the same texts of the same calls have the same handles",
    "output.gc": "what is gone can't go again",
    "context.configure": "settings are what the call says",
    "context.compact_ahead": "a job that runs is answered",
    "context.reset": "there is nothing left to forget",
    "constraint.add": "a rule that is there already keeps its id",
}
"""Writes that may be done twice, and why."""

ONCE = {"shutdown": "a repeat would end the daemon that comes after"}
"""Methods that are never repeated, and why."""
