"""Sixty turns, with a fault before each single call of the engine.

A host calls on whatever happened: nothing raises, no turn is lost, the list stays one that a
model takes, and once the daemon is back compressions work again.
"""

from __future__ import annotations

import os
import signal

import pytest
from conftest import wait_for
from hermes_fakes import WINDOW

from herma.hermes import HermaContextEngine

TURNS = 60
LIMIT = 0.2
MISSING = "/nowhere/hermad"


class Script:
    """Turns of a host; ``before`` is called with this and the number of each call to come."""

    def __init__(self, before, session: str) -> None:
        self.engine = HermaContextEngine(context_length=WINDOW, timeout=LIMIT)
        self.session = session
        self.calls = 0
        self.compressed = 0
        self.messages: list[dict] = []
        self.before = before

    def call(self, method: str, *args, **named):
        self.before(self, self.calls)
        self.calls += 1
        return getattr(self.engine, method)(*args, **named)

    def tokens(self) -> int:
        return sum(len(message["content"]) for message in self.messages) // 4

    def run(self) -> None:
        self.call("on_session_start", self.session, model="m")
        for at in range(TURNS):
            self.turn(at)

    def turn(self, at: int) -> None:
        asked = {"role": "user", "content": f"ask {at} " + "lorem ipsum " * 600}
        self.messages.append(asked)
        self.messages.append({"role": "assistant", "content": f"said {at} " + "dolor sit " * 700})
        self.call("update_from_response", {"prompt_tokens": self.tokens(), "completion_tokens": 9})
        due = self.call("should_compress")
        assert isinstance(due, bool)
        if due:
            given = list(self.messages)
            shorter = self.call("compress", self.messages, current_tokens=self.tokens())
            assert self.messages == given, "the input was changed"
            if shorter is self.messages:
                assert self.engine._last_compress_aborted or self.engine.last_report["reason"]
            else:
                self.compressed += 1
            self.messages = shorter
        assert any(message is asked for message in self.messages), "the newest words are gone"
        assert all(message["role"] and message["content"] for message in self.messages)
        assert self.call("on_turn_complete", self.messages) is None

    def works_again(self) -> None:
        """Goes on until a compression succeeds."""
        before = self.engine.compression_count

        def compresses():
            self.turn(TURNS)
            shorter = self.engine.compress(self.messages, current_tokens=WINDOW, force=True)
            return shorter is not self.messages

        wait_for(compresses, "a compression")
        assert self.engine.compression_count > before


def is_found(engine) -> bool:
    return engine._link.reason is None


class Kill:
    """The daemon is killed before every call; the next call, or the background, starts one."""

    def __init__(self, home, monkeypatch) -> None:
        self.home = home

    def before(self, script, number) -> None:
        wait_for(lambda: is_found(script.engine), "the daemon")
        self.home.kill()

    def end(self) -> None:
        pass


class StandStill:
    """The daemon stands still during every third call, a step further in each run."""

    def __init__(self, home, monkeypatch, shift=0) -> None:
        self.home = home
        self.shift = shift
        self.stopped = None

    def before(self, script, number) -> None:
        if (number + self.shift) % 3:
            self.end()
            wait_for(lambda: is_found(script.engine), "the daemon")
        elif self.home.pid is not None:
            self.stopped = self.home.pid
            os.kill(self.stopped, signal.SIGSTOP)

    def end(self) -> None:
        if self.stopped is not None:
            os.kill(self.stopped, signal.SIGCONT)
            self.stopped = None


class Removed:
    """The daemon is killed and its program is gone; it comes back two calls later."""

    def __init__(self, home, monkeypatch, shift=0) -> None:
        self.home = home
        self.shift = shift
        self.monkeypatch = monkeypatch
        self.program = os.environ["HERMAD"]

    def before(self, script, number) -> None:
        step = (number + self.shift) % 4
        if step == 0:
            self.monkeypatch.setenv("HERMAD", MISSING)
            self.home.kill()
        elif step == 2:
            self.end()
            wait_for(lambda: is_found(script.engine), "the daemon")

    def end(self) -> None:
        self.monkeypatch.setenv("HERMAD", self.program)


def nothing(script, number) -> None:
    """No fault."""


def test_without_a_fault(home):
    script = Script(nothing, "s")
    script.run()
    assert script.compressed >= 3
    assert script.calls == 1 + 3 * TURNS + script.compressed


@pytest.mark.parametrize(
    ("fault", "shifts"), [(Kill, (None,)), (StandStill, range(3)), (Removed, range(4))]
)
def test_a_fault_before_each_call(home, monkeypatch, fault, shifts):
    for shift in shifts:
        named = {} if shift is None else {"shift": shift}
        what = fault(home, monkeypatch, **named)
        script = Script(what.before, f"s{shift}")
        try:
            script.run()
        finally:
            what.end()
        assert script.calls > 3 * TURNS
        script.before = nothing
        script.works_again()
