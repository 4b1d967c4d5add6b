"""The blocking client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any

from ..call import GRACE, Call, Deadline
from ..effect import Effect
from ..errors import DaemonUnavailable
from ..place import PathLike, Place
from .methods import Methods
from .pool import Pool
from .subscription import Subscription

TIMEOUT = 600.0
"""Seconds that a call may take when nobody says otherwise: longer than a chain of
summarizers needs."""


class Client(Methods):
    """A client that waits for its answers.

    It connects with the first call, and starts the daemon then, unless ``start``
    is false. Threads may share it, and a child may go on using it after a fork:
    each call has a connection to itself. A connection that breaks is made anew
    and the call repeated, writes by a key of theirs, so that nothing is done
    twice; where that can't be known the call raises :class:`OutcomeUnknown`.

    ``home`` and ``socket`` are found as the daemon finds them when they are not
    named. ``profile`` is that of all calls that name none. ``timeout`` is in
    seconds, for a call as a whole; ``None`` waits for ever. ``grace`` is how many
    seconds more the daemon may take to say itself that the time is over.
    """

    def __init__(
        self,
        *,
        home: PathLike | None = None,
        socket: PathLike | None = None,
        profile: str | None = None,
        start: bool = True,
        timeout: float | None = TIMEOUT,
        grace: float = GRACE,
    ) -> None:
        self.place = Place.find(home, socket)
        self._profile = profile
        self.timeout = timeout
        self._grace = grace
        self._start = start
        self._closed = False
        self._pool = Pool(self.place, start=start)
        super().__init__()

    def call(
        self,
        method: str,
        *,
        profile: str | None = None,
        timeout: float | None = None,
        idempotency_key: str | None = None,
        **params: Any,
    ) -> Any:
        """Calls any method by its name on the wire; params that are ``None`` are left out.

        Raises the daemon's error, :class:`DeadlineExceeded` after ``timeout``
        seconds, :class:`DaemonUnavailable`, or :class:`BadAnswer`.
        """
        options = {"profile": profile, "timeout": timeout, "idempotency_key": idempotency_key}
        return self._call(method, params, options)

    def subscribe(self, topics: Iterable[str]) -> Subscription:
        """What happens from now on, on a connection of its own.

        ``topics`` are those of the method ``subscribe``, such as ``memory.changed``.
        """
        deadline = Deadline(self.timeout)
        return Subscription(self.place, list(topics), start=self._start, deadline=deadline)

    def close(self) -> None:
        """Closes all connections. The daemon goes on."""
        if not self._closed:
            self._own_pool().close()
            self._closed = True

    def __enter__(self) -> Client:
        """The client itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes all connections."""
        self.close()

    def _call(self, method: str, params: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
        timeout, profile = options.get("timeout"), options.get("profile")
        call = Call(
            method,
            params,
            profile=profile if profile is not None else self._profile,
            timeout=timeout if timeout is not None else self.timeout,
            grace=self._grace,
            idempotency_key=options.get("idempotency_key"),
        )
        while True:
            pool = self._own_pool()
            try:
                start = self._start and call.effect is not Effect.ONCE
                connection = pool.take(call.deadline, start=start)
            except OSError as error:
                call.broke(error)
                continue
            except DaemonUnavailable as error:
                raise call.given_up(error.message) from error
            try:
                call.begin(connection.peer.pid)
                answer = connection.ask(method, call.params(), call.deadline)
            except OSError as error:
                pool.drop(connection)
                call.broke(error)
            except BaseException:
                pool.drop(connection)
                raise
            else:
                pool.give(connection)
                return answer.value()

    def _own_pool(self) -> Pool:
        if self._closed:
            raise DaemonUnavailable("the client is closed")
        if self._pool.is_inherited:
            self._pool.abandon()
            self._pool = Pool(self.place, start=self._start)
        return self._pool
