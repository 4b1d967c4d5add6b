"""The client for asyncio."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any
from weakref import WeakKeyDictionary

from ..blocking.client import TIMEOUT
from ..call import Call, Deadline
from ..effect import Effect
from ..errors import DaemonUnavailable
from ..place import PathLike, Place
from .connection import AsyncConnection
from .methods import Methods
from .subscription import AsyncSubscription


class AsyncClient(Methods):
    """A client whose calls are awaited; many can be under way on its one connection.

    It takes what :class:`herma.Client` takes, and promises the same of starting,
    repeating and forking. Each event loop that uses it has a connection of its
    own.
    """

    def __init__(
        self,
        *,
        home: PathLike | None = None,
        socket: PathLike | None = None,
        profile: str | None = None,
        start: bool = True,
        timeout: float | None = TIMEOUT,
    ) -> None:
        self.place = Place.find(home, socket)
        self.timeout = timeout
        self._profile = profile
        self._start = start
        self._closed = False
        self._process = os.getpid()
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, _Line] = WeakKeyDictionary()
        super().__init__()

    async def call(
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
        return await self._call(method, params, options)

    def subscribe(self, topics: Iterable[str]) -> AsyncSubscription:
        """What happens, on a connection of its own, from ``async with`` on.

        ``topics`` are those of the method ``subscribe``, such as ``memory.changed``.
        """
        return AsyncSubscription(self.place, list(topics), start=self._start, timeout=self.timeout)

    async def close(self) -> None:
        """Closes this loop's connection. The daemon goes on."""
        if not self._closed:
            line = self._line()
            self._closed = True
            await line.close()

    async def __aenter__(self) -> AsyncClient:
        """The client itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes this loop's connection."""
        await self.close()

    async def _call(
        self, method: str, params: Mapping[str, Any], options: Mapping[str, Any]
    ) -> Any:
        timeout, profile = options.get("timeout"), options.get("profile")
        call = Call(
            method,
            params,
            profile=profile if profile is not None else self._profile,
            timeout=timeout if timeout is not None else self.timeout,
            idempotency_key=options.get("idempotency_key"),
        )
        start = self._start and call.effect is not Effect.ONCE
        while True:
            try:
                connection = await self._line().connection(
                    self.place, start=start, deadline=call.deadline
                )
            except OSError as error:
                call.broke(error)
                continue
            except DaemonUnavailable as error:
                raise call.given_up(error.message) from error
            try:
                call.begin(connection.peer.pid)
                answer = await connection.ask(method, call.params(), call.deadline)
            except OSError as error:
                call.broke(error)
            else:
                return answer.value()

    def _line(self) -> _Line:
        if self._closed:
            raise DaemonUnavailable("the client is closed")
        if self._process != os.getpid():
            self._process = os.getpid()
            for line in self._lines.values():
                line.abandon()
            self._lines.clear()
        return self._lines.setdefault(asyncio.get_running_loop(), _Line())


class _Line:
    """The connection of one loop, made by whoever needs it first."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._connection: AsyncConnection | None = None

    async def connection(self, place: Place, *, start: bool, deadline: Deadline) -> AsyncConnection:
        if self._connection is not None and self._connection.is_usable:
            return self._connection
        async with self._lock:
            if self._connection is None or not self._connection.is_usable:
                self._connection = await AsyncConnection.open(place, start=start, deadline=deadline)
            return self._connection

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()

    def abandon(self) -> None:
        if self._connection is not None:
            self._connection.abandon()
