"""A scene with all clients: each goes on with the work of each other one."""

from __future__ import annotations

import itertools
import shutil
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Callable

from claude import Claude
from codex import Codex
from common import Begin, daemon, work
from endpoint import Endpoint, script
from gemini import Gemini
from home import Home
from omp import Omp
from openclaw import OpenClaw, configure
from opencode import OpenCode
from pi import Pi
from qwen import Qwen
from scenes_of_gemini import shell as in_gemini
from scenes_of_openclaw import shell as in_openclaw
from scenes_of_opencode import shell as in_opencode
from scenes_of_pi import shell as in_pi
from scenes_of_qwen import shell as in_qwen
from sessions import RULE

Begin = Callable[..., AbstractContextManager[Any]]
"""Begins a process of a client in a home, with a model and an environment."""


def _claude(home: Home, endpoint: Endpoint, **environment: str) -> Claude:
    return Claude("claude", home.client, home.work, endpoint.url, "--allowedTools", "Bash", **environment)


def _codex(home: Home, endpoint: Endpoint, **environment: str) -> AbstractContextManager[Codex]:
    return nullcontext(Codex("codex", home.codex, home.work, endpoint.url, **environment))


_numbers = itertools.count(1)


def _openclaw(home: Home, endpoint: Endpoint, **environment: str) -> OpenClaw:
    return OpenClaw(home.client, home.work, endpoint.url, f"s{next(_numbers)}", **environment)


def _of(client: Callable[..., Any]) -> Begin:
    return lambda home, endpoint, **environment: client(home.client, home.work, endpoint.url, **environment)


CLIENTS: dict[str, tuple[Begin, dict[str, object]]] = {
    "claude-code": (_claude, {"name": "Bash", "input": {"command": "echo db-7 answers", "description": "look"}}),
    "codex": (_codex, {"name": "exec_command", "input": {"cmd": "echo db-7 answers"}}),
    "qwen-code": (_of(Qwen), in_qwen("echo db-7 answers")),
    "gemini-cli": (_of(Gemini), in_gemini("echo db-7 answers")),
    "pi": (_of(Pi), in_pi("echo db-7 answers")),
    "omp": (_of(Omp), in_pi("echo db-7 answers")),
    "opencode": (_of(OpenCode), in_opencode("echo db-7 answers")),
    "openclaw": (_openclaw, in_openclaw("echo db-7 answers")),
}
NOT_ALWAYS = ("omp", "openclaw")
"""Clients that are not there unless they are asked for."""


def _say(name: str, home: Home, endpoint: Endpoint, said: list[str], environment: dict[str, str]) -> str:
    """Says something in a new session of a client, and returns the session's id."""
    with CLIENTS[name][0](home, endpoint, HERMA_HOOK_TIMEOUT_MS="4000", **daemon(), **environment) as client:
        for words in said:
            client.say(words)
        return f"{name}:{client.session}"


def work_goes_on_in_another_agent(folder: Path) -> None:
    """The other agent is told the rules, the state and the last words, and its session is a child of the first one."""
    clients = {name: client for name, client in CLIENTS.items() if name not in NOT_ALWAYS or shutil.which(name)}
    with Home(folder) as home, Endpoint() as endpoint:
        _codex(home, endpoint)
        for begin in (Qwen, Gemini):
            with begin(home.client, home.work, endpoint.url):
                pass
        configure(home.client, home.work, endpoint.url)
        for client in clients:
            home.install(client, *(("--trust",) if client == "codex" else ()))
        for first, (_, call) in clients.items():
            said = [script("yes", words=RULE), work(7, lambda _, call=call: call)]
            session = _say(first, home, endpoint, said, {})
            for other in clients:
                if other == first:
                    continue
                handed = home.ask("continue", session, "--in", other)
                assert handed["folder"] == str(home.work), handed
                after = _say(other, home, endpoint, [handed["prompt"]], handed["environment"])
                seen = endpoint.turns[-1].text
                for words in (session, RULE, "db-7 is well", "port 8007", "recall_search"):
                    assert words in seen, f"{first} in {other}: {words} is not in {seen[-3000:]}"
                row = home.ask("session", "show", after)
                assert row["parent"] == session, f"{first} in {other}: {row}"
                listed = home.ask("session", "list", "--limit", "1000")["sessions"]
                assert after in [row["session"] for row in listed], f"{first} in {other}: it is not listed"
        assert home.complaints() == []


SCENES = [work_goes_on_in_another_agent]
