"""Scenes with OpenClaw. Each asserts on the requests that the model got, and on what herma kept. ``check`` fetches OpenClaw only
where a scene of it is named."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from common import RECALL, TURNS, daemon, equal_without_a_daemon, first_with, installed_and_uninstalled, kept, remember, table, through_kills, work
from endpoint import Endpoint, script
from home import Home, until
from openclaw import OpenClaw, configure
from sessions import HANDOFF, MEMORY, RULE


def shell(command: str) -> dict[str, Any]:
    """A call of OpenClaw's shell."""
    return {"name": "exec", "input": {"command": command}}


def installed(folder: Path, endpoint: Endpoint) -> Home:
    """A home of OpenClaw with herma."""
    home = Home(folder)
    home.ask("memory", "add", "user", MEMORY)
    configure(home.client, home.work, endpoint.url)
    home.install("openclaw")
    return home


def openclaw(home: Home, endpoint: Endpoint, session: str = "s1") -> OpenClaw:
    """OpenClaw with herma. Hooks may take so many milliseconds: a slow machine is no reason to go without them here."""
    return OpenClaw(home.client, home.work, endpoint.url, session, HERMA_HOOK_TIMEOUT_MS="4000", **daemon())


def openclaw_works(folder: Path) -> None:
    """Thirty turns in two processes, compactions by itself and by hand, a large output, the memory tool, a resumed session."""
    with Endpoint() as endpoint, installed(folder, endpoint) as home:
        with openclaw(home, endpoint) as client:
            client.say(script("yes", words=RULE))
            added = {"name": "tool_call", "input": {"id": "herma__memory", "args": remember("the user owns a cat")}}
            client.say(work(1, shell, added))
            client.say(script("large", shell("seq 1 40000 | sed 's/^/line /'"), words="Print it."))
            large = endpoint.turns[-1].text
            for number in range(2, 12):
                client.say(work(number, table(shell)))
            before = len(endpoint.turns)
            client.say(script("full", tokens=62_000, words="Is it full?"))
            until(lambda: home.ask("session", "show", "openclaw:s1")["generation"] == 1, "OpenClaw compacts by itself")
            for number in range(12, 20):
                client.say(work(number, table(shell)))
            assert client.compact()["reason"] == "herma"
            client.say(work(20, shell))
        with openclaw(home, endpoint) as client:
            for number in range(21, 28):
                client.say(work(number, shell))
            client.say(work(40, shell), session="s2")

        first = endpoint.turns[0].text
        assert first.count(MEMORY) == 1 and RECALL in first
        assert "persisted-output" in large and len(large) < 60_000, len(large)
        assert endpoint.summaries == [], "no model writes a summary"
        itself = next(request for request in endpoint.turns[before + 1 :] if "db-12 " in request.text)
        for request in (itself, first_with(endpoint, "host db-20,"), first_with(endpoint, "host db-21,")):
            for words in (RULE, MEMORY, RECALL, HANDOFF):
                assert words in request.text, f"{words} is not in {request.text[-3_000:]}"
            assert request.text.count("USER PROFILE") == 1, "the memories are there twice"
        assert len(itself.text) < len(endpoint.turns[before].text) * 0.7
        systems = {json.dumps(request.body["messages"][0])[:20_000] for request in endpoint.turns if "db-13 " in request.text}
        assert len(systems) == 1, "the beginning of the system prompt changes from turn to turn"
        last = endpoint.turns[-1].text
        assert "a cat" in last and RULE not in last, "a new session has the newest memory, and no rule of another one"

        row = kept(home, "openclaw:s1", 27)
        assert (row["generation"], row["model"], row["context_length"]) == (2, "scripted", 64_000), row
        found = home.ask("output", "search", "line 25000", "--session", "openclaw:s1")
        assert "line 25000" in json.dumps(found), found
        total = home.ask("usage", "--savings", "--session", "openclaw:s1")["total"]
        assert total["calls"] > 55 and total["compactions"]["count"] == 2 and total["outputs"]["count"] == 1, total
        assert home.ask("session", "show", "openclaw:s2")["messages"] == 4
        others = [row["session"] for row in home.ask("session", "list", "--raw")["sessions"]]
        # The MCP server doesn't learn which session calls a tool.
        assert {name.partition("-")[0] for name in others} == {"openclaw:s1", "openclaw:s2", "mcp"}, others
        assert home.complaints() == []


def openclaw_two_sessions_at_once(folder: Path) -> None:
    with Endpoint() as endpoint, installed(folder, endpoint) as home:
        with openclaw(home, endpoint) as client:
            turns = threading.Thread(target=lambda: [client.say(work(number, shell), session="other") for number in range(4)])
            turns.start()
            for number in range(4, 8):
                client.say(work(number, shell))
            turns.join()
        for session in ("s1", "other"):
            assert home.ask("session", "show", f"openclaw:{session}")["messages"] == 4 * 4
        assert home.complaints() == []


def openclaw_without_a_daemon(folder: Path) -> None:
    def play(home: Home, endpoint: Endpoint, is_hooked: bool) -> None:
        configure(home.client, home.work, endpoint.url)
        if is_hooked:
            home.install("openclaw")
            # The server would start a daemon, because it doesn't get the environment of the test, and has tools.
            path = home.client / ".openclaw" / "openclaw.json"
            settings = json.loads(path.read_text())
            del settings["mcp"]
            path.write_text(json.dumps(settings))
        with OpenClaw(home.client, home.work, endpoint.url, HERMAD="/no/such/program") as client:
            for number in range(1, 6):
                client.say(work(number, shell))
        for request in endpoint.requests:
            # What the memory plugin says stands elsewhere with any engine, but no line is lost or added.
            system = request.body["messages"][0]
            system["content"] = sorted(filter(None, system["content"].splitlines()))

    equal_without_a_daemon(folder, play, r"call_?\d+_?\d*|\[\w{3} [\d-]+ [\d:]+ \w+\] |\d+-\d+-\d+T[\d:.]+Z?|127\.0\.0\.1:\d+")


def openclaw_and_a_daemon_that_dies(folder: Path) -> None:
    """Killed and frozen daemons hold no turn up, and nothing that was said is lost."""
    with Endpoint() as endpoint, installed(folder, endpoint) as home:
        with openclaw(home, endpoint) as client:
            through_kills(home, client, shell, 15.0)

            def is_sent() -> bool:
                # OpenClaw sends a turn that was not kept again before the next one.
                client.say(script("yes", words="Go on."))
                said = home.ask("session", "read", "openclaw:s1")["messages"]
                return f"host db-{TURNS} answers" in json.dumps(said)

            until(is_sent, "the last turn is kept", 60.0)
        kept(home, "openclaw:s1", TURNS)


def openclaw_installed_and_uninstalled(folder: Path) -> None:
    """The commands of its page are true, and the configuration is byte for byte what it was."""
    with Home(folder) as home, Endpoint() as endpoint:
        configure(home.client, home.work, endpoint.url)
        files = lambda: {  # noqa: E731
            path.relative_to(home.client): path.read_bytes()
            for path in [home.client / ".openclaw" / "openclaw.json", *(home.client / ".openclaw" / "extensions").rglob("*")]
            if path.is_file()
        }
        installed_and_uninstalled(home, "openclaw", lambda: openclaw(home, endpoint), files)


SCENES = [
    openclaw_works,
    openclaw_two_sessions_at_once,
    openclaw_without_a_daemon,
    openclaw_and_a_daemon_that_dies,
    openclaw_installed_and_uninstalled,
]
