"""What both sides say when they meet."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from .errors import BadAnswer
from .version import VERSION

PARAMS: dict[str, Any] = {"client": f"herma-python {VERSION}", "protocol": 1}
"""Params of the ``hello`` that begins each connection."""

FIRST_LIMIT = 64 << 10
"""Longest line in bytes before the daemon has said what it takes."""


class Peer(NamedTuple):
    """The daemon at the other end."""

    pid: int
    """Its process: another one is another daemon, which knows no keys of this one."""
    limit: int
    """Longest line that it takes, in bytes."""
    caller: int
    """The process that connected: a child after a fork must not use it."""

    @property
    def is_ours(self) -> bool:
        """Whether this very process made the connection."""
        return self.caller == os.getpid()


def read(result: Any) -> Peer:
    """The daemon's answer to ``hello``. Raises :class:`BadAnswer`."""
    try:
        pid, limit = int(result["pid"]), int(result["limits"]["frame"])
    except (KeyError, TypeError, ValueError) as error:
        raise BadAnswer("the daemon's hello can't be understood") from error
    return Peer(pid, limit, os.getpid())
