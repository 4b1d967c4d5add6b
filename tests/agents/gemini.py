"""Gemini CLI without a terminal: one process that speaks the Agent Client Protocol."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from queue import Queue
from typing import Any

from lines import WAIT_S, Lines

SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False},
}


class Gemini(Lines):
    """A process of the client, in a home of its own."""

    def __init__(self, home: Path, folder: Path, url: str, session: str = "", **environment: str) -> None:
        settings = home / ".gemini" / "settings.json"
        if not settings.exists():
            settings.parent.mkdir(parents=True, exist_ok=True)
            settings.write_text(json.dumps(SETTINGS))
        self._ids = itertools.count(1)
        self._answers: Queue[dict[str, Any] | None] = Queue()
        command = ["gemini", "--acp", "--yolo", "-m", "gemini-2.5-flash"]
        super().__init__(command, folder, home / "stderr.log", gemini_environment(home, url, **environment))
        self.ask("initialize", protocolVersion=1, clientCapabilities={})
        place = {"cwd": str(folder), "mcpServers": []}
        if session:
            self.ask("session/load", sessionId=session, **place)
        self.session = session or self.ask("session/new", **place)["sessionId"]

    def __enter__(self) -> "Gemini":
        return self

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Calls a method, and returns its result."""
        number = next(self._ids)
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while (answer := self._answers.get(timeout=WAIT_S)) is not None:
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer.get("result") or {}
        raise AssertionError("the client ended before it answered")

    def say(self, words: str) -> None:
        """Says something, and waits for the end of the turn."""
        self.ask("session/prompt", sessionId=self.session, prompt=[{"type": "text", "text": words}])

    def end(self) -> None:
        """Kills it: with servers of tools it doesn't end by itself."""
        self.kill()

    def take(self, event: dict[str, Any] | None) -> None:
        """Notes an answer."""
        if event is None or "method" not in event:
            self._answers.put(event)


def gemini_environment(home: Path, url: str, **more: str) -> dict[str, str]:
    """What a process of it is started with: nothing of this machine, and no other endpoint than ours."""
    own = {"GEMINI_API_KEY": "no-key-at-all", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return {"PATH": os.environ["PATH"], "HOME": str(home), **own, **more}
