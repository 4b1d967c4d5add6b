"""Scenes with pi. Each asserts on the requests that the model got, and on what herma kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

from common import RECALL, TURNS, daemon, equal_without_a_daemon, first_with, imported_and_gone_on, installed_and_uninstalled, kept, no_others, remember, table, through_kills, two_at_once, windows, work
from endpoint import Endpoint, script
from home import Home
from pi import Pi
from sessions import HANDOFF, MEMORY, RULE


def shell(command: str) -> dict[str, Any]:
    """A call of pi's shell."""
    return {"name": "bash", "input": {"command": command}}


def pi(home: Home, endpoint: Endpoint, *arguments: str, patience: str = "4000") -> Pi:
    """pi with herma. Hooks may take so many milliseconds: a slow machine is no reason to go without them here."""
    return Pi(home.client, home.work, endpoint.url, *arguments, HERMA_HOOK_TIMEOUT_MS=patience, **daemon())


def pi_works(folder: Path) -> None:
    """Forty turns in three processes, compactions by itself and by hand, a large output, the memory tool, a resumed session."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.ask("memory", "add", "user", MEMORY)
        home.install("pi")
        with pi(home, endpoint) as client:
            client.say(script("yes", words=RULE))
            client.say(work(1, shell, {"name": "mcp__herma__memory", "input": remember("the user owns a cat")}))
            client.say(script("large", shell("seq 1 40000 | sed 's/^/line /'")))
            large = endpoint.turns[-1]
            for number in range(2, 20):
                client.say(work(number, table(shell), tokens=95_000 if number == 6 else 1_000))
            done = client.command("compact", customInstructions="the hosts")
            assert RULE in done["summary"] and HANDOFF in done["summary"], done
            client.say(work(20, shell))
            session = client.session
            ends = client.of("compaction_end")
        assert len(ends) == 2 and all(end.get("result") for end in ends), ends
        with pi(home, endpoint, "--continue") as client:
            for number in range(21, 38):
                client.say(work(number, shell))
            assert client.session == session
        with pi(home, endpoint) as client:
            client.say(work(38, shell))
            other = client.session

        first = endpoint.turns[0].text
        assert first.count(MEMORY) == 1 and RECALL in first
        assert "40000 lines in all" in large.text and "output_read" in large.text, large.text[-3_000:]
        assert endpoint.asides == [] and endpoint.summaries == [], "no model writes a summary"
        itself, by_hand = windows(endpoint)[:2]
        for request in (itself, by_hand, first_with(endpoint, "db-21")):
            for words in (RULE, MEMORY, RECALL, HANDOFF):
                assert words in request.text, f"{words} is not in {request.text[-3_000:]}"
            assert request.text.count("USER PROFILE") == 1, "the memories are there twice"
        assert len(by_hand.text) < len(endpoint.turns[endpoint.turns.index(by_hand) - 1].text) * 0.8
        last = endpoint.turns[-1].text
        assert "a cat" in last and RULE not in last, "a new session has the newest memory, and no rule of another one"

        name = f"pi:{session}"
        row = kept(home, name, 37)
        assert (row["generation"], row["model"], row["context_length"]) == (2, "scripted", 100_000), row
        found = home.ask("output", "search", "line 20000", "--session", name)
        assert "line 20000" in json.dumps(found), found
        total = home.ask("usage", "--savings", "--session", name)["total"]
        assert total["calls"] > 70 and total["compactions"]["count"] == 2 and total["outputs"]["count"] == 1, total
        assert home.ask("session", "show", f"pi:{other}")["messages"] == 4
        assert no_others(home, "pi")
        assert home.complaints() == []


def pi_forks(folder: Path) -> None:
    """A copy of a session is its child, and has its words. One that is begun in its place has other words."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.install("pi")
        with pi(home, endpoint) as client:
            client.say(work(1, shell))
            client.say(work(2, shell))
            before = client.session
            client.command("clone")
            client.say(work(3, shell))
            copy = client.session
            client.command("new_session")
            client.say(work(4, shell))
            fresh = client.session
        assert len({before, copy, fresh}) == 3
        rows = {name: home.ask("session", "show", f"pi:{name}") for name in (before, copy, fresh)}
        assert rows[copy]["parent"] == f"pi:{before}" and rows[fresh]["parent"] is None, rows
        assert [rows[name]["messages"] for name in (before, copy, fresh)] == [8, 12, 4], rows
        assert rows[before]["end_reason"] == "fork" and rows[copy]["end_reason"] == "new", rows
        copied, begun = first_with(endpoint, "db-3"), first_with(endpoint, "db-4")
        assert copied.text.count(RECALL) == 1 and begun.text.count(RECALL) == 1
        assert home.complaints() == []


def own_summaries(folder: Path, agent: str, begin: Callable[..., Pi]) -> Endpoint:
    """Where the user wants the agent's own summaries, it writes them, and the model has the rules again with the next prompt."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.install(agent, "--no-plugin")
        with begin(home, endpoint) as client:
            client.say(script("yes", words=RULE))
            for number in range(1, 4):
                client.say(work(number, shell))
            client.command("compact")
            client.say(work(4, shell))
        assert RULE in endpoint.turns[-1].text and HANDOFF not in endpoint.turns[-1].text
        assert home.complaints() == []
        return endpoint


def pi_with_its_own_summaries(folder: Path) -> None:
    assert own_summaries(folder, "pi", pi).summaries, "pi asks the model"


def pi_imports_what_was_said_before(folder: Path) -> None:
    with Home(folder) as home, Endpoint() as endpoint:
        resume = lambda _: pi(home, endpoint, "--continue")  # noqa: E731
        imported_and_gone_on(home, endpoint, "pi", lambda: pi(home, endpoint), resume, shell)


def pi_without_a_daemon(folder: Path) -> None:
    def play(home: Home, endpoint: Endpoint, is_hooked: bool) -> None:
        if is_hooked:
            home.install("pi")
        with Pi(home.client, home.work, endpoint.url, "--no-mcp", HERMAD="/no/such/program") as client:
            for number in range(1, 6):
                client.say(work(number, shell, tokens=95_000 if number == 4 else 1_000))
            client.command("compact")
            client.say(script("large", shell("seq 1 40000")))

    equal_without_a_daemon(folder, play, r"call_\d+_\d+|pi-bash-\w+")


def dying_daemons(folder: Path, agent: str, begin: Callable[..., Pi]) -> None:
    """Killed and frozen daemons hold no turn up, and nothing that was said is lost."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.install(agent)
        with begin(home, endpoint, patience="900") as client:
            # Three hooks of a turn, a second each.
            through_kills(home, client, shell, limit=6)
            session = client.session
        row = home.ask("session", "show", f"{agent}:{session}")
        assert row["messages"] == 4 * TURNS, row


def pi_and_a_daemon_that_dies(folder: Path) -> None:
    dying_daemons(folder, "pi", pi)


def two_of_pi_on_one_home(folder: Path) -> None:
    with Home(folder) as home, Endpoint() as endpoint:
        home.install("pi")
        two_at_once(home, endpoint, "pi", lambda: pi(home, endpoint), shell, "mcp__herma__memory")


def pi_uninstalled_as_if_never_there(folder: Path) -> None:
    with Home(folder) as home, Endpoint() as endpoint:
        own = home.client / ".pi" / "agent"
        paths = lambda: [path for path in own.rglob("*") if path.suffix != ".jsonl" and path.is_file()]  # noqa: E731
        files = lambda: {path: path.read_bytes() for path in paths()}  # noqa: E731
        installed_and_uninstalled(home, "pi", lambda: pi(home, endpoint), files)


SCENES = [
    pi_uninstalled_as_if_never_there,
    pi_works,
    pi_forks,
    pi_with_its_own_summaries,
    pi_imports_what_was_said_before,
    pi_without_a_daemon,
    pi_and_a_daemon_that_dies,
    two_of_pi_on_one_home,
]
