"""Turns that are played, what came of each, and what was wrong with it."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from endpoint import Endpoint, answer
from home import Home
from player import Player
from steps import Step

ENGINE = "ContextEngine"
"""The host's base class of what a turn waits for."""


PROVIDER = "MemoryProvider"

MAY_RAISE = {"on_pre_compress"}
"""An answer means that everything is durable, so without a daemon there can be none; hosts
expect that."""


@dataclass
class Row:
    """One turn."""

    turn: str
    answered: bool
    seconds: float
    engine_ms: float
    provider_ms: float
    compressed: bool
    rewritten: bool
    """The prompt may be another one: because of the compression, or of a command before."""
    fault: str = ""
    """What was done to the daemon."""
    calls: list[dict[str, Any]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    """Warnings and states that the host showed its user."""
    report: Any = None
    """What the engine has to say of its last compression, in a turn that asked for one."""


class Run:
    """What one scenario does with one host."""

    def __init__(self, endpoint: Endpoint, home: Home, *, engine: str) -> None:
        self.endpoint, self.home, self.engine = endpoint, home, engine
        self.rows: list[Row] = []
        self.failures: list[str] = []
        self._counts: dict[str, int] = {}
        self._excused: set[str] = set()
        """Players whose next turn has another prompt because a command made it so."""

    def fail(self, words: str) -> None:
        """Puts something on the list of what is wrong."""
        if words not in self.failures:
            self.failures.append(words)

    def expect(self, true: object, words: str) -> None:
        """Puts it there unless it is true."""
        if not true:
            self.fail(words)

    def turn(
        self,
        player: Player,
        number: int | str,
        *steps: Step,
        fault: str = "",
        before: tuple[str, Callable[[], object]] | None = None,
    ) -> dict[str, Any]:
        """Plays a turn, and judges its answer."""
        turn = f"{player.name}-{number}"
        self.endpoint.plan(turn, *steps)
        done = player.turn(f"[turn {turn}] Go on with the next file.", before)
        response = str(done.get("response"))
        answered = response.strip() == answer(turn)
        if not answered:
            self.fail(f"turn {turn} is lost: {done.get('error') or response[:300]!r}")
        elif self.endpoint.left(turn):
            self.fail(f"turn {turn} left {self.endpoint.left(turn)} answers of the model unasked")
        self._take(player, turn, done, answered, fault)
        return done

    def command(self, player: Player, name: str, **more: Any) -> dict[str, Any]:
        """Gives a command, which must not fail."""
        done = player.command(name, **more)
        if "error" in done:
            self.fail(f"{player.name}: {name}: {done['error']}")
        self._watch(f"{player.name}: {name}", done)
        if self._count(player, done) or name in ("new", "resume"):
            self._excused.add(player.name)
        return done

    def _take(
        self, player: Player, turn: str, done: dict[str, Any], answered: bool, fault: str
    ) -> None:
        calls = self._watch(f"turn {turn}", done)
        engine, provider = (
            sum(call["ms"] for call in calls if call["of"] == base) for base in (ENGINE, PROVIDER)
        )
        compressed = self._count(player, done)
        asked = any(call["call"] == "compress" for call in calls)
        rewritten = compressed or asked or player.name in self._excused
        self._excused.discard(player.name)
        seconds = done.get("seconds", 0.0)
        self.rows.append(
            Row(
                turn,
                answered,
                seconds,
                engine,
                provider,
                compressed,
                rewritten,
                fault,
                calls,
                done.get("said", []),
                done.get("report") if asked else None,
            )
        )
        if "engine" in done:
            self.expect(
                done["engine"] == self.engine,
                f"{player.name} runs with the engine {done['engine']} of {done['module']}",
            )

        if "--provider" in (self.home.options or []):
            self.expect(
                "herma" in done.get("providers", ["herma"]),
                f"{player.name} runs with the memory providers {done.get('providers')}",
            )

    def _watch(self, where: str, done: dict[str, Any]) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = done.get("calls", [])
        for call in calls:
            if call["raised"] and call["call"] not in MAY_RAISE:
                self.fail(f"{where}: {call['call']} of the {call['of']} raised {call['raised']}")
        return calls

    def _count(self, player: Player, done: dict[str, Any]) -> bool:
        count = done.get("compressions", 0)
        before = self._counts.get(player.name, 0)
        self._counts[player.name] = count
        return bool(count > before)

    @property
    def compressions(self) -> int:
        """The turns in which a list got shorter."""
        return sum(row.compressed for row in self.rows)

    def judge_lists(self) -> None:
        """What the endpoint found, and prompts that changed where nothing was compressed."""
        record = self.endpoint.record
        for request in record.requests:
            for fault in request.faults:
                self.fail(f"turn {request.turn}: {fault}")
        for words in record.lost:
            self.fail(f"a request without a turn, whose last words are {words!r}")
        for words in self.home.tracebacks():
            self.fail(f"an exception in the host's log: {words}")

    def judge_prefixes(self) -> None:
        """Between two compressions every list begins with the one before."""
        excused = {row.turn for row in self.rows if row.rewritten} | set(
            self.endpoint.record.overflows
        )
        for request in self.endpoint.record.requests:
            rewritten = request.rewritten is not None and request.turn not in excused
            self.expect(
                not rewritten,
                f"turn {request.turn}: the prompt changed at message {request.rewritten} "
                f"although nothing was compressed",
            )

    def figures(self) -> dict[str, Any]:
        """The numbers of the report."""
        engine = sorted(row.engine_ms for row in self.rows if not row.fault)
        provider = [row.provider_ms for row in self.rows if not row.fault]
        record = self.endpoint.record
        slowest = max(self.rows, key=lambda row: row.seconds, default=None)
        return {
            "turns": len(self.rows),
            "lost": sum(not row.answered for row in self.rows),
            "median_ms": statistics.median(engine or [0]),
            "p99_ms": engine[min(len(engine) - 1, int(len(engine) * 0.99))] if engine else 0,
            "provider_ms": statistics.median(provider or [0]),
            "slowest_s": slowest.seconds if slowest else 0,
            "compressions": self.compressions,
            "summaries": record.summaries,
            "requests": len(record.requests),
            "violations": sum(len(request.faults) for request in record.requests),
            "failures": self.failures,
            "rows": [asdict(row) for row in self.rows],
        }
