"""pi without a terminal: one process that gets its commands in JSON lines."""

from __future__ import annotations

import itertools
import json
import os
import queue
import subprocess
import threading
from pathlib import Path
from typing import Any

WAIT_S = 90
"""How long a turn may take."""


class Pi:
    """A process of the client, in a home of its own."""

    def __init__(self, home: Path, folder: Path, url: str, *arguments: str, **environment: str) -> None:
        configure(home, url)
        folder.mkdir(parents=True, exist_ok=True)
        self.events: list[dict[str, Any]] = []
        self._ids = itertools.count(1)
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._settled: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._process = subprocess.Popen(
            ["pi", "--mode", "rpc", "--provider", "fake", "--model", "scripted", *arguments],
            cwd=folder,
            env=pi_environment(home, **environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(home / "stderr.log").open("a"),
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> "Pi":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def session(self) -> str:
        """The id of the session."""
        return self.command("get_state")["sessionId"]

    def command(self, name: str, **more: Any) -> dict[str, Any]:
        """Gives a command, and returns what it answers."""
        line = {"id": str(next(self._ids)), "type": name, **more}
        assert self._process.stdin
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()
        while (answer := self._answers.get(timeout=WAIT_S)) is not None:
            if answer.get("id") == line["id"]:
                assert answer["success"], answer
                return answer.get("data") or {}
        raise AssertionError("the client ended before it answered")

    def say(self, words: str, patience: float = WAIT_S) -> None:
        """Says something, and waits so many seconds for the end of the turn."""
        self.command("prompt", message=words)
        assert self._settled.get(timeout=patience) is not None, "the client ended in the middle of a turn"

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The events of a kind."""
        return [event for event in self.events if event.get("type") == kind]

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
            if event.get("type") == "response":
                self._answers.put(event)
            elif event.get("type") == "agent_settled":
                self._settled.put(event)
        self._answers.put(None)
        self._settled.put(None)


def configure(home: Path, url: str) -> None:
    """Names the scripted model, with a window of 100,000 tokens."""
    model = {"id": "scripted", "name": "scripted", "contextWindow": 100_000, "maxTokens": 4_000}
    provider = {"baseUrl": f"{url}/v1", "apiKey": "no-key-at-all", "api": "openai-completions", "models": [model]}
    models = home / ".pi" / "agent" / "models.json"
    models.parent.mkdir(parents=True, exist_ok=True)
    models.write_text(json.dumps({"providers": {"fake": provider}}))
    # Of a short session, too, something leaves the window.
    models.with_name("settings.json").write_text(json.dumps({"compaction": {"keepRecentTokens": 100}}))


def pi_environment(home: Path, **more: str) -> dict[str, str]:
    """What a process of it is started with: nothing of this machine, and no request but those to the model."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PI_OFFLINE": "1", "PI_TELEMETRY": "0", **more}
