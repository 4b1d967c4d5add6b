"""A client that is sent what the user says, and reports the end of each turn."""

from __future__ import annotations

import queue
from pathlib import Path
from typing import Any

from lines import WAIT_S, Lines


class Streamed(Lines):
    """A process of a client."""

    def __init__(self, command: list[str], folder: Path, log: Path, environment: dict[str, str]) -> None:
        self.session = ""
        self._ended: queue.Queue[dict[str, Any] | None] = queue.Queue()
        super().__init__(command, folder, log, environment)

    def __enter__(self) -> "Streamed":
        return self

    def say(self, words: str, patience: float = WAIT_S) -> dict[str, Any]:
        """Says something, and waits so many seconds for the end of the turn."""
        self.send({"type": "user", "message": {"role": "user", "content": words}})
        result = self._ended.get(timeout=patience)
        assert result is not None, "the client ended in the middle of a turn"
        return result

    def take(self, event: dict[str, Any] | None) -> None:
        """Notes the session, and the end of a turn."""
        if event is None:
            return self._ended.put(None)
        self.session = event.get("session_id") or self.session
        if event.get("type") == "result":
            self._ended.put(event)
