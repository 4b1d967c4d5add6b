"""Codex CLI without a terminal: a process for each turn, in a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
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
