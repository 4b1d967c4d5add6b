"""How long a host waits for its context engine and its memory provider, seen from outside."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import Any

UNTIMED = {"get_status", "name"}
"""Asked for display only."""


class Calls:
    """Every call that a host makes, with its time; it begins with the first engine made."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: list[dict[str, Any]] = []
        self._inside = threading.local()
        self._seen: set[type] = set()
        self.before: Callable[[str], None] = lambda name: None
        """Told of each call that the host begins."""
        self._watch_new_ones("agent.context_engine", "ContextEngine")
        self._watch_new_ones("agent.memory_provider", "MemoryProvider")

    def take(self) -> list[dict[str, Any]]:
        """The calls since the last time."""
        with self._lock:
            kept, self._kept = self._kept, []
        return kept

    def _watch_new_ones(self, module: str, name: str) -> None:
        """Has every class below the host's base class timed as soon as one is made."""
        base = getattr(__import__(module, fromlist=[name]), name)
        calls, made = self, base.__new__

        def new(kind: type, *_: Any, **__: Any) -> Any:
            calls._wrap(kind, base)
            return made(kind)

        base.__new__ = new

    def _wrap(self, kind: type, base: type) -> None:
        with self._lock:
            if kind in self._seen:
                return
            self._seen.add(kind)
        for name in dir(kind):
            method = getattr(kind, name)
            if name.startswith("_") or name in UNTIMED or not callable(method):
                continue
            if isinstance(method, type) or hasattr(object, name):
                continue
            setattr(kind, name, self._timed(base.__name__, name, method))

    def _timed(self, what: str, name: str, method: Any) -> Any:
        @functools.wraps(method)
        def timed(*arguments: Any, **more: Any) -> Any:
            if getattr(self._inside, "busy", False):
                return method(*arguments, **more)
            self._inside.busy = True
            self.before(name)
            started, raised = time.perf_counter(), None
            try:
                return method(*arguments, **more)
            except BaseException as error:
                raised = f"{type(error).__name__}: {error}"
                raise
            finally:
                self._inside.busy = False
                took = time.perf_counter() - started
                thread = threading.current_thread().name
                about = {
                    "of": what,
                    "call": name,
                    "ms": took * 1000,
                    "raised": raised,
                    "thread": thread,
                }
                with self._lock:
                    self._kept.append(about)

        return timed
