"""Claude Code without a terminal: one process that is told what the user says, and answers."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from pathlib import Path
from typing import Any

WAIT_S = 90
"""How long a turn may take."""


class Claude:
    """A process of the client, in a home of its own."""

    def __init__(self, program: str, home: Path, folder: Path, url: str, *arguments: str, **environment: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        home.mkdir(parents=True, exist_ok=True)
        command = [program, "-p", "--verbose", "--output-format", "stream-json", "--input-format", "stream-json"]
        command += ["--debug-file", str(home / "debug.log"), *arguments]
        self.session = ""
        self.events: list[dict[str, Any]] = []
        self._ended: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=claude_environment(home, url, **environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(home / "stderr.log").open("a"),
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> "Claude":
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
        assert result is not None, "Claude Code ended in the middle of a turn"
        return result

    def compactions(self) -> list[dict[str, Any]]:
        """The boundaries that compactions made."""
        return [event for event in self.events if event.get("subtype") == "compact_boundary"]

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


def claude_environment(home: Path, url: str, **more: str) -> dict[str, str]:
    """What a process of it is started with: nothing of this machine, and no other endpoint than ours."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-ant-no-key-at-all",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        **more,
    }
