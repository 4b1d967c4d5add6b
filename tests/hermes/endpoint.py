"""A model of OpenAI's API on loopback: it answers by a script and judges what it is sent."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from typing import Any

import judge
from chat import Server, tokens
from judge import Message
from steps import Overflow, Say, Step

TAG = re.compile(r"\[turn ([\w-]+)\]")
"""How a message of the user names the turn, and so its steps."""

SUMMARY = (
    "TURNS TO SUMMARIZE",
    "NEW TURNS TO INCORPORATE",
    "CONTEXT CHECKPOINT",
    "PREVIOUS SUMMARY",
)
"""Words of a request for a compression's summary."""

HANDOFF = "[CONTEXT COMPACTION"
"""How a handoff begins."""

SUMMARY_TEXT = """## Goal
Read the files one after the other and keep what they say.
## Progress
### Done
The files up to here were read.
## Key Decisions
None.
## Next Steps
Go on with the next file.
## Critical Context
Summary number {number}."""


@dataclass
class Request:
    """What is kept of a request of an agent's main loop."""

    turn: str
    messages: int
    tokens: int
    system: str
    faults: list[str]
    rewritten: int | None
    """The first message that is not that of the request before; ``None`` if it only grew."""


@dataclass
class Record:
    """What the endpoint saw."""

    requests: list[Request] = field(default_factory=list)
    summaries: int = 0
    asides: int = 0
    overflows: list[str] = field(default_factory=list)
    """The turns in which a prompt was refused as too long."""
    lost: list[str] = field(default_factory=list)
    """Requests whose newest words of the user name no turn."""
    tools: set[str] = field(default_factory=set)
    results: dict[str, list[str]] = field(default_factory=dict)
    """The texts of tools that came back, by turn."""
    handoffs: set[str] = field(default_factory=set)
    """The handoffs that lists had."""


class Endpoint:
    """The server; ``plan`` says what a turn is answered with."""

    def __init__(self) -> None:
        self.record = Record()
        self.overflow_above: int | None = None
        """Tokens; the first prompt that has more is refused, once."""
        self._plans: dict[str, list[Step]] = {}
        self._marks: dict[str, list[str]] = {}
        self._lock = threading.Lock()
        self._server = Server(self.decide)

    @property
    def url(self) -> str:
        """The base URL for a host's configuration."""
        return self._server.url

    def close(self) -> None:
        """Stops listening."""
        self._server.close()

    def plan(self, turn: str, *steps: Step) -> None:
        """The answers to one turn, in order; what comes after them is ``answer(turn)``."""
        with self._lock:
            self._plans[turn] = list(steps)

    def left(self, turn: str) -> int:
        """The steps of a turn that nobody asked for."""
        with self._lock:
            return len(self._plans.get(turn, ()))

    def decide(self, body: dict[str, Any]) -> Step:
        """Judges a request, puts it on record, and gives the answer."""
        messages: list[Message] = body.get("messages") or []
        with self._lock:
            if not body.get("tools"):
                return self._aside(messages)
            self.record.tools |= {tool["function"]["name"] for tool in body["tools"]}
            turn = _turn(messages)
            if turn is None:
                self.record.lost.append(judge.text(messages[-1])[:200] if messages else "")
                return Say("there is no turn in this list")
            size = tokens(body)
            self._keep(turn, messages, size)
            if self.overflow_above is not None and size > self.overflow_above:
                self.overflow_above = None
                return self._refuse(turn)
            steps = self._plans.get(turn)
            step = steps.pop(0) if steps else Say(answer(turn))
        while callable(step):
            step = step(messages)
        return self._refuse(turn) if isinstance(step, Overflow) else step

    def _refuse(self, turn: str) -> Step:
        self.record.overflows.append(turn)
        return Overflow()

    def _aside(self, messages: list[Message]) -> Step:
        whole = "\n".join(judge.text(message) for message in messages)
        if any(marker in whole for marker in SUMMARY):
            self.record.summaries += 1
            return Say(SUMMARY_TEXT.format(number=self.record.summaries))
        self.record.asides += 1
        return Say("Reading files")

    def _keep(self, turn: str, messages: list[Message], size: int) -> None:
        agent = turn.rpartition("-")[0]
        marks = [judge.fingerprint(message) for message in messages]
        rewritten = judge.first_difference(self._marks.get(agent, []), marks)
        self._marks[agent] = marks
        faults = judge.faults(messages)
        request = Request(turn, len(messages), size, marks[0] if marks else "", faults, rewritten)
        self.record.requests.append(request)
        texts = (judge.text(one) for one in messages if one.get("role") != "tool")
        self.record.handoffs |= {text for text in texts if text.startswith(HANDOFF)}
        # A host adds messages of its own behind a compaction.
        begins = [at for at, one in enumerate(messages) if one["role"] == "user" and _turn([one]) == turn]
        last = begins[-1] if begins else 0
        results = [judge.text(one) for one in messages[last:] if one.get("role") == "tool"]
        self.record.results[turn] = results


def answer(turn: str) -> str:
    """The last words of a turn that went well."""
    return f"Turn {turn} is answered."


def _turn(messages: list[Message]) -> str | None:
    """The newest turn that the user named."""
    for message in reversed(messages):
        if message.get("role") == "user":
            named = TAG.findall(judge.said(message))
            if named:
                return str(named[-1])
    return None
