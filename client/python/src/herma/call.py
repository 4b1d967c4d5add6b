"""One call: what is asked, for how long, and whether it may be asked again."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Mapping
from typing import Any

from .effect import Effect
from .errors import DaemonUnavailable, DeadlineExceeded, OutcomeUnknown
from .methods import EFFECTS

GRACE = 1.0
"""Seconds past the deadline in which the daemon's own word about it is awaited."""

SHORTEST = 0.001
"""Least seconds of a wait: with 0 a socket would not wait at all, and say so in another way."""

LONGEST_MS = 3_600_000
"""Longest deadline that the daemon takes, in milliseconds."""

ATTEMPTS = 4
"""How often a call is sent at most when connections break under it."""


class Deadline:
    """A moment until which something may take; ``None`` seconds for ever.

    ``grace`` is in seconds: how much longer the daemon's own word about it is awaited.
    """

    def __init__(self, timeout: float | None, grace: float = GRACE) -> None:
        self._until = None if timeout is None else time.monotonic() + timeout
        self._grace = grace

    def remaining(self) -> float | None:
        """Seconds that are left. Raises :class:`DeadlineExceeded` when none are."""
        if self._until is None:
            return None
        left = self._until - time.monotonic()
        if left <= 0:
            raise DeadlineExceeded("the time of the call is over")
        return left

    def patience(self) -> float | None:
        """Seconds to wait for an answer, the grace included; above 0."""
        if self._until is None:
            return None
        return max(SHORTEST, self._until - time.monotonic() + self._grace)


class Call:
    """A method with its params, which may have to be sent more than once."""

    def __init__(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        profile: str | None = None,
        timeout: float | None = None,
        grace: float = GRACE,
        idempotency_key: str | None = None,
    ) -> None:
        self.method = method
        # A newer daemon may have methods that this table lacks.
        self.effect = EFFECTS.get(method, Effect.WRITE)
        self.deadline = Deadline(timeout, grace)
        self._params = {name: value for name, value in params.items() if value is not None}
        if profile is not None:
            self._params["profile"] = profile
        if idempotency_key is None and self.effect.keyed:
            idempotency_key = uuid.uuid4().hex
        if idempotency_key is not None:
            self._params["idempotency_key"] = idempotency_key
        self._asked: int | None = None
        self._breaks = 0

    def params(self) -> dict[str, Any]:
        """The params with the time that is left now.

        Raises :class:`DeadlineExceeded` when none is.
        """
        left = self.deadline.remaining()
        if left is None:
            return self._params
        return {**self._params, "deadline_ms": min(math.ceil(left * 1000), LONGEST_MS)}

    def begin(self, daemon: int) -> None:
        """Says that this daemon (its process id) is about to be asked.

        Raises :class:`OutcomeUnknown` when another one was asked before and the
        repeat could do it twice: keys are remembered by one daemon only.
        """
        if self._asked not in (None, daemon) and self.effect is Effect.WRITE:
            raise OutcomeUnknown(
                f"{self.method}: the daemon was restarted in the middle of the call; "
                "whether it was done is not known"
            )
        self._asked = daemon

    def broke(self, error: Exception) -> None:
        """Says that the connection broke; returns when the call may be sent again.

        Raises what :meth:`given_up` gives when it may not.
        """
        self._breaks += 1
        if self.effect is Effect.ONCE or self._breaks >= ATTEMPTS:
            words = f"the connection to the daemon broke: {type(error).__name__}"
            raise self.given_up(words) from error

    def given_up(self, words: str) -> DaemonUnavailable:
        """The error for a call that got no answer.

        It is :class:`OutcomeUnknown` when the call may have been done.
        """
        if self._asked is None or self.effect is Effect.READ:
            return DaemonUnavailable(words)
        return OutcomeUnknown(f"{self.method}: {words}; whether it was done is not known")
