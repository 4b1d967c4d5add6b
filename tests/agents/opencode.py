"""OpenCode without a terminal: its server, which gets what the user says as requests."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

from home import until

WAIT_S = 90
"""How long a turn may take."""

PACKAGE = ("node_modules", "package.json", "package-lock.json")
"""What OpenCode installs into its folder when it first starts with a plugin. That takes some seconds, so it is kept for all
homes."""

MODEL = {"providerID": "fake", "modelID": "scripted"}


class OpenCode:
    """A process of the client, in a home of its own."""

    def __init__(self, home: Path, folder: Path, url: str, session: str = "", **environment: str) -> None:
        self._settings = configure(home, url)
        folder.mkdir(parents=True, exist_ok=True)
        self._process = subprocess.Popen(
            ["opencode", "serve", "--hostname", "127.0.0.1", "--port", "0"],
            cwd=folder,
            env=opencode_environment(home, **environment),
            stdout=subprocess.PIPE,
            stderr=(home / "stderr.log").open("a"),
            text=True,
        )
        assert self._process.stdout
        self._url = next(found[0] for line in self._process.stdout if (found := re.search(r"http://127\S+", line)))
        self.session = session or self.ask("/session", {})["id"]

    def __enter__(self) -> "OpenCode":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """A request to the client's own server."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=WAIT_S) as response:
            return json.loads(response.read() or b"null")

    def say(self, words: str) -> None:
        """Says something, and waits for the end of the turn."""
        answer = self.ask(f"/session/{self.session}/message", {"parts": [{"type": "text", "text": words}]})
        assert not answer["info"].get("error"), answer["info"]

    def compact(self) -> None:
        """Has it compact the session."""
        assert self.ask(f"/session/{self.session}/summarize", MODEL) is True

    def end(self) -> None:
        """Has it end by itself. The first one ends once its package is there: one that is ended before leaves a lock for a
        minute."""
        if not _prepared().exists():
            until((self._settings / PACKAGE[-1]).exists, "OpenCode installs its package", seconds=WAIT_S)
        if self._process.poll() is None:
            self.ask("/instance/dispose", {})
            self._process.terminate()
        try:
            self._process.wait(timeout=WAIT_S)
        finally:
            self._process.kill()
        if (self._settings / PACKAGE[-1]).exists() and not _prepared().exists():
            _copy(self._settings, _prepared())


def _prepared() -> Path:
    program = shutil.which("opencode")
    assert program
    return Path(program).parents[2] / "opencode-package"


def _copy(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source / PACKAGE[0], target / PACKAGE[0], symlinks=True)
    for name in PACKAGE[1:]:
        shutil.copy(source / name, target / name)


def configure(home: Path, url: str) -> Path:
    """Names the scripted model, with a window of 100,000 tokens. Returns the folder of the settings."""
    model = {"name": "scripted", "limit": {"context": 100_000, "output": 4_000}}
    options = {"baseURL": f"{url}/v1", "apiKey": "no-key-at-all"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "fake", "options": options, "models": {"scripted": model}}
    named = {"model": "fake/scripted", "small_model": "fake/scripted"}
    settings = {"provider": {"fake": provider}, **named, "permission": {"bash": "allow"}, "autoupdate": False, "share": "disabled"}
    file = home / ".config" / "opencode" / "opencode.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings))
    if _prepared().exists() and not (file.parent / PACKAGE[-1]).exists():
        _copy(_prepared(), file.parent)
    return file.parent


def opencode_environment(home: Path, **more: str) -> dict[str, str]:
    """What a process of it is started with: nothing of this machine, and no request but those to the model."""
    quiet = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}
    return {"PATH": os.environ["PATH"], "HOME": str(home), **quiet, **more}
