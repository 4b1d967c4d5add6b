"""Scenes with OpenCode. Each asserts on the requests that the model got, and on what herma kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from common import RECALL, TURNS, daemon, equal_without_a_daemon, first_with, imported_and_gone_on, installed_and_uninstalled, kept, no_others, remember, table, through_kills, two_at_once, windows, work
from endpoint import Endpoint, script
from home import Home, until
from opencode import OpenCode
from sessions import HANDOFF, MEMORY, RULE


def shell(command: str) -> dict[str, Any]:
    """A call of OpenCode's shell."""
    return {"name": "bash", "input": {"command": command, "description": "look"}}


def opencode(home: Home, endpoint: Endpoint, session: str = "", patience: str = "4000") -> OpenCode:
    """OpenCode with herma. Hooks may take so many milliseconds: a slow machine is no reason to go without them here."""
    return OpenCode(home.client, home.work, endpoint.url, session, HERMA_HOOK_TIMEOUT_MS=patience, **daemon())


def opencode_works(folder: Path) -> None:
    """Forty turns in three processes, compactions by itself and by hand, a large output, the memory tool, a resumed session."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.ask("memory", "add", "user", MEMORY)
        home.install("opencode")
        with opencode(home, endpoint) as client:
            client.say(script("yes", words=RULE))
            client.say(work(1, shell, {"name": "herma_memory", "input": remember("the user owns a cat")}))
            # On a busy machine OpenCode 1.18.33 itself loses the end of what a command prints.
            for _ in range(6):
                client.say(script("large", shell("seq 1 40000 | sed 's/^/line /'")))
                large = endpoint.turns[-1].text
                if "40000 lines in all" in large:
                    break
            for number in range(2, 20):
                client.say(work(number, table(shell), tokens=97_000 if number == 10 else 1_000))
            client.compact()
            client.say(work(20, shell))
            session = client.session
        with opencode(home, endpoint, session) as client:
            for number in range(21, 38):
                client.say(work(number, shell))
        with opencode(home, endpoint) as client:
            client.say(work(38, shell))
            other = client.session

        first = endpoint.turns[0].text
        assert first.count(MEMORY) == 1 and RECALL in first
        assert "40000 lines in all" in large and "output_read" in large, large[-3_000:]
        asked = [aside for aside in endpoint.asides if not aside.is_title]
        assert endpoint.summaries == [] and len(asked) == 2, [aside.text[-500:] for aside in asked]
        assert all(len(aside.text) < 1_000 for aside in asked), "no model reads the conversation for a summary"
        for request in (first_with(endpoint, "db-11"), first_with(endpoint, "db-20"), first_with(endpoint, "db-21")):
            for words in (RULE, MEMORY, RECALL, HANDOFF):
                assert words in request.text, f"{words} is not in {request.text[-3_000:]}"
            assert request.text.count("USER PROFILE") == 1, "the memories are there twice"
        assert len(windows(endpoint)) >= 2
        last = endpoint.turns[-1].text
        assert "a cat" in last and RULE not in last, "a new session has the newest memory, and no rule of another one"

        name = f"opencode:{session}"
        row = kept(home, name, 37)
        assert (row["generation"], row["model"], row["context_length"]) == (2, "scripted", 100_000) and row["title"], row
        found = home.ask("output", "search", "line 20000", "--session", name)
        assert "line 20000" in json.dumps(found), found
        total = home.ask("usage", "--savings", "--session", name)["total"]
        assert total["calls"] > 70 and total["compactions"]["count"] == 2 and total["outputs"]["count"] >= 1, total
        assert home.ask("session", "show", f"opencode:{other}")["messages"] == 4
        assert no_others(home, "opencode")
        assert home.complaints() == []


def opencode_forks_and_starts_others(folder: Path) -> None:
    """A copy of a session has its words and its context. What a subagent says is a child of the session that started it."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.ask("memory", "add", "user", MEMORY)
        home.install("opencode")
        with opencode(home, endpoint) as client:
            client.say(work(1, shell))
            before = client.session
            task = {"description": "look", "prompt": work(7, shell), "subagent_type": "general"}
            client.say(script("done", {"name": "task", "input": task}, words="Ask another one."))
            copy = client.session = client.ask(f"/session/{before}/fork", {})["id"]
            client.say(work(2, shell))
        rows = {row["session"]: row for row in home.ask("session", "list", "--raw")["sessions"]}
        (child,) = set(rows) - {f"opencode:{before}", f"opencode:{copy}"}
        assert rows[child]["parent"] == f"opencode:{before}" and rows[child]["messages"] == 4, rows[child]
        assert rows[f"opencode:{before}"]["messages"] == 8, rows
        assert rows[f"opencode:{copy}"]["messages"] == 12, rows
        of_child = next(request for request in endpoint.turns if "db-7" in request.text and "Ask another" not in request.text)
        assert first_with(endpoint, "db-2").text.count(MEMORY) == 1 and MEMORY not in of_child.text
        assert home.complaints() == []


def opencode_with_its_own_summaries(folder: Path) -> None:
    """Where the user wants OpenCode's own summaries, the request and the next prompt have the rules."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.install("opencode", "--no-plugin")
        with opencode(home, endpoint) as client:
            client.say(script("yes", words=RULE))
            for number in range(1, 4):
                client.say(work(number, shell))
            client.compact()
            client.say(work(4, shell))
        (summary,) = endpoint.summaries
        assert RULE in summary.text and "word for word" in summary.text, summary.text[-2_000:]
        assert RULE in endpoint.turns[-1].text and HANDOFF not in endpoint.turns[-1].text
        assert home.complaints() == []


def opencode_imports_what_was_said_before(folder: Path) -> None:
    with Home(folder) as home, Endpoint() as endpoint:
        resume = lambda session: opencode(home, endpoint, session)  # noqa: E731
        imported_and_gone_on(home, endpoint, "opencode", lambda: opencode(home, endpoint), resume, shell)


def opencode_without_a_daemon(folder: Path) -> None:
    def play(home: Home, endpoint: Endpoint, is_hooked: bool) -> None:
        if is_hooked:
            home.install("opencode")
            # The plugin's server would start a daemon, because it doesn't get the environment of the test.
            plugin = home.client / ".config" / "opencode" / "plugin" / "herma.js"
            plugin.write_text(plugin.read_text().replace("enabled: true", "enabled: false"))
        with OpenCode(home.client, home.work, endpoint.url, HERMAD="/no/such/program") as client:
            for number in range(1, 6):
                client.say(work(number, shell))
            client.compact()
            client.say(script("large", shell("seq -f 'row %06.0f of the table is well and stays so' 1 1000")))

    equal_without_a_daemon(folder, play, r"call_\d+_\d+|tool_[0-9a-f]{12}\w+")


def opencode_and_a_daemon_that_dies(folder: Path) -> None:
    """Killed and frozen daemons hold no turn up, and nothing that was said is lost."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.install("opencode")
        with opencode(home, endpoint, patience="900") as client:
            # Two hooks of a turn, a second each, and those that keep what is said.
            through_kills(home, client, shell, limit=8)
            name = f"opencode:{client.session}"
            until(lambda: home.ask("session", "show", name)["messages"] == 4 * TURNS, "all messages are kept")


def two_of_opencode_on_one_home(folder: Path) -> None:
    with Home(folder) as home, Endpoint() as endpoint:
        home.install("opencode")
        two_at_once(home, endpoint, "opencode", lambda: opencode(home, endpoint), shell, "herma_memory")


def opencode_uninstalled_as_if_never_there(folder: Path) -> None:
    with Home(folder) as home, Endpoint() as endpoint:
        own = home.client / ".config" / "opencode"
        # OpenCode itself installs a package next to plugins.
        of_npm = {"node_modules", "package.json", "package-lock.json", "bun.lock", ".gitignore"}
        paths = lambda: [path for path in own.rglob("*") if path.is_file() and not of_npm & set(path.parts)]  # noqa: E731
        files = lambda: {path: path.read_bytes() for path in paths()}  # noqa: E731
        installed_and_uninstalled(home, "opencode", lambda: opencode(home, endpoint), files)


SCENES = [
    opencode_uninstalled_as_if_never_there,
    opencode_works,
    opencode_forks_and_starts_others,
    opencode_with_its_own_summaries,
    opencode_imports_what_was_said_before,
    opencode_without_a_daemon,
    opencode_and_a_daemon_that_dies,
    two_of_opencode_on_one_home,
]
