"""Sessions that are played in a client with requests as large as they really are, to see what compactions do and cost."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterator

from claude import Claude
from codex import Codex
from endpoint import Endpoint, Request, script
from home import Home, Proxy
from judge import CHARS_PER_TOKEN, Use, parts

Shell = Callable[[str], dict[str, Any]]

PATIENCE_S = 400
"""How long a turn may take; one of 220 calls takes half a minute on an idle machine."""

RULE = "Always answer in English, and never push to main."
HANDOFF = "[CONTEXT COMPACTION"
MEMORY = "the user likes tea"


def output(number: int, lines: int) -> str:
    """A command that prints so many lines of 60 chars, none of which another command prints."""
    return f"seq -f 'host db-{number} port {8_000 + number} row %06.0f of the table is well' 1 {lines}"


def forty_turns(shell: Shell) -> Iterator[str]:
    """Turns of no call, one, and six; the first answer has no call."""
    yield script("understood", words=RULE)
    for number in range(1, 41):
        calls = [shell(output(10 * number + at, 130)) for at in range((1, 6, 0, 2)[number % 4])]
        yield script(f"db-{number} is well", *calls, words=f"Step {number}: look at the host db-{number}.")


def one_turn(shell: Shell) -> Iterator[str]:
    """One task of 220 calls, some of them in rounds of four."""
    yield script("understood", words=RULE)
    calls = [[shell(output(10 * number + at, 60)) for at in range(4 if number % 10 == 9 else 1)] for number in range(169)]
    yield script("all is well", *calls, words="Look at all the hosts, one after the other.")
    yield script("none", words="Was there one that is not well?")


def long_session(shell: Shell) -> Iterator[str]:
    """Turns of three calls with large outputs, for eight compactions and more in the smaller windows."""
    yield script("understood", shell("echo ready"), words=RULE)
    for number in range(1, 61):
        calls = [shell(output(10 * number + at, 400)) for at in range(3)]
        yield script(f"db-{number} is well", *calls, words=f"Step {number}: look at the host db-{number}.")


KINDS: dict[str, Callable[[Shell], Iterator[str]]] = {
    "40 turns": forty_turns,
    "220 calls in one turn": one_turn,
    "60 turns of large outputs": long_session,
}


@dataclass
class Played:
    """What was seen of a session."""

    compactions: int
    turns: list[Request]
    summaries: int
    lost: int
    """Turns that the client gave up."""
    uses: list[Use]
    windows: list[Request] = field(default_factory=list)
    """The first request of each window but the first."""
    shares: list[float] = field(default_factory=list)
    """What each window begins with, as a share of what the one before ended with; system prompt and tools aside."""

    @staticmethod
    def size(request: Request) -> int:
        """Tokens of what a request says, system prompt and tools included."""
        return sum(map(len, parts(request.body))) // CHARS_PER_TOKEN

    @property
    def cost(self) -> float:
        """In tokens of plain input."""
        return sum(use.cost for use in self.uses)


def played(compactions: int, lost: int, endpoint: Endpoint) -> Played:
    """Puts together what an endpoint saw."""
    seen = Played(compactions, endpoint.turns, len(endpoint.summaries), lost, endpoint.uses)
    sizes = [sum(map(len, parts(request.body)[2:])) for request in endpoint.turns]
    for at in range(1, len(sizes)):
        if sizes[at] < sizes[at - 1]:
            seen.windows.append(endpoint.turns[at])
            seen.shares.append(sizes[at] / sizes[at - 1])
    return seen


def in_claude_code(
    folder: Path, kind: str, window: int, options: tuple[str, ...] | None, environment: dict[str, str], target: int = 0
) -> Played:
    """Plays a session in Claude Code: with herma installed so and compacting to that target, or without it."""
    with Home(folder) as home, Endpoint(is_metered=True) as endpoint:
        if options is not None:
            home.configure(f"[context]\ntarget = {target}\n" if target else "")
            home.ask("memory", "add", "user", MEMORY)
            home.install("claude-code", *options)
        more = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": str(window), "HERMA_HOOK_TIMEOUT_MS": "8000", **environment}
        shell: Shell = lambda command: {"name": "Bash", "input": {"command": command, "description": "look"}}  # noqa: E731
        lost = 0
        with Claude("claude", home.client, home.work, endpoint.url, "--allowedTools", "Bash", "mcp__herma", **more) as client:
            for words in KINDS[kind](shell):
                lost += bool(client.say(words, PATIENCE_S).get("is_error"))
            compactions = len(client.compactions())
        assert options is None or home.complaints() == [], home.complaints()
        return played(compactions, lost, endpoint)


def in_codex(folder: Path, kind: str, window: int, way: str, environment: dict[str, str]) -> Played:
    """Plays a session in Codex: behind herma's ``proxy``, with its ``hooks``, or with ``nothing``."""
    with Home(folder) as home, Endpoint(is_metered=True) as endpoint:
        behind = Proxy(home, f"{endpoint.url}/v1") if way == "proxy" else contextlib.nullcontext()
        with behind as proxy:
            options = ["-c", f"model_auto_compact_token_limit={window}"]
            options += ["-c", f'model_providers.scripted.base_url="{proxy.url}"'] if proxy else []
            client = Codex("codex", home.codex, home.work, endpoint.url, *options, HERMA_HOOK_TIMEOUT_MS="8000", **environment)
            if way != "nothing":
                home.ask("memory", "add", "user", MEMORY)
                home.install("codex", "--trust")
            shell: Shell = lambda command: {"name": "exec_command", "input": {"cmd": command}}  # noqa: E731
            for words in KINDS[kind](shell):
                client.say(words)
            compactions = sum(path.read_text().count('"type":"compacted"') for path in home.codex.glob("sessions/*/*/*/*.jsonl"))
        return played(compactions, 0, endpoint)
