#!/usr/bin/env python3
"""Fills a home by way of its daemon, so that there is something to look at.

fill.py SOCKET demo       a few days of work in two repositories, for pictures
fill.py SOCKET MESSAGES   so many messages in sessions of 100
"""

from __future__ import annotations

import json
import socket
import sys
import time
from typing import Any

DAY = 86_400


class Daemon:
    """A connection with JSON lines."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._lines = self._socket.makefile("r", encoding="utf-8")

    def ask(self, method: str, **params: Any) -> Any:
        """The result of a method."""
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        self._socket.sendall(line.encode() + b"\n")
        answer = json.loads(self._lines.readline())
        assert "error" not in answer, (method, answer)
        return answer["result"]


def said(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def step(number: int, command: str, output: str) -> list[dict[str, Any]]:
    """A call of the shell and its result."""
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": command})}}
    return [said("assistant", "", tool_calls=[call]), said("tool", output, tool_call_id=f"call_{number}", name="bash")]


def conversation() -> list[dict[str, Any]]:
    """Someone mends the retries of a sync service."""
    messages = [said("user", "Never push to main. The sync drops events when the broker restarts; find out why.")]
    for number, (command, output, words, answer) in enumerate(
        [
            ("rg -n retry src/sync", "src/sync/client.rs:88: fn retry(\nsrc/sync/queue.rs:41: // no retry here", "It gives up after the first refused connection, in src/sync/queue.rs line 41.", "Make it wait and try again, at most 5 times."),
            ("cargo test -p sync", "test queue::survives_a_restart ... FAILED\n" + "event 1041 was lost\n" * 40, "The new test fails: event 1041 is lost between the ack and the write.", "Then write before the ack. Which port has the test broker?"),
            ("cat compose.yaml", "broker:\n  ports: ['5673:5672']\n" + "# volumes\n" * 60, "The test broker listens on port 5673.", "Good. Use exponential pauses from 50 ms, and keep the order number 48291 in the log line."),
            ("cargo test -p sync", "test result: ok. 41 passed; 0 failed", "All 41 tests pass. The queue writes first, then acks, and tries 5 times from 50 ms on.", "Now the same for the export."),
        ]
    ):
        messages += step(number, command, output + "\n" + "detail of the run\n" * 150)
        messages += [said("assistant", words), said("user", answer)]
    return messages


def demo(daemon: Daemon) -> None:
    now = time.time()
    for target, words, agent in [
        ("user", "prefers short answers with the command that shows it", "claude-code"),
        ("user", "works in Bern, on Linux and macOS", "codex"),
        ("memory", "the test broker of the sync service listens on port 5673", "claude-code"),
        ("memory", "releases are cut from the branch stable, never from main", "pi"),
    ]:
        daemon.ask("memory.add", target=target, content=words, agent=agent, session=f"{agent}:sync")
    daemon.ask("memory.replace", target="user", old_text="works in Bern", content="works in Zürich, on Linux and macOS", agent="codex")
    sessions = [
        ("claude-code:sync", "claude-code", "The sync drops events", "/home/mia/sync", 60_000),
        ("codex:site", "codex", "Dark mode for the site", "/home/mia/site", 100_000),
        ("pi:export", "pi", "Export with retries", "/home/mia/sync", 100_000),
    ]
    for name, agent, title, folder, window in sessions:
        daemon.ask("session.open", session=name, agent=agent, title=title, cwd=folder, branch="fix/retry", context_length=window, model="a-model")
        messages = conversation() * (4 if name.startswith("claude") else 1)
        daemon.ask("session.append", session=name, generation=0, position=0, messages=messages)
        daemon.ask("output.admit", session=name, tool="bash", id="large", content="test queue::survives ... ok\n" * 2_000)
        calls, changes = [], []
        for at in range(30):
            spent = {"input_tokens": 900, "cache_read_input_tokens": 20_000 + 500 * at, "cache_creation_input_tokens": 1_500, "output_tokens": 400}
            calls.append({"id": f"{name}-{at}", "time": now - (14 - at / 2.2) * DAY, "usage": spent, "api_mode": "anthropic_messages"})
        for at in range(10):
            changes.append({"time": now - (13 - at) * DAY, "kind": "output", "added": 600, "removed": 9_000 + 900 * at})
        daemon.ask("ledger.record", session=name, calls=calls, changes=changes)
    daemon.ask("context.compress", session="claude-code:sync", messages=conversation() * 4, force=True)
    daemon.ask("files.write", path="/memories/plan.md", text="1. queue\n2. export\n", agent="claude-code")


def fill(daemon: Daemon, count: int) -> None:
    each = min(count, 100)
    for number in range(count // max(each, 1)):
        name = f"codex:{number:05}"
        daemon.ask("session.open", session=name, agent="codex", title=f"Work {number}", cwd=f"/home/mia/project-{number % 20}", context_length=100_000)
        messages = [said("user" if at % 2 == 0 else "assistant", f"step {at} of {number}: host db-{at * number % 997} answers on port {8_000 + at}") for at in range(each)]
        daemon.ask("session.append", session=name, generation=0, position=0, messages=messages)
        if number % 10 == 0:
            daemon.ask("output.admit", session=name, tool="bash", id="large", content=f"line of {number}\n" * 8_000)


def main() -> None:
    daemon = Daemon(sys.argv[1])
    if sys.argv[2] == "demo":
        demo(daemon)
    else:
        fill(daemon, int(sys.argv[2]))


if __name__ == "__main__":
    main()
