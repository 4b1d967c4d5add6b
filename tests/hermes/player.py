"""An agent in a process of its own, as a test sees it."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from home import Home

PATIENCE = 120
"""Seconds for one turn."""

PLAY = Path(__file__).with_name("play.py")


class Player:
    """A running host in a home."""

    def __init__(self, home: Home, name: str, *, session: str | None = None) -> None:
        """``session`` is one to go on with."""
        ours, theirs = os.pipe()
        self.name = name
        self._log = open(home.path / f"{name}.out", "ab")  # noqa: SIM115
        command = [str(home.venv / "bin" / "python"), str(PLAY), "--out", str(theirs)]
        self._process = subprocess.Popen(
            command + (["--resume", session] if session else []),
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
            env={**home.env, "TERMINAL_CWD": str(home.work)},
            cwd=home.work,
            pass_fds=(theirs,),
        )
        os.close(theirs)
        self._answers = os.fdopen(ours, "rb")

    def __enter__(self) -> Player:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._process.poll() is None and self._process.stdin is not None:
                self._process.stdin.close()
                self._process.wait(PATIENCE)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._answers.close()
        self._log.close()

    def turn(
        self, words: str, before: tuple[str, Callable[[], object]] | None = None
    ) -> dict[str, Any]:
        """Says something, and waits for what came of it.

        ``before`` names a call of the engine, and what to do right before it is made.
        """
        if before is None:
            return self._ask({"user": words})
        return self._ask({"user": words, "before": before[0]}, before[1])

    def command(self, name: str, **more: Any) -> dict[str, Any]:
        """``new``, ``resume``, ``compress``, ``state`` or ``close``."""
        return self._ask({"command": name, **more})

    def _ask(
        self, order: dict[str, Any], then: Callable[[], object] | None = None
    ) -> dict[str, Any]:
        try:
            self._write(order)
            answer = self._read()
            if "before" in answer and then is not None:
                then()
                self._write({})
                answer = {**self._read(), "passed": answer["before"]}
            return answer
        except OSError as error:
            return {"error": f"the agent is gone: {error}"}

    def _write(self, line: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line).encode() + b"\n")
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        ready, _, _ = select.select([self._answers], [], [], PATIENCE)
        if not ready:
            return {"error": f"no answer in {PATIENCE} s"}
        line = self._answers.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"error": "the agent ended"}
        return answer
