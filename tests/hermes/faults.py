"""The daemon goes away in every way there is, right before a turn: the turn is answered all the same."""

from __future__ import annotations

import threading
from collections.abc import Callable

import files
from home import Home
from player import Player
from run import Run
from steps import call

TURNS = 24
BEFORE = (0, 1, 5, 12, 13, 14, 20)
"""The turns that begin with a fault: the first, usual ones, and those where lists get too long."""

HELD = 15.0
"""Seconds that a turn may take without a daemon."""


def _away(home: Home) -> bool:
    home.take_daemon_away()
    return True


def _stopped(home: Home) -> bool:
    # Before the first turn there is no daemon yet.
    home.stop_daemon()
    return True


def _killed(home: Home) -> bool:
    home.kill_daemon()
    return True


FAULTS: dict[str, tuple[Callable[[Home], object], Callable[[Home], object]]] = {
    "killed": (_killed, lambda home: None),
    "stopped": (_stopped, lambda home: home.resume_daemon()),
    "away": (_away, lambda home: home.bring_daemon_back()),
}
"""What is done before a turn, and after it."""


def play(run: Run, *, quick: bool) -> None:
    """An agent for each kind of fault, one after the other on one home."""
    files.write(run.home.work, TURNS)
    run.expect(run.home.hermad.exists(), "there is no daemon to take away")
    for kind, (begin, end) in FAULTS.items():
        with Player(run.home, kind) as player:
            for number in range(TURNS):
                if number not in BEFORE or (quick and number not in BEFORE[-2:]):
                    run.turn(player, number, *files.steps(number))
                    continue
                begin(run.home)
                timer = threading.Timer(HELD, lambda: end(run.home))
                timer.start()
                done = run.turn(player, number, *files.steps(number), fault=kind)
                timer.cancel()
                timer.join()
                end(run.home)
                held = done.get("seconds", 0.0)
                run.expect(held < HELD, f"turn {player.name}-{number} took {held:.0f} s")
            run.turn(player, TURNS, call("recall_search", query=files.MARKER))
        found = "\n".join(run.endpoint.record.results.get(f"{kind}-{TURNS}", []))
        run.expect('"hits"' in found, f"after all that recall says {found[:300]!r}")
    run.judge_lists()
