"""The way to the daemon for code that must never wait for it, nor fail with it."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable

from ..blocking.client import Client
from ..errors import (
    BadAnswer,
    Cancelled,
    DaemonUnavailable,
    DeadlineExceeded,
    HermaError,
    OutcomeUnknown,
)
from ..place import Place
from .background import worker

LIMIT = 1.5
"""Seconds that a call may take on the path of a turn when nothing else is configured."""

FIRST_PAUSE = 0.25
LAST_PAUSE = 2.0
"""Seconds between two attempts to reach the daemon again; the pause doubles up to the last."""

LEAST = 0.05
"""Share of the limit that must be left for one more call."""

RESTART = 10.0
"""Seconds that a daemon may take to come back in one attempt."""

LONGEST = 900.0
"""Seconds after which even a call of which the daemon says that it goes on is given up: longer
than every chain of summarizers."""

MISSED = 1_000
"""Calls that are kept for a daemon that is away; past it the oldest go."""

logger = logging.getLogger("herma.hermes")


class Offline(HermaError):
    """The daemon can't be reached now, and was not waited for."""

    kind = "offline"


LOST = (DaemonUnavailable, DeadlineExceeded, BadAnswer, Cancelled, OSError)
"""What says that the way to the daemon is broken, and not that the daemon refused something."""

UNCERTAIN = (BadAnswer, DeadlineExceeded, OutcomeUnknown)
"""Causes of a loss after which the daemon may have done what it was asked for."""


class Link:
    """Calls with a limit, for all that serves one home in this process.

    As soon as a call fails for want of the daemon, all others fail at once with
    :class:`Offline`, and a thread of its own tries to get the daemon back, starting it
    where it is gone. ``limit`` is in seconds.
    """

    def __init__(self, place: Place, limit: float = LIMIT) -> None:
        self.place = place
        self.limit = limit
        self._client = self._new_client()
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._reason: str | None = None
        self._episode = 0
        self._searcher: threading.Thread | None = None
        self._next_try = 0.0
        self._closed = threading.Event()
        self._turn = threading.local()
        self._process = os.getpid()
        self._missed: deque[tuple[str, dict[str, Any]]] = deque(maxlen=MISSED)
        self._when_back: deque[Callable[[], object]] = deque(maxlen=MISSED)

    @property
    def reason(self) -> str | None:
        """Why the daemon can't be reached; ``None`` while it can, as far as is known."""
        return self._reason

    @property
    def episode(self) -> int:
        """How often the daemon was lost so far, so that each time is told once."""
        return self._episode

    def call(self, method: str, /, *, within: float | None = None, **params: Any) -> Any:
        """Calls a method; ``within`` is in seconds, what the turn has left when absent.

        Raises :class:`Offline`, and whatever the daemon answers.
        """
        self._check()
        within = within or self._left()
        if within < self.limit * LEAST:
            raise Offline("the daemon is slow, and the turn has waited long enough for it")
        try:
            return self._client.call(method, timeout=within, **params)
        except LOST as error:
            raise self._lost(error) from error

    @contextmanager
    def turn(self) -> Iterator[None]:
        """All calls that this thread makes meanwhile have the limit together, not each."""
        is_first = getattr(self._turn, "until", None) is None
        if is_first:
            self._turn.until = time.monotonic() + self.limit
        try:
            yield
        finally:
            if is_first:
                self._turn.until = None

    def _left(self) -> float:
        until: float | None = getattr(self._turn, "until", None)
        return self.limit if until is None else until - time.monotonic()

    def call_patiently(self, method: str, /, **params: Any) -> Any:
        """Calls a method that may take long, as long as the daemon shows that it is alive.

        Raises :class:`Offline`, and whatever the daemon answers.
        """
        self._check()
        call = _Patient(self._new_client(start=True), method, params)
        until = time.monotonic() + LONGEST
        while not call.wait(self.limit / 2):
            try:
                self._client.call("ping", timeout=self.limit / 2)
                if time.monotonic() > until:
                    raise DeadlineExceeded(f"{method} took more than {LONGEST:.0f} s")
            except LOST as error:
                # An answer that came just now is still one.
                if not call.wait(0):
                    call.give_up()
                    raise self._lost(error) from error
        try:
            return call.result()
        except LOST as error:
            raise self._lost(error) from error

    def call_or_keep(self, method: str, /, **params: Any) -> Any | None:
        """As :meth:`call`, but what a lost daemon missed is sent when it is back.

        ``None`` then; also where the daemon may have done it before it was lost.
        """
        try:
            return self.call(method, **params)
        except Offline as error:
            if not isinstance(error.__cause__, UNCERTAIN):
                with self._lock:
                    self._missed.append((method, params))
                    is_back = self._reason is None
                if is_back:
                    worker.do(self._send_rest)
            return None

    def try_back(self) -> None:
        """Tries a lost daemon once more within the limit; not again for some seconds.

        For what is worth a short wait; returns either way.
        """
        self._after_fork()
        with self._lock:
            is_due = self._reason is not None and time.monotonic() > self._next_try
            if is_due:
                self._next_try = time.monotonic() + RESTART
        if is_due:
            try:
                self._client.call("ping", timeout=self.limit)
            except (HermaError, OSError):
                return
            self._found()

    def close(self) -> None:
        """Closes its connections, and looks for the daemon no more."""
        self._closed.set()
        searcher = self._searcher
        if searcher is not None:
            searcher.join()
        self._client.close()

    def when_back(self, job: Callable[[], object]) -> None:
        """Has something done in the background as soon as the daemon answers again."""
        self._after_fork()
        with self._lock:
            if self._reason is not None:
                if job not in self._when_back:
                    self._when_back.append(job)
                return
        worker.do(job)

    def _check(self) -> None:
        self._after_fork()
        if self._reason is not None:
            raise Offline(self._reason)

    def _after_fork(self) -> None:
        if self._process != os.getpid():
            # A fork: the thread that looked for the daemon stayed with the parent.
            self._process, self._searcher, self._reason = os.getpid(), None, None
            self._lock, self._sending = threading.Lock(), threading.Lock()
            self._missed.clear()  # The parent sends them.
            self._when_back.clear()

    def _lost(self, error: Exception) -> Offline:
        words = error.message if isinstance(error, HermaError) else type(error).__name__
        with self._lock:
            if self._reason is None:
                self._reason = words
                self._episode += 1
                logger.warning("the daemon of %s is lost: %s", self.place.home, words)
            if self._searcher is None:
                self._searcher = threading.Thread(
                    target=self._search, name="herma-reconnect", daemon=True
                )
                self._searcher.start()
        return Offline(words)

    def _search(self) -> None:
        """Looks for the daemon until it answers, and sends what it missed."""
        pause = FIRST_PAUSE
        while not self._closed.is_set():
            try:
                with self._new_client(start=True) as client:
                    client.call("ping", timeout=RESTART)
                    self._send_missed(client)
            except Exception as error:
                logger.debug("the daemon is still away: %s", type(error).__name__)
                self._closed.wait(pause)
                pause = min(2 * pause, LAST_PAUSE)
                continue
            with self._lock:
                self._searcher = None
            self._found()
            return

    def _found(self) -> None:
        with self._lock:
            was_lost, self._reason = self._reason is not None, None
            jobs = list(self._when_back)
            self._when_back.clear()
            if self._missed:
                # Kept after the last one was sent, and before this word that it is back.
                jobs.insert(0, self._send_rest)
        if was_lost:
            logger.info("the daemon of %s is back", self.place.home)
        for job in jobs:
            worker.do(job)

    def _send_rest(self) -> None:
        try:
            with self._new_client() as client:
                self._send_missed(client)
        except LOST as error:
            self._lost(error)

    def _send_missed(self, client: Client) -> None:
        with self._sending:  # Two threads would send the same one.
            while self._missed:
                method, params = self._missed[0]
                try:
                    client.call(method, timeout=RESTART, **params)
                except LOST:
                    raise
                except HermaError as error:
                    logger.info("%s was missed, and is not wanted any more: %s", method, error.kind)
                if self._missed:
                    self._missed.popleft()

    def _new_client(self, *, start: bool = True) -> Client:
        place = self.place
        return Client(
            home=place.home, socket=place.socket, start=start, timeout=self.limit, grace=0.0
        )


class _Patient:
    """A call in a thread of its own, on a connection of its own."""

    def __init__(self, client: Client, method: str, params: dict[str, Any]) -> None:
        self._client = client
        self._done = threading.Event()
        self._value: Any = None
        self._error: BaseException | None = None
        run: Callable[[], None] = lambda: self._run(method, params)  # noqa: E731
        threading.Thread(target=run, name=f"herma-{method}", daemon=True).start()

    def _run(self, method: str, params: dict[str, Any]) -> None:
        try:
            self._value = self._client.call(method, timeout=LONGEST, **params)
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()
            self._client.close()

    def wait(self, seconds: float) -> bool:
        """Whether it is done within so many seconds."""
        return self._done.wait(seconds)

    def result(self) -> Any:
        """What came of it."""
        if self._error is not None:
            raise self._error
        return self._value

    def give_up(self) -> None:
        """Hangs up: the daemon ends what nobody waits for."""
        self._client.close()


_links: dict[tuple[Place, float], Link] = {}
_links_lock = threading.Lock()


def shared_link(place: Place, limit: float = LIMIT) -> Link:
    """The link of a home in this process."""
    with _links_lock:
        link = _links.get((place, limit))
        if link is None:
            link = _links[place, limit] = Link(place, limit)
        return link


def close_links() -> None:
    """Closes all of them; the next one is made anew."""
    with _links_lock:
        links = list(_links.values())
        _links.clear()
    for link in links:
        link.close()
