"""What scenes with different clients have in common."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Callable

from endpoint import Endpoint, Request, script
from home import Home
from sessions import HANDOFF

Call = Callable[[str], dict[str, Any]]
"""Returns the call of a client's shell with a command."""

Begin = Callable[[], AbstractContextManager[Any]]
"""Begins a process of a client."""

RECALL = "recall_search"
REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = REPOSITORY / "docs"
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ"


def remember(words: str) -> dict[str, Any]:
    """What a model writes into the memory."""
    return {"action": "add", "target": "user", "content": words}


def daemon() -> dict[str, str]:
    """Which daemon hooks start."""
    return {"HERMAD": os.environ["HERMAD"]}


def windows(endpoint: Endpoint) -> list[Request]:
    """The first request of each window: that whose list is not longer than the one before."""
    sizes = [len(request.text) for request in endpoint.turns]
    return [request for at, request in enumerate(endpoint.turns) if at and sizes[at] < sizes[at - 1]]


def no_others(home: Home, client: str) -> bool:
    """Whether herma has no sessions but those of the client itself."""
    rows = home.ask("session", "list", "--raw")["sessions"]
    assert all(row["session"].startswith(f"{client}:") for row in rows), [row["session"] for row in rows]
    return True


def ledger(home: Home, session: str, calls: int, compactions: int = 0, summaries: int = 0, **parts: int) -> None:
    """The ledger has every call of the model, and each change: each window has context, and each compaction has a request
    for a summary, which was spared if the compaction is herma's."""
    found = home.ask("usage", "--savings", "--session", session)["total"]
    windows = compactions + summaries
    expected = {"definitions": 1, "context": windows + 1, "compactions": compactions, "summaries": windows, **parts}
    counts = {name: found[name]["count"] for name in expected}
    assert (found["calls"], counts) == (calls, expected), (calls, expected, found)


def work(number: int, call: Call, *more: dict[str, Any], tokens: int = 1_000) -> str:
    """A turn of ordinary work."""
    words = f"Step {number}: look at the host db-{number}, port {8_000 + number}."
    calls = [call(f"echo host db-{number} answers; seq 1 {200 + number}"), *more]
    return script(f"db-{number} is well", *calls, tokens=tokens, words=words)


# The turns of `through_kills`.
TURNS = 13


def through_kills(home: Home, client: Any, call: Call, limit: float) -> None:
    """Some turns while the daemon is killed again and again, and one while it is frozen, within so many seconds."""
    client.say(work(1, call))
    stop = threading.Event()
    killer = threading.Thread(target=kill_again_and_again, args=(home, stop))
    killer.start()
    for number in range(2, TURNS - 1):
        client.say(work(number, call))
    stop.set()
    killer.join()
    pid = running(home)
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    client.say(work(TURNS - 1, call))
    frozen = time.monotonic() - began
    os.kill(pid, signal.SIGCONT)
    assert frozen < limit, f"a turn took {frozen:.1f} s"
    client.say(work(TURNS, call))


def running(home: Home) -> int:
    assert home.run("ping").returncode == 0
    pid = home.daemon()
    assert pid is not None, "no daemon runs"
    return pid


def kill_again_and_again(home: Home, stop: threading.Event) -> None:
    while not stop.wait(0.15):
        pid = home.daemon()
        if pid is not None:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def first_with(endpoint: Endpoint, words: str) -> Request:
    """The first request of a turn with these words."""
    return next(request for request in endpoint.turns if words in request.text)


def table(call: Call) -> Call:
    """The same shell, whose commands print a table of 10,000 chars, too."""
    return lambda command: call(f"{command}; seq -f 'row %06.0f of the table is well' 1 300")


def kept(home: Home, session: str, last: int) -> dict[str, Any]:
    """Asserts that herma has the turns of :func:`work` up to a number, as the client's own files have them, and finds them.
    Returns what it knows of the session."""
    said = _said(home, session)
    for number in range(1, last + 1):
        begin = next(at for at, one in enumerate(said) if (one["content"] or "").startswith(f"Step {number}: look"))
        turn = [one["role"] for one in said[begin:]]
        end = begin + turn.index("user", 1) if "user" in turn[1:] else len(said)
        assert turn[: end - begin] in (["user", *["assistant", "tool"] * rounds, "assistant"] for rounds in (1, 2)), turn[:8]
        assert f"host db-{number} answers" in said[begin + 2]["content"] and said[end - 1]["content"] == f"db-{number} is well"
    agent = session.split(":")[0]
    other = home.beside("imported")
    assert other.run("import", agent).returncode == 0
    try:
        imported = _said(other, session)
    finally:
        other.run("daemon", "stop", "--no-spawn")
    at = next((at for at, (one, two) in enumerate(zip(said, imported)) if one != two), None)
    assert said == imported, (len(said), len(imported), at, said[at or 0], imported[at or 0])
    hits = home.ask("recall", "db-3 port 8003", "--session", session, "--around", "0")["hits"]
    assert any("8003" in hit["snippet"] for hit in hits), hits
    row = home.ask("session", "show", session)
    assert row["cwd"] == str(home.work), row
    return row


def _said(home: Home, session: str) -> list[dict[str, Any]]:
    """The messages of a session, without what a compaction writes: its handoff, and shorter copies of outputs."""
    said, answered = [], set()
    for message in (one["message"] for one in home.ask("session", "read", session)["messages"]):
        call = message.get("tool_call_id")
        if HANDOFF not in (message.get("content") or "")[:100] and call not in answered:
            said.append({"content": None, **message})
        answered |= {call} if call else set()
    return said


def equal_without_a_daemon(folder: Path, play: Callable[[Home, Endpoint, bool], None], ids: str, field: str = "messages") -> None:
    """What the model gets is what it would get if herma had never been installed. ``play`` gets whether to install it;
    ``ids`` is a pattern of what differs from run to run."""
    seen = []
    for name in ("plain", "hooked"):
        with Home(folder / name) as home, Endpoint() as endpoint:
            home.work.rmdir()
            home.work = folder / "work"
            home.work.mkdir(exist_ok=True)
            play(home, endpoint, name == "hooked")
            seen.append([_without_what_differs(request.body[field], ids) for request in endpoint.requests])
            assert name == "plain" or home.complaints(), "no complaint was reported"
    assert seen[0]
    for plain, hooked in zip(*seen, strict=True):
        at = next((at for at, (one, other) in enumerate(zip(plain, hooked)) if one != other), None)
        assert plain == hooked, (at, plain[at - 200 : at + 300], hooked[at - 200 : at + 300])


def _without_what_differs(messages: Any, ids: str) -> str:
    """The text without paths of this home, the numbers of scripts, and ids."""
    text = re.sub(r"[\w/.-]*/(plain|hooked)/", "/", json.dumps(messages))
    return re.sub(rf'\\+"number\\+": \d+|[0-9a-f]{{8}}-[0-9a-f-]{{27}}|{ids}', "", text)


def two_at_once(home: Home, endpoint: Endpoint, agent: str, begin: Begin, call: Call, memory: str) -> None:
    """Two processes at once: each has its session, and what one remembers the next one knows. ``memory`` is the tool."""
    with begin() as one, begin() as other:
        turns = threading.Thread(target=lambda: [other.say(work(number, call)) for number in range(4)])
        turns.start()
        for number in range(4, 8):
            one.say(work(number, call))
        one.say(script("ok", {"name": memory, "input": remember("the user owns a dog")}))
        turns.join()
        sessions = {one.session: 4 * 5, other.session: 4 * 4}
    with begin() as last:
        last.say(work(9, call))
    assert "owns a dog" in endpoint.turns[-1].text
    for session, messages in sessions.items():
        assert home.ask("session", "show", f"{agent}:{session}")["messages"] == messages
    assert (complaints := home.complaints()) == [], complaints


def imported_and_gone_on(home: Home, endpoint: Endpoint, agent: str, begin: Begin, resume: Callable[[str], Any], call: Call) -> None:
    """A session from before the hooks is found after an import, goes on with them, and no message is there twice."""
    with begin() as client:
        client.say(script("the gulls nest in Ostrava"))
        client.say(work(1, call))
        before = client.session
    for _ in range(2):
        ran = home.run("import", agent, "--json")
        assert ran.returncode == 0, ran.stderr
    assert home.ask("session", "show", f"{agent}:{before}")["messages"] == 6
    found = home.ask("recall", "where do the gulls nest")["hits"]
    assert found[0]["session"] == f"{agent}:{before}", found
    home.install(agent)
    with resume(before) as client:
        client.say(work(2, call))
    assert home.ask("session", "show", f"{agent}:{before}")["messages"] == 10
    assert (complaints := home.complaints()) == [], complaints


def installed_and_uninstalled(home: Home, agent: str, begin: Begin, files: Callable[[], Any]) -> None:
    """The commands of the agent's page are true, and the files of its settings are byte for byte what they were."""
    with begin():
        pass
    before = files()
    page = (PAGES / f"{agent}.md").read_text()
    for line in re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[0].splitlines():
        ran = home.shell(line)
        assert ran.returncode == 0, f"{line}: {ran.stdout}"
    assert files() != before
    with begin() as client:
        client.say(script("yes"))
        session = client.session
    assert home.ask("session", "show", f"{agent}:{session}")["messages"] == 2
    (uninstall,) = set(re.findall(rf"`(herma hooks\s+uninstall {agent})`", page))
    assert home.shell(uninstall).returncode == 0
    assert files() == before
    assert home.shell(f"herma hooks status {agent}").returncode == 1
