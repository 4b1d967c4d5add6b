"""Gemini CLI without a terminal: one process that speaks the Agent Client Protocol."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import threading
from pathlib import Path
from queue import Queue
from typing import Any

WAIT_S = 90
"""How long a turn may take."""

SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False},
}


class Gemini:
    """A process of the client, in a home of its own."""

    def __init__(self, home: Path, folder: Path, url: str, session: str = "", **environment: str) -> None:
        settings = home / ".gemini" / "settings.json"
        if not settings.exists():
            settings.parent.mkdir(parents=True, exist_ok=True)
            settings.write_text(json.dumps(SETTINGS))
        folder.mkdir(parents=True, exist_ok=True)
        self._ids = itertools.count(1)
        self._answers: Queue[dict[str, Any] | None] = Queue()
        self._process = subprocess.Popen(
            ["gemini", "--acp", "--yolo", "-m", "gemini-2.5-flash"],
            cwd=folder,
            env=gemini_environment(home, url, **environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(home / "stderr.log").open("a"),
            text=True,
            start_new_session=True,
        )
        threading.Thread(target=self._read, daemon=True).start()
        self.ask("initialize", protocolVersion=1, clientCapabilities={})
        place = {"cwd": str(folder), "mcpServers": []}
        if session:
            self.ask("session/load", sessionId=session, **place)
        self.session = session or self.ask("session/new", **place)["sessionId"]

    def __enter__(self) -> "Gemini":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Calls a method, and returns its result."""
        number = next(self._ids)
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
        self._process.stdin.flush()
        while (answer := self._answers.get(timeout=WAIT_S)) is not None:
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer.get("result") or {}
        raise AssertionError("the client ended before it answered")

    def say(self, words: str) -> None:
        """Says something, and waits for the end of the turn."""
        self.ask("session/prompt", sessionId=self.session, prompt=[{"type": "text", "text": words}])

    def end(self) -> None:
        """Kills it, with its children: with servers of tools it doesn't end by itself."""
        assert self._process.stdin
        if self._process.stdin.closed:
            return
        self._process.stdin.close()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=WAIT_S)

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            message = json.loads(line)
            if "method" not in message:
                self._answers.put(message)
        self._answers.put(None)


def gemini_environment(home: Path, url: str, **more: str) -> dict[str, str]:
    """What a process of it is started with: nothing of this machine, and no other endpoint than ours."""
    own = {"GEMINI_API_KEY": "no-key-at-all", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return {"PATH": os.environ["PATH"], "HOME": str(home), **own, **more}
