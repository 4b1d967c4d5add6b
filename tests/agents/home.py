"""A home of herma and of a client, and what a test asks of them."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Callable


class Home:
    """Folders of a client and of herma; the daemon is ended with it."""

    def __init__(self, folder: Path) -> None:
        self.client, self.herma, self.work = folder / "client", folder / "h", folder / "work"
        self.codex = self.client
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
        command = ["herma", *words, "--home", str(self.herma)]
        return subprocess.run(command, env=self._kept() | environment, cwd=self.work, text=True, capture_output=True)

    def shell(self, line: str) -> subprocess.CompletedProcess[str]:
        """A line of a page, for this home, on a terminal; what it asks is answered with yes."""
        kept = {**self._kept(), "HERMA_HOME": str(self.herma)}
        terminal, side = pty.openpty()
        threading.Thread(target=_drain, args=(terminal,), daemon=True).start()
        try:
            os.write(terminal, b"y\n")
            command = ["sh", "-c", line]
            return subprocess.run(command, env=kept, cwd=self.work, text=True, stdin=side, stderr=side, stdout=subprocess.PIPE)
        finally:
            os.close(side)

    def _kept(self) -> dict[str, str]:
        kept = {"PATH": os.environ["PATH"], "HOME": str(self.client), "CODEX_HOME": str(self.codex)}
        return kept | {name: os.environ[name] for name in ("HERMAD",) if name in os.environ}

    def beside(self, name: str) -> "Home":
        """Another home of herma for the same client."""
        other = object.__new__(Home)
        other.client, other.codex, other.work, other.herma = self.client, self.codex, self.work, self.herma.with_name(name)
        return other

    def ask(self, *words: str) -> Any:
        """What a command of herma answers to programs."""
        ran = self.run(*words, "--json")
        assert ran.returncode == 0, f"{words}: {ran.stdout} {ran.stderr}"
        return json.loads(ran.stdout)

    def configure(self, text: str) -> None:
        """Puts down what herma's configuration says, before a daemon runs."""
        file = self.herma / "herma" / "config.toml"
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(text)

    def install_by(self, program: Path, client: str, *options: str) -> None:
        """Has a client call herma by this path."""
        command = [str(program), "hooks", "install", client, "--yes", *options, "--home", str(self.herma)]
        subprocess.run(command, env=self._kept(), cwd=self.work, check=True, capture_output=True)

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


def _drain(terminal: int) -> None:
    """Reads what a program writes to its terminal, which would wait otherwise, and closes the terminal."""
    with contextlib.suppress(OSError), os.fdopen(terminal, "rb", buffering=0) as output:
        while output.read(4_096):
            pass


class Proxy:
    """`herma proxy` before a model; ``url`` is what the client's base_url has to be, and ``log`` has what it reports."""

    def __init__(self, home: Home, upstream: str, api: str = "codex", *options: str) -> None:
        command = ["herma", "proxy", api, "--upstream", upstream, "--listen", "127.0.0.1:0", *options]
        environment = {"PATH": os.environ["PATH"], "HOME": str(home.client), "HERMAD": os.environ["HERMAD"]}
        self.log = home.client / "proxy.log"
        self._process = subprocess.Popen(
            [*command, "--home", str(home.herma)], env=environment, stdout=subprocess.PIPE, stderr=self.log.open("a"), text=True
        )
        said = self._process.stdout.readline()
        found = re.fullmatch(r'(?:base_url = |[A-Z]+_BASE_URL=)"(http://127\.0\.0\.1:\d+/[0-9a-f]{32})"\n', said)
        assert found, said
        self.url = found[1]

    def __enter__(self) -> "Proxy":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(10) == 0


def until(holds: Callable[[], bool], what: str, seconds: float = 20.0) -> None:
    """Waits for something."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.02)
