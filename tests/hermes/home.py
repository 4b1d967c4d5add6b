"""A home of one's own for an agent and for the daemon that serves it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import wait

PATIENCE = 60
"""Seconds for a command."""

NOWHERE = "http://127.0.0.1:9"
"""A proxy that refuses, so that no host reaches beyond loopback."""

CONFIG = """\
model:
  default: scripted
  provider: custom
  base_url: {url}
  api_key: none
  context_length: 64000
platform_toolsets:
  cli: [terminal, file, todo, memory, delegation]
agent:
  environment_probe: false
  coding_context: "off"
memory:
  nudge_interval: 0
skills:
  creation_nudge_interval: 0
curator:
  enabled: false
security:
  tirith_enabled: false
approvals:
  mode: "off"
tool_output:
  max_bytes: 400000
  max_lines: 20000
auxiliary:
  title_generation:
    enabled: false
display:
  tool_progress: "off"
"""
"""What a host needs to run without a screen, without a network, and without work of its own."""


MODEL_TOOLS = """\
herma:
  model_tools: true
"""
"""Lets the model say what it is done with."""


def install(home: Home) -> None:
    """Puts herma into the home as a user would."""
    command = ["herma", "hermes", "install", "--write-config", *(home.options or [])]
    ran = subprocess.run(command, env=home.env, capture_output=True, text=True, timeout=PATIENCE)
    if ran.returncode != 0:
        raise RuntimeError(f"herma hermes install: {ran.stdout}{ran.stderr}")


class Home:
    """A folder with a short path; what serves it ends with the block."""

    def __init__(self, venv: Path, url: str, *, options: list[str] | None = None) -> None:
        """``options`` are those of ``herma hermes install``; without them herma stays out."""
        self.venv, self.options = venv, options
        self.path = Path(tempfile.mkdtemp(prefix="hh", dir="/tmp"))
        self.config = self.path / "config.yaml"
        own = MODEL_TOOLS if options is not None else ""
        self.config.write_text(CONFIG.format(url=url) + own)
        self.work = self.path / "work"
        self.work.mkdir()
        if options is not None:
            install(self)

    def __enter__(self) -> Home:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            self.resume_daemon()
            subprocess.run(
                ["herma", "daemon", "stop"], env=self.env, capture_output=True, timeout=PATIENCE
            )
        # The daemon may be at its last file.
        shutil.rmtree(self.path, ignore_errors=True)

    @property
    def env(self) -> dict[str, str]:
        """The environment of everything that runs here; nothing of the user's is in it."""
        return {
            "HERMES_HOME": str(self.path),
            "HOME": str(self.path),
            "HERMAD": str(self.hermad),
            "PATH": f"{self.venv}/bin:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "HTTP_PROXY": NOWHERE,
            "HTTPS_PROXY": NOWHERE,
            "NO_PROXY": "127.0.0.1,localhost",
            "PYTHONDONTWRITEBYTECODE": "",
        }

    @property
    def hermad(self) -> Path:
        """The daemon's program: a link of this home, which a test can take away."""
        link = self.path / "hermad"
        if not link.is_symlink() and not (self.path / "hermad.away").is_symlink():
            link.symlink_to(os.environ["HERMAD"])
        return link

    def herma(self, *arguments: str) -> Any:
        """Runs a command and gives its result."""
        command = ["herma", "--json", *arguments]
        ran = subprocess.run(
            command, env=self.env, capture_output=True, text=True, timeout=PATIENCE, check=True
        )
        return json.loads(ran.stdout)

    def daemon(self) -> int | None:
        """The daemon's process, if there is one."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            pid = int((self.path / "herma" / "hermad.lock").read_text().split()[1])
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            return pid if state != "Z" else None
        return None

    def kill_daemon(self) -> bool:
        """Ends the daemon as a power cut would, and waits until it is gone."""
        pid = self.daemon()
        if pid is None:
            return False
        os.kill(pid, signal.SIGKILL)
        wait.until(lambda: self.daemon() != pid, "the killed daemon goes on")
        return True

    def stop_daemon(self) -> bool:
        """Makes the daemon stand still: it accepts, and never answers."""
        pid = self.daemon()
        if pid is not None:
            os.kill(pid, signal.SIGSTOP)
        return pid is not None

    def resume_daemon(self) -> None:
        """Lets it go on."""
        pid = self.daemon()
        if pid is not None:
            os.kill(pid, signal.SIGCONT)

    def keep(self, folder: Path) -> None:
        """Leaves a copy of everything, for somebody who wants to know why."""
        shutil.copytree(
            self.path,
            folder / self.path.name,
            symlinks=True,
            ignore=shutil.ignore_patterns("*.sock"),
        )

    def take_daemon_away(self) -> None:
        """Removes the daemon's program and ends it: none can be started."""
        if self.hermad.is_symlink():
            self.hermad.rename(self.path / "hermad.away")
        self.kill_daemon()

    def bring_daemon_back(self) -> None:
        """Puts the program where it was."""
        away = self.path / "hermad.away"
        if away.is_symlink():
            away.rename(self.hermad)

    def tracebacks(self) -> list[str]:
        """The last lines of exceptions in the host's logs that herma is part of."""
        found = []
        for log in sorted((self.path / "logs").glob("*.log")):
            for block in log.read_text(errors="replace").split("Traceback (most recent call last)")[
                1:
            ]:
                lines = [line for line in block.splitlines() if line and not line.startswith(" ")]
                if "herma/hermes" in block or "plugins/herma" in block:
                    found.append(next((line for line in lines if line != ":"), block[:200]))
        return found
