"""Work that no turn waits for, done in its order."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections import deque
from typing import Callable

LONGEST = 10_000
"""Jobs that wait at most; past it the oldest go, and the log says so."""

FAREWELL = 2.0
"""Seconds that the end of the process waits for what is left."""

logger = logging.getLogger("herma.hermes")


class Worker:
    """One thread that does one job after the other; it begins with the first."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: deque[Callable[[], object]] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_busy = False
        self._process = os.getpid()

    def do(self, job: Callable[[], object]) -> None:
        """Takes a job; returns at once."""
        self._after_fork()
        with self._changed:
            if len(self._jobs) >= LONGEST:
                self._jobs.popleft()
                logger.warning("%s: too much waits; the oldest was given up", self._name)
            self._jobs.append(job)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def settle(self, seconds: float) -> bool:
        """Waits until all is done; whether it is."""
        self._after_fork()
        if threading.current_thread() is self._thread:
            return True
        until = time.monotonic() + seconds
        with self._changed:
            while self._jobs or self._is_busy:
                left = until - time.monotonic()
                if left <= 0 or self._thread is None or not self._thread.is_alive():
                    return False
                self._changed.wait(left)
        return True

    def _run(self) -> None:
        while True:
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()
                while not self._jobs:
                    self._changed.wait()
                job = self._jobs.popleft()
                self._is_busy = True
            try:
                job()
            except Exception as error:
                logger.warning("%s: a job failed: %s", self._name, type(error).__name__)
                logger.debug("%s", self._name, exc_info=True)

    def _after_fork(self) -> None:
        """The thread stayed with the parent, and its jobs are the parent's."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._jobs.clear()
            self._changed = threading.Condition()
            self._thread = None
            self._is_busy = False


worker = Worker("herma-background")
"""The one of this process, so that everything of a session stays in its order."""

atexit.register(lambda: worker.settle(FAREWELL))
