"""Scenes with Qwen Code. Each asserts on the requests that the model got, and on what herma kept."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

from common import PAGES, RECALL, TURNS, daemon, no_others, remember, through_kills, windows, work
from endpoint import Endpoint, Request, script, text
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
        resumed = next(request for request in endpoint.turns if "db-21" in request.text)
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
        row = home.ask("session", "show", name)
        assert row["generation"] == 1 and row["model"] == "scripted" and row["cwd"] == str(home.work), row
        kept = home.run("session", "read", name).stdout
        for number in range(1, 38):
            assert kept.count(f"Step {number}: look") >= 1 and f"  db-{number} is well\n" in kept, number
        hits = home.ask("recall", "db-3 port 8003", "--session", name, "--around", "0")["hits"]
        assert any("8003" in hit["snippet"] for hit in hits)
        found = home.ask("usage", "--savings", "--session", name)["total"]
        assert found["calls"] > 70 and found["summaries"]["count"] == 1, found
        assert home.ask("session", "show", f"qwen-code:{other}")["messages"] == 4
        assert no_others(home, "qwen-code")
        assert home.complaints() == []


def qwen_code_imports_what_was_said_before(folder: Path) -> None:
    """Sessions from before the hooks are found after an import, and no message is there twice."""
    with Home(folder) as home, Endpoint() as endpoint:
        with qwen(home, endpoint) as client:
            client.say(script("the gulls nest in Ostrava"))
            client.say(work(1, shell))
            before = client.session
        environment = {"HOME": str(home.client)}
        for _ in range(2):
            ran = home.run("import", "qwen-code", "--json", **environment)
            assert ran.returncode == 0, ran.stderr
        assert home.ask("session", "show", f"qwen-code:{before}")["messages"] == 6
        found = home.ask("recall", "where do the gulls nest")["hits"]
        assert found[0]["session"] == f"qwen-code:{before}", found
        home.install("qwen-code")
        with qwen(home, endpoint, "--resume", before) as client:
            client.say(work(2, shell))
        assert home.ask("session", "show", f"qwen-code:{before}")["messages"] == 10
        assert home.complaints() == []


def qwen_code_without_a_daemon(folder: Path) -> None:
    """What the model gets is what it would get if herma had never been installed."""
    seen = []
    for name in ("plain", "hooked"):
        with Home(folder / name) as home, Endpoint() as endpoint:
            home.work.rmdir()
            home.work = folder / "work"
            home.work.mkdir(exist_ok=True)
            options = ()
            if name == "hooked":
                with qwen(home, endpoint) as client:
                    client.end()
                home.install("qwen-code")
                # Its MCP server would start a daemon, because it doesn't get the environment of the test.
                options = ("--allowed-mcp-server-names", "none")
            with Qwen(home.client, home.work, endpoint.url, *options, HERMAD="/no/such/program") as client:
                for number in range(1, 6):
                    client.say(work(number, shell))
            seen.append([_ordinary(request) for request in endpoint.requests])
            assert name == "plain" or home.complaints(), "no complaint was reported"
    for plain, hooked in zip(*seen, strict=True):
        at = next((at for at, (one, other) in enumerate(zip(plain, hooked)) if one != other), None)
        assert plain == hooked, (at, plain[at - 200 : at + 300], hooked[at - 200 : at + 300])


def _ordinary(request: Request) -> str:
    """The messages without what differs from run to run: the numbers of scripts, paths of this home, and ids."""
    messages = json.dumps(request.body["messages"])
    messages = re.sub(r'\\+"number\\+": \d+', "", re.sub(r"[\w/.-]*/(plain|hooked)/", "/", messages))
    messages = re.sub(r"-[\w-]*-(plain|hooked)-", "-", messages)
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|call_\d+_\d+|Group PGID: \d+", "", messages)


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
    """Two processes at once: each has its session, and what one remembers the next one knows."""
    with Home(folder) as home, Endpoint() as endpoint:
        with qwen(home, endpoint) as client:
            client.end()
        home.install("qwen-code")
        with qwen(home, endpoint) as one, qwen(home, endpoint) as other:
            turns = threading.Thread(target=lambda: [other.say(work(number, shell)) for number in range(4)])
            turns.start()
            for number in range(4, 8):
                one.say(work(number, shell))
            one.say(script("ok", {"name": "mcp__herma__memory", "input": remember("the user owns a dog")}))
            turns.join()
        with qwen(home, endpoint) as last:
            last.say(work(9, shell))
        assert "owns a dog" in endpoint.turns[-1].text
        assert home.ask("session", "show", f"qwen-code:{one.session}")["messages"] == 4 * 5
        assert home.ask("session", "show", f"qwen-code:{other.session}")["messages"] == 4 * 4
        assert home.complaints() == []


def qwen_code_uninstalled_as_if_never_there(folder: Path) -> None:
    """The settings are byte for byte what they were, and the commands of the page are true."""
    with Home(folder) as home, Endpoint() as endpoint:
        settings = home.client / ".qwen" / "settings.json"
        with qwen(home, endpoint) as client:
            client.end()
        before = settings.read_text()
        page = (PAGES / "qwen-code.md").read_text()
        for line in re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[0].splitlines():
            ran = home.shell(line)
            assert ran.returncode == 0, f"{line}: {ran.stdout}"
        assert settings.read_text() != before
        with qwen(home, endpoint) as client:
            client.say(script("yes"))
        assert home.ask("session", "show", f"qwen-code:{client.session}")["messages"] == 2
        (uninstall,) = set(re.findall(r"`(herma hooks\s+uninstall qwen-code)`", page))
        assert home.shell(uninstall).returncode == 0
        assert settings.read_text() == before
        assert home.shell("herma hooks status qwen-code").returncode == 1


SCENES = [
    qwen_code_uninstalled_as_if_never_there,
    qwen_code_works,
    qwen_code_imports_what_was_said_before,
    qwen_code_without_a_daemon,
    qwen_code_and_a_daemon_that_dies,
    two_of_qwen_code_on_one_home,
]
