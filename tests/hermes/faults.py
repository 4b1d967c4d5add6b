"""The daemon goes away right before a call of the engine: the turn is answered all the same."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import files
from home import Home
from player import Player
from run import Run
from steps import Step, call

TURNS = 24
QUICK = 6

HELD = 10.0
"""Seconds that a turn may take without a daemon."""

TURN = "the turn"
"""A fault that comes before a turn, not before a call."""

BEFORE = {
    0: "get_tool_schemas",
    1: TURN,
    3: "update_from_response",
    5: "should_compress",
    7: "handle_tool_call",
    9: "compress",
    18: TURN,
    20: "should_compress",
}
"""The call that is next to have a fault, from that turn on until the host makes it."""


@dataclass(frozen=True)
class Fault:
    """What is done to the daemon, and how it is made good after the turn."""

    begin: Callable[[Home], object]
    end: Callable[[Home], object]


FAULTS = {
    "killed": Fault(Home.kill_daemon, lambda home: None),
    "stopped": Fault(Home.stop_daemon, Home.resume_daemon),
    "away": Fault(Home.take_daemon_away, Home.bring_daemon_back),
}


def play(run: Run, *, quick: bool) -> None:
    """An agent for each kind of fault, one after the other on one home."""
    turns = QUICK if quick else TURNS
    files.write(run.home.work, turns)
    run.expect(run.home.hermad.exists(), "there is no daemon to take away")
    for kind, fault in FAULTS.items():
        with Player(run.home, kind) as player:
            _conversation(run, player, fault, turns)
    run.judge_lists()
    run.judge_prefixes()


def _conversation(run: Run, player: Player, fault: Fault, turns: int) -> None:
    """A conversation with one kind of fault; afterwards herma is at work again."""
    due: list[str] = []
    for number in range(turns):
        if number in BEFORE:
            due.append(BEFORE[number])
        if due and _turn(run, player, number, fault, due[0]):
            due.pop(0)
        elif not due:
            run.turn(player, number, *files.steps(number))
    for name in due:
        run.fail(f"{player.name}: the host never called {name}")
    run.turn(player, turns, call("recall_search", query=files.MARKER))
    found = "\n".join(run.endpoint.record.results.get(f"{player.name}-{turns}", []))
    run.expect('"hits"' in found, f"{player.name}: after all that recall says {found[:300]!r}")


def _turn(run: Run, player: Player, number: int, fault: Fault, name: str) -> bool:
    """A turn with a fault before a call; whether the call came."""
    timers: list[threading.Timer] = []

    def begin() -> None:
        fault.begin(run.home)
        timers.append(threading.Timer(HELD, fault.end, (run.home,)))
        timers[0].start()

    steps: list[Step] = files.steps(number)
    if name == "handle_tool_call":
        steps = [call("recall_search", query=files.MARKER)]
    if name == TURN:
        begin()
        done = run.turn(player, number, *steps, fault=name)
    else:
        done = run.turn(player, number, *steps, fault=name, before=(name, begin))
    for timer in timers:
        timer.cancel()
        timer.join()
    fault.end(run.home)
    held = done.get("seconds", 0.0)
    run.expect(
        held < HELD,
        f"turn {player.name}-{number}, without a daemon before {name}, took {held:.0f} s",
    )
    return bool(timers)
