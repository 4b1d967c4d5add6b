"""Scenes with Gemini CLI. Each asserts on the requests that the model got, and on what herma kept."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

from common import PAGES, RECALL, TURNS, daemon, no_others, remember, through_kills, work
from endpoint import Endpoint, Request, script
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
        row = home.ask("session", "show", name)
        assert row["model"] == "gemini-2.5-flash" and row["cwd"] == str(home.work), row
        kept = home.run("session", "read", name).stdout
        for number in range(1, 30):
            assert kept.count(f"Step {number}: look") >= 1 and f"  db-{number} is well\n" in kept, number
        hits = home.ask("recall", "db-3 port 8003", "--session", name, "--around", "0")["hits"]
        assert any("8003" in hit["snippet"] for hit in hits)
        assert home.ask("usage", "--savings", "--session", name)["total"]["calls"] > 55
        assert home.ask("session", "show", f"gemini-cli:{other}")["messages"] == 4
        assert no_others(home, "gemini-cli")
        assert home.complaints() == []


def gemini_cli_without_a_daemon(folder: Path) -> None:
    """What the model gets is what it would get if herma had never been installed."""
    seen = []
    for name in ("plain", "hooked"):
        with Home(folder / name) as home, Endpoint() as endpoint:
            home.work.rmdir()
            home.work = folder / "work"
            home.work.mkdir(exist_ok=True)
            settings = _configured(home, endpoint)
            if name == "hooked":
                home.install("gemini-cli")
                # Its MCP server would start a daemon, because it doesn't get the environment of the test.
                written = json.loads(settings.read_text())
                written["mcpServers"] = {}
                settings.write_text(json.dumps(written))
            with Gemini(home.client, home.work, endpoint.url, HERMAD="/no/such/program") as client:
                for number in range(1, 6):
                    client.say(work(number, shell))
            seen.append([_ordinary(request) for request in endpoint.requests])
            assert name == "plain" or home.complaints(), "no complaint was reported"
    for plain, hooked in zip(*seen, strict=True):
        at = next((at for at, (one, other) in enumerate(zip(plain, hooked)) if one != other), None)
        assert plain == hooked, (at, plain[at - 200 : at + 300], hooked[at - 200 : at + 300])


def _ordinary(request: Request) -> str:
    """The messages without what differs from run to run: the numbers of scripts, ids, and paths of this home."""
    messages = json.dumps(request.body["contents"])
    messages = re.sub(r'\\+"number\\+": \d+', "", re.sub(r"[\w/.-]*/(plain|hooked)/", "/", messages))
    return re.sub(r"Group PGID: \d+|run_shell_command_\d+_\d+", "", messages)


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
    """Two processes at once: each has its session, and what one remembers the next one knows."""
    with Home(folder) as home, Endpoint() as endpoint:
        _configured(home, endpoint)
        home.install("gemini-cli")
        with gemini(home, endpoint) as one, gemini(home, endpoint) as other:
            turns = threading.Thread(target=lambda: [other.say(work(number, shell)) for number in range(4)])
            turns.start()
            for number in range(4, 8):
                one.say(work(number, shell))
            one.say(script("ok", {"name": "mcp_herma_memory", "input": remember("the user owns a dog")}))
            turns.join()
        with gemini(home, endpoint) as last:
            last.say(work(9, shell))
        assert "owns a dog" in endpoint.turns[-1].text
        for client, messages in ((one, 4 * 5), (other, 4 * 4)):
            assert home.ask("session", "show", f"gemini-cli:{client.session}")["messages"] == messages
        assert home.complaints() == []


def gemini_cli_uninstalled_as_if_never_there(folder: Path) -> None:
    """The settings are byte for byte what they were, and the commands of the page are true."""
    with Home(folder) as home, Endpoint() as endpoint:
        settings = _configured(home, endpoint)
        before = settings.read_text()
        page = (PAGES / "gemini-cli.md").read_text()
        for line in re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[0].splitlines():
            ran = home.shell(line)
            assert ran.returncode == 0, f"{line}: {ran.stdout}"
        assert settings.read_text() != before
        with gemini(home, endpoint) as client:
            client.say(script("yes"))
        assert home.ask("session", "show", f"gemini-cli:{client.session}")["messages"] == 2
        (uninstall,) = set(re.findall(r"`(herma hooks\s+uninstall gemini-cli)`", page))
        assert home.shell(uninstall).returncode == 0
        assert settings.read_text() == before
        assert home.shell("herma hooks status gemini-cli").returncode == 1


SCENES = [
    gemini_cli_uninstalled_as_if_never_there,
    gemini_cli_works,
    gemini_cli_without_a_daemon,
    gemini_cli_and_a_daemon_that_dies,
    two_of_gemini_cli_on_one_home,
]
