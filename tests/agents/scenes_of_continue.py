"""A scene with all clients: each goes on with the work of each other one."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

from claude import Claude
from codex import Codex
from common import daemon, work
from endpoint import Endpoint, script
from gemini import Gemini
from home import Home
from opencode import OpenCode
from pi import Pi
from qwen import Qwen
from scenes_of_gemini import shell as in_gemini
from scenes_of_opencode import shell as in_opencode
from scenes_of_pi import shell as in_pi
from scenes_of_qwen import shell as in_qwen
from sessions import RULE

Turns = Callable[[Home, Endpoint, list[str], dict[str, str]], str]
"""Says something in a new session of a client, and returns the session's id."""


def _claude(home: Home, endpoint: Endpoint, said: list[str], environment: dict[str, str]) -> str:
    environment = {"HERMA_HOOK_TIMEOUT_MS": "4000", **daemon(), **environment}
    with Claude("claude", home.client, home.work, endpoint.url, "--allowedTools", "Bash", **environment) as client:
        for words in said:
            client.say(words)
    return f"claude-code:{client.session}"


def _codex(home: Home, endpoint: Endpoint, said: list[str], environment: dict[str, str]) -> str:
    client = Codex("codex", home.codex, home.work, endpoint.url, **{"HERMA_HOOK_TIMEOUT_MS": "4000", **daemon(), **environment})
    if not said:
        return ""
    for words in said:
        client.say(words)
    return f"codex:{client.session}"


def _qwen(home: Home, endpoint: Endpoint, said: list[str], environment: dict[str, str]) -> str:
    environment = {"HERMA_HOOK_TIMEOUT_MS": "4000", **daemon(), **environment}
    with Qwen(home.client, home.work, endpoint.url, **environment) as client:
        for words in said:
            client.say(words)
    return f"qwen-code:{client.session}"


def _gemini(home: Home, endpoint: Endpoint, said: list[str], environment: dict[str, str]) -> str:
    environment = {"HERMA_HOOK_TIMEOUT_MS": "4000", **daemon(), **environment}
    with Gemini(home.client, home.work, endpoint.url, **environment) as client:
        for words in said:
            client.say(words)
        return f"gemini-cli:{client.session}"


def _pi(home: Home, endpoint: Endpoint, said: list[str], environment: dict[str, str]) -> str:
    environment = {"HERMA_HOOK_TIMEOUT_MS": "4000", **daemon(), **environment}
    with Pi(home.client, home.work, endpoint.url, **environment) as client:
        for words in said:
            client.say(words)
        return f"pi:{client.session}"


def _opencode(home: Home, endpoint: Endpoint, said: list[str], environment: dict[str, str]) -> str:
    environment = {"HERMA_HOOK_TIMEOUT_MS": "4000", **daemon(), **environment}
    with OpenCode(home.client, home.work, endpoint.url, **environment) as client:
        for words in said:
            client.say(words)
        return f"opencode:{client.session}"


CLIENTS: dict[str, tuple[Turns, dict[str, object]]] = {
    "claude-code": (_claude, {"name": "Bash", "input": {"command": "echo db-7 answers", "description": "look"}}),
    "codex": (_codex, {"name": "exec_command", "input": {"cmd": "echo db-7 answers"}}),
    "qwen-code": (_qwen, in_qwen("echo db-7 answers")),
    "gemini-cli": (_gemini, in_gemini("echo db-7 answers")),
    "pi": (_pi, in_pi("echo db-7 answers")),
    "opencode": (_opencode, in_opencode("echo db-7 answers")),
}


def work_goes_on_in_another_agent(folder: Path) -> None:
    """The other agent is told the rules, the state and the last words, and its session is a child of the first one."""
    with Home(folder) as home, Endpoint() as endpoint:
        _codex(home, endpoint, [], {})
        for begin in (Qwen, Gemini):
            with begin(home.client, home.work, endpoint.url):
                pass
        for client in CLIENTS:
            home.install(client, *(("--trust",) if client == "codex" else ()))
        for first, (speak, call) in CLIENTS.items():
            said = [script("yes", words=RULE), work(7, lambda _, call=call: call)]
            session = speak(home, endpoint, said, {})
            for other, (go_on, _) in CLIENTS.items():
                if other == first:
                    continue
                handed = home.ask("continue", session, "--in", other)
                assert handed["folder"] == str(home.work), handed
                after = go_on(home, endpoint, [handed["prompt"]], handed["environment"])
                seen = endpoint.turns[-1].text
                for words in (session, RULE, "db-7 is well", "port 8007", "recall_search"):
                    assert words in seen, f"{first} in {other}: {words} is not in {seen[-3000:]}"
                row = home.ask("session", "show", after)
                assert row["parent"] == session, f"{first} in {other}: {row}"
        assert home.complaints() == []


SCENES = [work_goes_on_in_another_agent]
