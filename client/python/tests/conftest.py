"""Real daemons, each on a home of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import herma
from herma.hermes.background import worker
from herma.hermes.shared import close_shared_clients
from herma.start import find_daemon

REPOSITORY = Path(__file__).resolve().parents[3]
PATIENCE = 20.0

# The list of what could not be run, and what finds out what a machine has; only in the repository.
SKIPS = REPOSITORY / "tests" / "skips"


NEEDS: set[str] = set()


def needs(name: str):
    """Marks a test that is skipped where tests/skips says that the machine lacks this."""
    NEEDS.add(name)
    has = SKIPS.exists() and subprocess.run([SKIPS, "can", name], check=False).returncode == 0
    return pytest.mark.skipif(not has, reason=f"needs {name}")


def pytest_runtest_logreport(report):
    """Keeps the list of tests that were skipped."""
    if not SKIPS.exists():
        return
    if report.skipped:
        reason = report.longrepr[2].removeprefix("Skipped: ").removeprefix("needs ")
        # A reason that is no need is one that nobody knows, and fails the strict list.
        need = reason.replace(" ", "-")
        subprocess.run([SKIPS, "add", need, report.nodeid], check=True)
    elif report.when == "setup" and "skipif" in report.keywords:
        for name in NEEDS:
            subprocess.run([SKIPS, "drop", name, report.nodeid], check=True)


def hermad() -> str:
    found = shutil.which(find_daemon())
    if found:
        return str(Path(found).resolve())
    for kind in ("debug", "release"):
        built = REPOSITORY / "target" / kind / "hermad"
        if built.is_file():
            return str(built)
    raise RuntimeError("no hermad: set HERMAD or build it")


def wait_for(condition, what="it"):
    """The first true answer of a condition."""
    until = time.monotonic() + PATIENCE
    while True:
        answer = condition()
        if answer:
            return answer
        assert time.monotonic() < until, f"{what} did not come about"
        time.sleep(0.005)


def is_gone(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        pass  # Not a child, or reaped by somebody else.
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@contextmanager
def stopped(pid: int):
    """A process that stands still meanwhile, every thread of it."""

    def stands():
        listed = subprocess.run(
            ["ps", "-L", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=True
        )
        return all(state.startswith("T") for state in listed.stdout.split())

    os.kill(pid, signal.SIGSTOP)
    try:
        wait_for(stands, "standstill")
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


class Home:
    """A home, and the daemon that serves it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.socket = path / "herma" / "hermad.sock"

    @property
    def pid(self) -> int | None:
        try:
            words = (self.path / "herma" / "hermad.lock").read_text().split()
        except FileNotFoundError:
            return None
        return int(words[1]) if words[:1] == ["pid"] else None

    def configure(self, text: str) -> None:
        (self.path / "herma").mkdir(exist_ok=True)
        (self.path / "herma" / "config.toml").write_text(text)

    def start(self) -> int:
        """Starts a daemon and gives its process id."""
        herma.start.start(herma.Place.find(self.path))
        assert self.pid is not None
        return self.pid

    def kill(self) -> None:
        """Ends the daemon as a crash would."""
        pid = self.pid
        if pid is not None and self._serves(pid):
            os.kill(pid, signal.SIGKILL)
            wait_for(lambda: is_gone(pid), "the daemon's end")

    def _serves(self, pid: int) -> bool:
        """Whether that process is a daemon of this very home."""
        done = subprocess.run(
            ["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
        return str(self.path) in done.stdout


@pytest.fixture
def home(monkeypatch):
    path = Path(tempfile.mkdtemp(prefix="h", dir="/tmp"))
    for name in ("HERMES_HOME", "HERMA_SOCKET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HERMAD", hermad())
    monkeypatch.setenv("HERMA_HOME", str(path))
    served = Home(path)
    yield served
    worker.settle(2)  # Else it would go on in the next test, and start a daemon there.
    close_shared_clients()
    served.kill()
    shutil.rmtree(path)


@pytest.fixture
def client(home):
    with herma.Client() as client:
        yield client


def conversation(turns: int, words: int = 150) -> list[dict]:
    """A system message and turns of so many words."""
    roles = ("user", "assistant")
    return [
        {"role": "system", "content": "You help."},
        *(
            {"role": roles[at % 2], "content": f"message {at} " + "lorem ipsum " * words}
            for at in range(turns)
        ),
    ]
