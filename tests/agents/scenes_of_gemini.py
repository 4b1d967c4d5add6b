"""Scenes with Gemini CLI. Each asserts on the requests that the model got, and on what herma kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from common import RECALL, TURNS, daemon, equal_without_a_daemon, installed_and_uninstalled, kept, no_others, remember, through_kills, two_at_once, work
from endpoint import Endpoint, script
from gemini import Gemini
from home import Home, until
from sessions import MEMORY, RULE


def shell(command: str) -> dict[str, Any]:
    """A call of Gemini CLI's shell."""
    return {"name": "run_shell_command", "input": {"command": command, "description": "look"}}


def gemini(home: Home, endpoint: Endpoint, patience: str = "4000") -> Gemini:
    """Gemini CLI with herma. Hooks may take so many milliseconds: a slow machine is no reason to go without them here."""
    return Gemini(home.client, home.work, endpoint.url, HERMA_HOOK_TIMEOUT_MS=patience, **daemon())


def _configured(home: Home, endpoint: Endpoint) -> Path:
    """Starts the client once, which writes its settings. Returns their path."""
    with gemini(home, endpoint):
        pass
    return home.client / ".gemini" / "settings.json"


def gemini_cli_works(folder: Path) -> None:
    """Thirty-two turns in two processes, a large output, the memory tool, and a session before and after them."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.ask("memory", "add", "user", MEMORY)
        with gemini(home, endpoint) as client:
            client.say(script("the gulls nest in Ostrava"))
            before = client.session
        for _ in range(2):
            assert home.run("import", "gemini-cli", "--json").returncode == 0
        assert home.ask("session", "show", f"gemini-cli:{before}")["messages"] == 2
        home.install("gemini-cli")
        with gemini(home, endpoint) as client:
            first = len(endpoint.turns)
            client.say(script("yes", words=RULE))
            client.say(work(1, shell, {"name": "mcp_herma_memory", "input": remember("the user owns a cat")}))
            client.say(script("large", shell("seq 1 3000 | sed 's/^/line /'")))
            for number in range(2, 30):
                client.say(work(number, shell))
            session = client.session
        with gemini(home, endpoint) as client:
            client.say(work(30, shell))
            other = client.session
        assert MEMORY in endpoint.turns[first].text and RECALL in endpoint.turns[first].text
        assert endpoint.turns[-1].text.count("USER PROFILE") == 1
        last = endpoint.turns[-1].text
        assert "a cat" in last and RULE not in last, "a new session has the newest memory, and no rule of another one"

        name = f"gemini-cli:{session}"
        assert kept(home, name, 29)["model"] == "gemini-2.5-flash"
        assert home.ask("usage", "--savings", "--session", name)["total"]["calls"] > 55
        assert home.ask("session", "show", f"gemini-cli:{other}")["messages"] == 4
        assert no_others(home, "gemini-cli")
        assert home.complaints() == []


def gemini_cli_without_a_daemon(folder: Path) -> None:
    def play(home: Home, endpoint: Endpoint, is_hooked: bool) -> None:
        settings = _configured(home, endpoint)
        if is_hooked:
            home.install("gemini-cli")
            # Its MCP server would start a daemon, because it doesn't get the environment of the test.
            written = json.loads(settings.read_text())
            written["mcpServers"] = {}
            settings.write_text(json.dumps(written))
        with Gemini(home.client, home.work, endpoint.url, HERMAD="/no/such/program") as client:
            for number in range(1, 6):
                client.say(work(number, shell))

    equal_without_a_daemon(folder, play, r"Group PGID: \d+|run_shell_command_\d+_\d+", field="contents")


def gemini_cli_and_a_daemon_that_dies(folder: Path) -> None:
    """Killed and frozen daemons hold no turn up, and nothing that was said is lost."""
    with Home(folder) as home, Endpoint() as endpoint:
        _configured(home, endpoint)
        home.install("gemini-cli")
        with gemini(home, endpoint, patience="900") as client:
            # Three hooks of a turn, a second each.
            through_kills(home, client, shell, limit=8)
            session = client.session
        # The next session reads what the last events could not. Hooks leave a daemon that was frozen alone for some seconds.
        def is_kept() -> bool:
            with gemini(home, endpoint) as client:
                client.say(script("yes"))
            return home.ask("session", "show", f"gemini-cli:{session}")["messages"] == 4 * TURNS

        until(is_kept, "the next session reads the rest")


def two_of_gemini_cli_on_one_home(folder: Path) -> None:
    with Home(folder) as home, Endpoint() as endpoint:
        _configured(home, endpoint)
        home.install("gemini-cli")
        two_at_once(home, endpoint, "gemini-cli", lambda: gemini(home, endpoint), shell, "mcp_herma_memory")


def gemini_cli_uninstalled_as_if_never_there(folder: Path) -> None:
    with Home(folder) as home, Endpoint() as endpoint:
        settings = home.client / ".gemini" / "settings.json"
        installed_and_uninstalled(home, "gemini-cli", lambda: gemini(home, endpoint), settings.read_text)


SCENES = [
    gemini_cli_uninstalled_as_if_never_there,
    gemini_cli_works,
    gemini_cli_without_a_daemon,
    gemini_cli_and_a_daemon_that_dies,
    two_of_gemini_cli_on_one_home,
]
