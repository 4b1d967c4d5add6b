"""Scenes with agents behind `herma proxy`, without herma's hooks. Each asserts on the requests that the model got, and on
what herma kept."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Callable

from claude import Claude
from common import TURNS, Call, first_with, table, through_kills, work
from endpoint import Endpoint, script
from home import Home, Proxy
from opencode import OpenCode
from pi import Pi
from qwen import Qwen
from sessions import HANDOFF, RULE

PART = "earlier context from an ongoing conversation"
"""What pi says to the model that writes the summary of the beginning of the last turn, which the proxy leaves to it."""

Begin = Callable[[Home, str], Any]
"""Begins a process of a client at the address of a model."""


def _claude(home: Home, url: str) -> Claude:
    return Claude("claude", home.client, home.work, url, "--allowedTools", "Bash")


def _qwen(home: Home, url: str) -> Qwen:
    return Qwen(home.client, home.work, url)


def _pi(home: Home, url: str) -> Pi:
    return Pi(home.client, home.work, url)


def _opencode(home: Home, url: str) -> OpenCode:
    return OpenCode(home.client, home.work, url, "")


def _call(name: str, **more: Any) -> Call:
    return lambda command: {"name": name, "input": {"command": command, **more}}


AGENTS: dict[str, tuple[str, Begin, Call, Callable[[Any], Any]]] = {
    "claude-code": ("anthropic", _claude, _call("Bash", description="look"), lambda client: client.say("/compact")),
    "qwen-code": ("openai", _qwen, _call("run_shell_command", description="look", is_background=False), lambda client: client.say("/compress")),
    "pi": ("openai", _pi, _call("bash"), lambda client: client.command("compact")),
    "opencode": ("openai", _opencode, _call("bash", description="look"), lambda client: client.compact()),
}
"""Agents by name: the API, how one begins, a call of its shell, and how it compacts."""


def agents_behind_the_proxy(folder: Path) -> None:
    """Two compactions of each agent ask no model, and all that was said is kept."""
    for agent, (api, begin, call, compact) in AGENTS.items():
        # Some agents take a summary only if it is smaller than the usage says that the list is.
        with Home(folder / agent) as home, Endpoint(is_metered=True) as endpoint, Proxy(home, endpoint.url, api) as proxy:
            with begin(home, proxy.url) as client:
                client.say(script("yes", words=RULE))
                for number in range(1, 12):
                    client.say(work(number, table(call)))
                compact(client)
                for number in range(12, 22):
                    client.say(work(number, table(call)))
                compact(client)
                client.say(work(22, call))
            asked = [one.text[-300:] for one in endpoint.summaries if PART not in one.text]
            asked += [aside.text[:300] for aside in endpoint.asides if "summar" in aside.text[:2_000] and PART not in aside.text and not aside.is_title]
            assert asked == [], f"{agent}: {asked} {proxy.log.read_text()}"
            for words in ("db-12", "db-22"):
                begun = first_with(endpoint, f"look at the host {words},").text
                assert HANDOFF in begun and RULE in begun, f"{agent}: {begun[-3_000:]}"
            (row,) = _sessions(home)
            assert row["generation"] == 2, row
            _all_said(home, row["session"], 22)
            assert home.complaints() == []


def requests_behind_the_proxy_are_the_agents_own(folder: Path) -> None:
    """Bytes pass unchanged, and a proxy without a daemon is no reason to do less."""
    for agent, (api, begin, call, compact) in AGENTS.items():
        seen = []
        for name in ("alone", "shadow"):
            with Home(folder / agent / name) as home, Endpoint() as endpoint, Proxy(home, endpoint.url, api, "--shadow") as proxy:
                home.work.rmdir()
                home.work = folder / agent / "work"
                home.work.mkdir(exist_ok=True)
                with begin(home, proxy.url if name == "shadow" else endpoint.url) as client:
                    for number in range(1, 6):
                        client.say(work(number, call))
                    compact(client)
                    client.say(work(6, call))
                seen.append([_plain(request.body) for request in endpoint.requests])
                assert home.daemon() is None, "a proxy in shadow keeps nothing"
                if name == "shadow":
                    assert re.search(rf"a compaction of {agent} took the model [\d.]+ s, [\d,]+ input", proxy.log.read_text()), agent
        assert len(seen[0]) == len(seen[1]) > 12
        for alone, shadow in zip(*seen, strict=True):
            at = next((at for at, (one, other) in enumerate(zip(alone, shadow)) if one != other), None)
            assert alone == shadow, (agent, at, alone[(at or 0) - 200 : (at or 0) + 300], shadow[(at or 0) - 200 : (at or 0) + 300])


def what_passes_is_kept_also_later(folder: Path) -> None:
    """While the daemon is killed or frozen no turn waits for it, and what passed then is kept with a later request. The next
    proxy goes on with the session, two agents at once have one each, and a title is no session."""
    _, begin, call, _ = AGENTS["opencode"]
    with Home(folder) as home, Endpoint() as endpoint:
        with Proxy(home, endpoint.url, "openai") as proxy, begin(home, proxy.url) as client:
            through_kills(home, client, call, 3.0)
            session = client.session
        with Proxy(home, endpoint.url, "openai") as proxy:
            with OpenCode(home.client, home.work, proxy.url, session) as client:
                client.say(work(TURNS + 1, call))
            (row,) = _sessions(home)
            _all_said(home, row["session"], TURNS + 1)
            with begin(home, proxy.url) as one, begin(home, proxy.url) as other:
                for number in range(1, 4):
                    one.say(work(number, call))
                    other.say(work(number + 3, call))
        rows = [row for row in _sessions(home) if row["messages"] == 3 * 4]
        texts = {json.dumps(home.ask("session", "read", row["session"])) for row in rows}
        assert len(_sessions(home)) == 3 and len(rows) == 2, _sessions(home)
        assert all(("db-1 is well" in text) != ("db-4 is well" in text) for text in texts)


def _sessions(home: Home) -> list[dict[str, Any]]:
    rows = home.ask("session", "list", "--raw")["sessions"]
    return [home.ask("session", "show", row["session"]) for row in rows]


def _all_said(home: Home, session: str, last: int) -> None:
    """Every turn of :func:`work` is there once, with its output and its answer."""
    said = [one["message"] for one in home.ask("session", "read", session)["messages"]]
    texts = [(one["role"], one["content"] or "") for one in said if HANDOFF not in (one["content"] or "")[:100]]
    for number in range(1, last + 1):
        words = f"Step {number}: look at the host db-{number}, port {8_000 + number}."
        prompts = [text for role, text in texts if role == "user" and words in text.splitlines()]
        assert len(prompts) == 1, f"step {number} is there {len(prompts)} times"
        for role, words in (("tool", f"host db-{number} answers"), ("assistant", f"db-{number} is well")):
            assert any(one == role and words in text for one, text in texts), f"{words} of the {role} is missing"


def _plain(body: dict[str, Any]) -> str:
    """A request without paths of this home, the numbers of scripts, and ids."""
    text = re.sub(r"[\w/.-]*/(alone|shadow)/", "/", json.dumps(body))
    return re.sub(r'\\+"number\\+": \d+|[0-9a-f]{8}-[0-9a-f-]{27}|ses_\w+|[0-9a-f]{64}|cch=\w+|PGID: \d+', "", text)


SCENES = [agents_behind_the_proxy, requests_behind_the_proxy_are_the_agents_own, what_passes_is_kept_also_later]
