"""Scenes with Oh My Pi. Each asserts on the requests that the model got, and on what herma kept. ``check`` fetches Oh My Pi only
where a scene of it is named."""

from __future__ import annotations

import json
from pathlib import Path

from common import RECALL, daemon, equal_without_a_daemon, first_with, imported_and_gone_on, installed_and_uninstalled, kept, remember, table, two_at_once, windows, work
from endpoint import Endpoint, script
from home import Home
from omp import Omp
from scenes_of_pi import dying_daemons, own_summaries, shell
from sessions import HANDOFF, MEMORY, RULE

MEMORY_TOOL = "mcp__herma_memory"
ONCE = "What was said in this session, and in others before it"
"""What herma says once in a window. The client's own words for tools name them more often."""


def omp(home: Home, endpoint: Endpoint, *arguments: str, patience: str = "4000") -> Omp:
    """Oh My Pi with herma. Hooks may take so many milliseconds: a slow machine is no reason to go without them here."""
    return Omp(home.client, home.work, endpoint.url, *arguments, HERMA_HOOK_TIMEOUT_MS=patience, **daemon())


def omp_works(folder: Path) -> None:
    """Thirty turns in three processes, compactions by itself and by hand, a large output, the memory tool, a resumed session."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.ask("memory", "add", "user", MEMORY)
        home.install("omp")
        with omp(home, endpoint) as client:
            client.say(script("yes", words=RULE))
            client.say(work(1, shell, {"name": MEMORY_TOOL, "input": remember("the user owns a cat")}))
            client.say(script("large", shell("seq 1 40000 | sed 's/^/line /'")))
            large = endpoint.turns[-1]
            for number in range(2, 16):
                client.say(work(number, table(shell), tokens=95_000 if number == 6 else 1_000))
            done = client.command("compact")
            assert RULE in done["summary"] and HANDOFF in done["summary"], done
            client.command("set_session_name", name="the hosts of the sea")
            client.say(work(16, shell))
            session = client.session
        with omp(home, endpoint, "--continue") as client:
            for number in range(17, 30):
                client.say(work(number, shell))
            assert client.session == session
        with omp(home, endpoint) as client:
            client.say(work(30, shell))
            other = client.session

        first = endpoint.turns[0].text
        assert first.count(MEMORY) == 1 and RECALL in first
        assert "40000 lines in all" in large.text or "40002 lines in all" in large.text, large.text[-3_000:]
        assert endpoint.summaries == [], "no model writes a summary"
        itself, by_hand = windows(endpoint)[:2]
        for request in (itself, by_hand, first_with(endpoint, "db-17")):
            for words in (RULE, MEMORY, RECALL, HANDOFF):
                assert words in request.text, f"{words} is not in {request.text[-3_000:]}"
            assert request.text.count("USER PROFILE") == 1, "the memories are there twice"
        last = endpoint.turns[-1].text
        assert "a cat" in last and RULE not in last, "a new session has the newest memory, and no rule of another one"

        name = f"omp:{session}"
        row = kept(home, name, 29)
        assert (row["generation"], row["model"], row["context_length"]) == (2, "scripted", 100_000), row
        assert row["title"] == "the hosts of the sea", row
        found = home.ask("output", "search", "line 20000", "--session", name)
        assert "line 20000" in json.dumps(found), found
        total = home.ask("usage", "--savings", "--session", name)["total"]
        assert total["calls"] > 55 and total["compactions"]["count"] == 2 and total["outputs"]["count"] == 1, total
        assert home.ask("session", "show", f"omp:{other}")["messages"] == 4
        assert home.complaints() == []


def omp_forks(folder: Path) -> None:
    """A session that goes on from a turn of another one is its child, and has its words. One that is begun in its place has other words."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.install("omp")
        with omp(home, endpoint) as client:
            client.say(work(1, shell))
            client.say(work(2, shell))
            before = client.session
            last = client.command("get_branch_messages")["messages"][-1]
            client.command("branch", entryId=last["entryId"])
            client.say(work(3, shell))
            copy = client.session
            client.command("new_session")
            client.say(work(4, shell))
            fresh = client.session
        assert len({before, copy, fresh}) == 3
        rows = {name: home.ask("session", "show", f"omp:{name}") for name in (before, copy, fresh)}
        assert rows[copy]["parent"] == f"omp:{before}" and rows[fresh]["parent"] is None, rows
        assert [rows[name]["messages"] for name in (before, copy, fresh)] == [8, 8, 4], rows
        assert rows[before]["end_reason"] == "fork" and rows[copy]["end_reason"] == "new", rows
        copied, begun = first_with(endpoint, "db-3"), first_with(endpoint, "db-4")
        assert copied.text.count(ONCE) == 1 and begun.text.count(ONCE) == 1
        assert home.complaints() == []


def omp_with_its_own_summaries(folder: Path) -> None:
    own_summaries(folder, "omp", omp)


def omp_imports_what_was_said_before(folder: Path) -> None:
    with Home(folder) as home, Endpoint() as endpoint:
        resume = lambda _: omp(home, endpoint, "--continue")  # noqa: E731
        imported_and_gone_on(home, endpoint, "omp", lambda: omp(home, endpoint), resume, shell)


def omp_without_a_daemon(folder: Path) -> None:
    def play(home: Home, endpoint: Endpoint, is_hooked: bool) -> None:
        if is_hooked:
            home.install("omp")
            # The server would start a daemon, because it doesn't get the environment of the test, and has tools.
            (home.client / ".omp" / "agent" / "mcp.json").unlink()
        with Omp(home.client, home.work, endpoint.url, HERMAD="/no/such/program") as client:
            for number in range(1, 6):
                client.say(work(number, shell))
            client.say(script("large", shell("seq 1 40000")))

    equal_without_a_daemon(folder, play, r"call_\d+_\d+|Wall time: [\d.]+ seconds|/tmp/[\w/.-]+")


def omp_and_a_daemon_that_dies(folder: Path) -> None:
    dying_daemons(folder, "omp", omp)


def two_of_omp_on_one_home(folder: Path) -> None:
    with Home(folder) as home, Endpoint() as endpoint:
        home.install("omp")
        # Two that start in the same moment get in each other's way, also without herma.
        two_at_once(home, endpoint, "omp", lambda: _started(omp(home, endpoint)), shell, MEMORY_TOOL)


def _started(client: Omp) -> Omp:
    assert client.session
    return client


def omp_uninstalled_as_if_never_there(folder: Path) -> None:
    with Home(folder) as home, Endpoint() as endpoint:
        own = home.client / ".omp" / "agent"
        files = lambda: {path: path.read_bytes() for path in [*own.glob("*.json"), *own.glob("*.yml"), *own.glob("extensions/*")]}  # noqa: E731
        installed_and_uninstalled(home, "omp", lambda: omp(home, endpoint), files)


SCENES = [
    omp_uninstalled_as_if_never_there,
    omp_works,
    omp_forks,
    omp_with_its_own_summaries,
    omp_imports_what_was_said_before,
    omp_without_a_daemon,
    omp_and_a_daemon_that_dies,
    two_of_omp_on_one_home,
]
