"""OpenClaw without a terminal: its gateway, and a command for each thing that the user says."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

from home import until

WAIT_S = 120
"""How long a turn may take."""

QUIET = ("NO_AUTO_UPDATE", "OFFLINE", "DISABLE_BONJOUR", "NO_RESPAWN", "SKIP_CHANNELS", "SKIP_CRON", "SKIP_CANVAS_HOST", "SKIP_GMAIL_WATCHER")
"""What keeps it from everything that no turn needs."""


class OpenClaw:
    """A gateway in a home of its own. Each session has a name."""

    def __init__(self, home: Path, folder: Path, url: str, session: str = "s1", **environment: str) -> None:
        self.session = session
        self._environment = openclaw_environment(home, **environment)
        port = configure(home, folder, url)
        self._log = home / "gateway.log"
        begin = self._log.stat().st_size if self._log.exists() else 0
        self._process = subprocess.Popen(
            ["openclaw", "gateway", "run"], cwd=folder, env=self._environment, stdout=self._log.open("a"), stderr=subprocess.STDOUT
        )
        until(lambda: "[gateway] ready" in self._log.read_text()[begin:], f"the gateway on port {port} is ready", WAIT_S)

    def __enter__(self) -> "OpenClaw":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(30)

    def say(self, words: str, session: str = "") -> None:
        """Says something, and waits for the end of the turn."""
        answer = self.command("agent", "--session-id", session or self.session, "--message", words, "--json")
        assert answer.get("status") == "ok", answer

    def compact(self) -> dict[str, Any]:
        """Compacts the session."""
        return self.command("sessions", "compact", f"agent:main:explicit:{self.session}", "--json")

    def command(self, *words: str) -> dict[str, Any]:
        """Gives a command, and returns what it answers."""
        ran = subprocess.run(["openclaw", *words], env=self._environment, capture_output=True, text=True, timeout=WAIT_S)
        assert ran.returncode == 0, f"{words}: {ran.stdout[-2_000:]} {ran.stderr[-2_000:]} {self._log.read_text()[-3_000:]}"
        return json.loads(ran.stdout)


def configure(home: Path, folder: Path, url: str) -> int:
    """Names the scripted model, with a window of 64,000 tokens, in a configuration that may have more. Returns the port of the
    gateway."""
    path = home / ".openclaw" / "openclaw.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    model = {"id": "scripted", "name": "scripted", "reasoning": False, "input": ["text"], "cost": cost, "contextWindow": 64_000, "maxTokens": 2_048}
    provider = {"baseUrl": f"{url}/v1", "apiKey": "no-key-at-all", "api": "openai-completions", "models": [model]}
    if path.exists():
        settings = json.loads(path.read_text())
        settings["models"]["providers"]["fake"] = provider
    else:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        settings = {
            "update": {"checkOnStart": False},
            "models": {"catalogRefresh": {"enabled": False}, "mode": "replace", "providers": {"fake": provider}},
            "agents": {"defaults": {"model": {"primary": "fake/scripted"}, "workspace": str(folder), "skipBootstrap": True}},
            "gateway": {"mode": "local", "port": port, "bind": "loopback", "auth": {"mode": "token", "token": "t"}},
        }
    text = json.dumps(settings, indent=2)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return settings["gateway"]["port"]


def openclaw_environment(home: Path, **more: str) -> dict[str, str]:
    """What a process of it is started with: nothing of this machine, and no request but those to the model."""
    quiet = {f"OPENCLAW_{name}": "1" for name in QUIET}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "CI": "1", "NO_COLOR": "1", **quiet, **more}
