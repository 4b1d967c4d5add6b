"""pi without a terminal: one process that gets its commands in JSON lines."""

from __future__ import annotations

import itertools
import json
import os
import queue
from pathlib import Path
from typing import Any

from lines import WAIT_S, Lines


class Pi(Lines):
    """A process of the client, in a home of its own."""

    def __init__(self, home: Path, folder: Path, url: str, *arguments: str, **environment: str) -> None:
        self._ids = itertools.count(1)
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._settled: queue.Queue[dict[str, Any] | None] = queue.Queue()
        command, environment = self.begin(home, url, arguments, environment)
        super().__init__(command, folder, home / "stderr.log", environment)

    def begin(self, home: Path, url: str, arguments: tuple[str, ...], environment: dict[str, str]) -> tuple[list[str], dict[str, str]]:
        """Its command and its environment."""
        configure(home, url)
        command = ["pi", "--mode", "rpc", "--provider", "fake", "--model", "scripted", *arguments]
        return command, pi_environment(home, **environment)

    def __enter__(self) -> "Pi":
        return self

    @property
    def session(self) -> str:
        """The id of the session."""
        return self.command("get_state")["sessionId"]

    def command(self, name: str, /, **more: Any) -> dict[str, Any]:
        """Gives a command, and returns what it answers."""
        line = {"id": str(next(self._ids)), "type": name, **more}
        self.send(line)
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

    def take(self, event: dict[str, Any] | None) -> None:
        """Notes an answer, or the end of a turn."""
        if event is None or event.get("type") == "response":
            self._answers.put(event)
        if event is None or event.get("type") == "agent_settled":
            self.settle(event)

    def settle(self, event: dict[str, Any] | None) -> None:
        """Notes the end of a turn."""
        self._settled.put(event)


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
