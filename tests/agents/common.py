"""What scenes with different clients have in common."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any, Callable

from endpoint import Endpoint, Request, script
from home import Home

RECALL = "recall_search"
REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = REPOSITORY / "docs"
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ"


def remember(words: str) -> dict[str, Any]:
    """What a model writes into the memory."""
    return {"action": "add", "target": "user", "content": words}


def daemon() -> dict[str, str]:
    """Which daemon hooks start."""
    return {"HERMAD": os.environ["HERMAD"]}


def windows(endpoint: Endpoint) -> list[Request]:
    """The first request of each window: that whose list is not longer than the one before."""
    sizes = [len(request.text) for request in endpoint.turns]
    return [request for at, request in enumerate(endpoint.turns) if at and sizes[at] < sizes[at - 1]]


def no_others(home: Home, client: str) -> bool:
    """Whether herma has no sessions but those of the client itself."""
    rows = home.ask("session", "list", "--raw")["sessions"]
    assert all(row["session"].startswith(f"{client}:") for row in rows), [row["session"] for row in rows]
    return True


def ledger(home: Home, session: str, calls: int, compactions: int = 0, summaries: int = 0, **parts: int) -> None:
    """The ledger has every call of the model, and each change: each window has context, and each compaction has a request
    for a summary, which was spared if the compaction is herma's."""
    found = home.ask("usage", "--savings", "--session", session)["total"]
    windows = compactions + summaries
    expected = {"definitions": 1, "context": windows + 1, "compactions": compactions, "summaries": windows, **parts}
    counts = {name: found[name]["count"] for name in expected}
    assert (found["calls"], counts) == (calls, expected), found


def work(number: int, call: Callable[[str], dict[str, Any]], *more: dict[str, Any], tokens: int = 1_000) -> str:
    """A turn of ordinary work."""
    words = f"Step {number}: look at the host db-{number}, port {8_000 + number}."
    calls = [call(f"echo host db-{number} answers; seq 1 {200 + number}"), *more]
    return script(f"db-{number} is well", *calls, tokens=tokens, words=words)


# The turns of `through_kills`.
TURNS = 13


def through_kills(home: Home, client: Any, call: Callable[[str], dict[str, Any]], limit: float) -> None:
    """Some turns while the daemon is killed again and again, and one while it is frozen, within so many seconds."""
    client.say(work(1, call))
    stop = threading.Event()
    killer = threading.Thread(target=kill_again_and_again, args=(home, stop))
    killer.start()
    for number in range(2, TURNS - 1):
        client.say(work(number, call))
    stop.set()
    killer.join()
    pid = running(home)
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    client.say(work(TURNS - 1, call))
    frozen = time.monotonic() - began
    os.kill(pid, signal.SIGCONT)
    assert frozen < limit, f"a turn took {frozen:.1f} s"
    client.say(work(TURNS, call))


def running(home: Home) -> int:
    assert home.run("ping").returncode == 0
    pid = home.daemon()
    assert pid is not None, "no daemon runs"
    return pid


def kill_again_and_again(home: Home, stop: threading.Event) -> None:
    while not stop.wait(0.15):
        pid = home.daemon()
        if pid is not None:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
