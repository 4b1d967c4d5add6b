"""Bytes into lines."""

from __future__ import annotations

from .errors import BadAnswer

LONGEST = 1 << 30
"""Longest line in bytes that is taken from a daemon: an answer may be longer than the
longest request, whose limit can be configured up to this."""


class Lines:
    """Bytes as they come, given back line by line in linear time."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0

    @property
    def is_empty(self) -> bool:
        """Whether every byte was given back."""
        return not self._buffer

    def feed(self, read: bytes) -> None:
        """Takes what was read."""
        self._buffer += read

    def next(self) -> bytes | None:
        """The next line, or ``None`` until more of it came.

        Raises :class:`BadAnswer` for a line over the limit.
        """
        end = self._buffer.find(b"\n", self._searched)
        self._searched = len(self._buffer) if end < 0 else end
        if self._searched > LONGEST:
            raise BadAnswer(f"the daemon's answer has more than {LONGEST:,} bytes")
        if end < 0:
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._searched = 0
        return line
