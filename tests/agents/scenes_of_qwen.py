"""Scenes with Qwen Code. Each asserts on the requests that the model got, and on what herma kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from common import RECALL, TURNS, daemon, equal_without_a_daemon, first_with, imported_and_gone_on, installed_and_uninstalled, kept, no_others, remember, through_kills, two_at_once, windows, work
from endpoint import Endpoint, script, text
from home import Home
from qwen import Qwen
from sessions import MEMORY, RULE


def shell(command: str) -> dict[str, Any]:
    """A call of Qwen Code's shell."""
    return {"name": "run_shell_command", "input": {"command": command, "description": "look", "is_background": False}}


def qwen(home: Home, endpoint: Endpoint, *arguments: str, patience: str = "4000") -> Qwen:
    """Qwen Code with herma. Hooks may take so many milliseconds: a slow machine is no reason to go without them here."""
    return Qwen(home.client, home.work, endpoint.url, *arguments, HERMA_HOOK_TIMEOUT_MS=patience, **daemon())


def qwen_code_works(folder: Path) -> None:
    """Forty turns in two processes, a compaction by hand, a large output, the memory tool, and a resumed session."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.ask("memory", "add", "user", MEMORY)
        with qwen(home, endpoint) as client:
            client.say(script("yes"))
        home.install("qwen-code")
        with qwen(home, endpoint) as client:
            client.say(script("yes", words=RULE))
            first = len(endpoint.turns) - 1
            client.say(work(1, shell, {"name": "mcp__herma__memory", "input": remember("the user owns a cat")}))
            client.say(script("large", shell("seq 1 40000 | sed 's/^/line /'")))
            for number in range(2, 20):
                client.say(work(number, shell))
            client.say("/compress")
            client.say(work(20, shell))
            session = client.session
        compacted = windows(endpoint)[-1]
        with qwen(home, endpoint, "--resume", session) as client:
            for number in range(21, 38):
                client.say(work(number, shell))
            assert client.session == session
        resumed = first_with(endpoint, "db-21")
        with qwen(home, endpoint) as client:
            client.say(work(38, shell))
            other = client.session
        assert MEMORY not in endpoint.turns[0].text
        assert endpoint.turns[first].text.count(MEMORY) == 1 and RECALL in endpoint.turns[first].text
        (summary,) = endpoint.summaries
        asked = text(summary.body["messages"][-1])
        assert RULE in asked and "word for word" in asked, asked[-2_000:]
        for request in (compacted, resumed):
            for words in (RULE, MEMORY, RECALL):
                assert words in request.text, f"{words} is not in {request.text[-3000:]}"
            assert request.text.count("USER PROFILE") == 1, "the memories are told twice"
        last = endpoint.turns[-1].text
        assert "a cat" in last and RULE not in last, "a new session has the newest memory, and no rule of another one"

        name = f"qwen-code:{session}"
        row = kept(home, name, 37)
        assert row["generation"] == 1 and row["model"] == "scripted", row
        found = home.ask("usage", "--savings", "--session", name)["total"]
        assert found["calls"] > 70 and found["summaries"]["count"] == 1, found
        assert home.ask("session", "show", f"qwen-code:{other}")["messages"] == 4
        assert no_others(home, "qwen-code")
        assert home.complaints() == []


def qwen_code_imports_what_was_said_before(folder: Path) -> None:
    with Home(folder) as home, Endpoint() as endpoint:
        resume = lambda session: qwen(home, endpoint, "--resume", session)  # noqa: E731
        imported_and_gone_on(home, endpoint, "qwen-code", lambda: qwen(home, endpoint), resume, shell)


def qwen_code_without_a_daemon(folder: Path) -> None:
    def play(home: Home, endpoint: Endpoint, is_hooked: bool) -> None:
        options = ()
        if is_hooked:
            with qwen(home, endpoint) as client:
                client.end()
            home.install("qwen-code")
            # Its MCP server would start a daemon, because it doesn't get the environment of the test.
            options = ("--allowed-mcp-server-names", "none")
        with Qwen(home.client, home.work, endpoint.url, *options, HERMAD="/no/such/program") as client:
            for number in range(1, 6):
                client.say(work(number, shell))

    equal_without_a_daemon(folder, play, r"call_\d+_\d+|Group PGID: \d+|(?<=-)[\w-]*-(plain|hooked)-")


def qwen_code_and_a_daemon_that_dies(folder: Path) -> None:
    """Killed and frozen daemons hold no turn up, and nothing that was said is lost."""
    with Home(folder) as home, Endpoint() as endpoint:
        with qwen(home, endpoint) as client:
            client.end()
        home.install("qwen-code")
        with qwen(home, endpoint, patience="900") as client:
            # Five hooks of a turn, a second each.
            through_kills(home, client, shell, limit=9)
            session = client.session
        # It has no event at the end of a session without a terminal. The next session reads the rest.
        with qwen(home, endpoint) as client:
            client.say(script("yes"))
        row = home.ask("session", "show", f"qwen-code:{session}")
        assert row["messages"] == 4 * TURNS, row


def two_of_qwen_code_on_one_home(folder: Path) -> None:
    with Home(folder) as home, Endpoint() as endpoint:
        with qwen(home, endpoint) as client:
            client.end()
        home.install("qwen-code")
        two_at_once(home, endpoint, "qwen-code", lambda: qwen(home, endpoint), shell, "mcp__herma__memory")


def qwen_code_uninstalled_as_if_never_there(folder: Path) -> None:
    with Home(folder) as home, Endpoint() as endpoint:
        settings = home.client / ".qwen" / "settings.json"
        installed_and_uninstalled(home, "qwen-code", lambda: qwen(home, endpoint), settings.read_text)


SCENES = [
    qwen_code_uninstalled_as_if_never_there,
    qwen_code_works,
    qwen_code_imports_what_was_said_before,
    qwen_code_without_a_daemon,
    qwen_code_and_a_daemon_that_dies,
    two_of_qwen_code_on_one_home,
]
