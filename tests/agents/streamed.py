"""A client without a terminal: one process that is told what the user says in JSON lines, and answers in JSON lines."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from pathlib import Path
from typing import Any

WAIT_S = 90
"""How long a turn may take."""


class Streamed:
    """A process of a client."""

    def __init__(self, command: list[str], folder: Path, log: Path, environment: dict[str, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.session = ""
        self.events: list[dict[str, Any]] = []
        self._ended: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("a"),
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> "Streamed":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def say(self, words: str, patience: float = WAIT_S) -> dict[str, Any]:
        """Says something, and waits so many seconds for the end of the turn."""
        line = {"type": "user", "message": {"role": "user", "content": words}}
        assert self._process.stdin
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()
        result = self._ended.get(timeout=patience)
        assert result is not None, "the client ended in the middle of a turn"
        return result

    def end(self) -> None:
        """Has it end by itself."""
        assert self._process.stdin
        if not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=WAIT_S)
        finally:
            self._process.kill()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            event = json.loads(line)
            self.events.append(event)
            self.session = event.get("session_id") or self.session
            if event.get("type") == "result":
                self._ended.put(event)
        self._ended.put(None)
