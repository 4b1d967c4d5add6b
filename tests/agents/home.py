"""A home of herma and of a client, and what a test asks of them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Callable


class Home:
    """Folders of a client and of herma; the daemon is ended with it."""

    def __init__(self, folder: Path) -> None:
        self.client, self.herma, self.work = folder / "client", folder / "h", folder / "work"
        self.client.mkdir(parents=True)
        self.work.mkdir()

    def __enter__(self) -> "Home":
        return self

    def __exit__(self, *_: object) -> None:
        if (pid := self.daemon()) is not None:
            os.kill(pid, signal.SIGCONT)
        self.run("daemon", "stop", "--no-spawn")

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """A command of herma."""
        kept = {"PATH": os.environ["PATH"], "HOME": str(self.client), "CODEX_HOME": str(self.client)}
        kept |= {name: os.environ[name] for name in ("HERMAD",) if name in os.environ}
        command = ["herma", *words, "--home", str(self.herma)]
        return subprocess.run(command, env=kept | environment, cwd=self.work, text=True, capture_output=True)

    def ask(self, *words: str) -> Any:
        """What a command of herma answers to programs."""
        ran = self.run(*words, "--json")
        assert ran.returncode == 0, f"{words}: {ran.stdout} {ran.stderr}"
        return json.loads(ran.stdout)

    def install(self, client: str, *options: str) -> None:
        """Has a client call herma."""
        ran = self.run("hooks", "install", client, "--yes", *options)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        again = self.ask("hooks", "install", client, "--yes", *options)
        assert again["files"] == [], f"it is not done once for all: {again}"

    def daemon(self) -> int | None:
        """The daemon's process, by the last line of the log that says it."""
        log = self.herma / "herma" / "hermad.log"
        found = re.findall(r"serving .*pid=(\d+)", log.read_text()) if log.exists() else []
        return int(found[-1]) if found and Path(f"/proc/{found[-1]}/exe").exists() else None

    def complaints(self) -> list[str]:
        """What hooks wrote into the log."""
        log = self.herma / "herma" / "hermad.log"
        return [line for line in log.read_text().splitlines() if "herma::hook" in line] if log.exists() else []


def until(holds: Callable[[], bool], what: str, seconds: float = 20.0) -> None:
    """Waits for something."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.02)
