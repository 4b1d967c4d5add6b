"""Codex CLI without a terminal: a process for each turn, in a home of its own."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from pathlib import Path
from typing import Any

WAIT_S = 120
"""How long a turn may take."""

CONFIGURATION = """model = "gpt-scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
"""


class Codex:
    """The client with one session, which every turn goes on with."""

    def __init__(self, program: str, home: Path, folder: Path, url: str, *arguments: str, **environment: str) -> None:
        self._program, self._folder, self._arguments = program, folder, arguments
        self._environment = codex_environment(home, **environment)
        self.session = ""
        home.mkdir(parents=True, exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        config = home / "config.toml"
        if not config.exists():
            config.write_text(CONFIGURATION.format(url=url))

    def say(self, words: str, *arguments: str) -> list[dict[str, Any]]:
        """Says something, and gives the events of the turn."""
        resumed = ["resume", self.session] if self.session else []
        command = [self._program, "exec", *self._arguments, *arguments, *resumed, "--json", "--skip-git-repo-check", words]
        ran = subprocess.run(
            command,
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
        )
        events = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
        assert ran.returncode == 0, f"{ran.returncode}: {ran.stdout[-2000:]} {ran.stderr[-2000:]}"
        started = [event["thread_id"] for event in events if event.get("type") == "thread.started"]
        self.session = started[0] if started else self.session
        return events


def codex_environment(home: Path, **more: str) -> dict[str, str]:
    """What a process of it is started with: nothing of this machine."""
    path = os.environ["PATH"]
    return {"PATH": path, "HOME": str(home), "CODEX_HOME": str(home), "SCRIPTED_KEY": "none", **more}


class AppServer:
    """Codex as editors use it: one process with several threads, spoken to by lines of JSON."""

    def __init__(self, program: str, home: Path, folder: Path, *arguments: str, **environment: str) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [program, "app-server", *arguments],
            cwd=folder,
            env=codex_environment(home, **environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._lines: queue.Queue[dict[str, Any]] = queue.Queue()
        self._told: list[dict[str, Any]] = []
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()
        self.ask("initialize", clientInfo={"name": "herma-test", "version": "1"})
        self._send({"method": "initialized"})

    def __enter__(self) -> "AppServer":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def start(self, **params: Any) -> str:
        """Begins a thread, and gives its id."""
        return self.ask("thread/start", cwd=str(self._folder), **params)["thread"]["id"]

    def fork(self, thread: str) -> str:
        """A thread that goes on from another one."""
        return self.ask("thread/fork", threadId=thread, cwd=str(self._folder))["thread"]["id"]

    def begin(self, thread: str, words: str) -> None:
        """Says something."""
        self.ask("turn/start", threadId=thread, input=[{"type": "text", "text": words}])

    def say(self, thread: str, words: str) -> None:
        """Says something, and waits for the end of the turn."""
        self.begin(thread, words)
        self.until("turn/completed", thread)

    def compact(self, thread: str) -> None:
        """Has a thread compacted, as `/compact` does."""
        self.ask("thread/compact/start", threadId=thread)
        self.until("turn/completed", thread)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Calls a method, and gives its result."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            line = self._lines.get(timeout=WAIT_S)
            if line.get("id") == self._number and "method" not in line:
                assert "result" in line, line
                return line["result"]
            self._told.append(line)

    def until(self, method: str, thread: str) -> None:
        """Waits for a notification about a thread."""
        is_meant = lambda line: line.get("method") == method and line["params"].get("threadId") == thread
        meant = next((line for line in self._told if is_meant(line)), None)
        if meant is not None:
            return self._told.remove(meant)
        while not is_meant(line := self._lines.get(timeout=WAIT_S)):
            self._told.append(line)

    def messages_to_user(self) -> str:
        """All notifications so far that nobody waited for."""
        while not self._lines.empty():
            self._told.append(self._lines.get())
        return json.dumps(self._told)

    def _send(self, message: dict[str, Any]) -> None:
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        for line in self._process.stdout:
            self._lines.put(json.loads(line))
