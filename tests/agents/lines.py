"""A client without a terminal: one process that gets JSON lines, and writes JSON lines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

WAIT_S = 90
"""How long a turn may take."""


class Lines:
    """A process of a client."""

    def __init__(self, command: list[str], folder: Path, log: Path, environment: dict[str, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.events: list[dict[str, Any]] = []
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("a"),
            text=True,
            start_new_session=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self.end()

    def send(self, line: dict[str, Any]) -> None:
        """Writes a line to the process."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def take(self, event: dict[str, Any] | None) -> None:
        """Takes a line of the process; ``None`` is its end."""
        raise NotImplementedError

    def end(self) -> None:
        """Has it end by itself."""
        assert self._process.stdin
        if not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=WAIT_S)
        finally:
            self._process.kill()

    def kill(self) -> None:
        """Kills it, with its children."""
        assert self._process.stdin
        if self._process.stdin.closed:
            return
        self._process.stdin.close()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=WAIT_S)

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            event = json.loads(line)
            self.events.append(event)
            self.take(event)
        self.take(None)
