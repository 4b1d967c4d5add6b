"""One connection, many calls at the same time."""

from __future__ import annotations

import asyncio
import itertools
import socket
from typing import Any, cast

from .. import hello
from ..call import Deadline
from ..errors import BadAnswer, DaemonUnavailable, DeadlineExceeded, TooLarge
from ..lines import Lines
from ..place import Place
from ..start import connect_or_start
from ..transport import connect
from ..wire import Answer, Event, read_line, write_line

TOLD = 10_000
"""Events that are kept until somebody asks for them; past it the oldest go."""


class AsyncConnection(asyncio.Protocol):
    """A connection of one event loop; answers find their calls by id.

    A connection that breaks raises :class:`OSError` in every call that waits.
    """

    peer: hello.Peer

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._lines = Lines()
        self._limit = hello.FIRST_LIMIT
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._transport: asyncio.Transport | None = None
        self._failure: Exception | None = None
        self._gone = asyncio.Event()
        self.told: asyncio.Queue[Event | Exception] = asyncio.Queue()
        """Events, and at the end why the connection broke."""

    @classmethod
    async def open(cls, place: Place, *, start: bool, deadline: Deadline) -> AsyncConnection:
        """Connects and greets, and starts the daemon first where that is wanted.

        Raises :class:`DaemonUnavailable` when nobody answers, and whatever the
        daemon says to a connection that it does not take.
        """
        stream = await _dial(place, start=start, deadline=deadline)
        connection = cls(stream)
        loop = asyncio.get_running_loop()
        try:
            await loop.create_unix_connection(lambda: connection, sock=stream)
            answer = await connection.ask("hello", hello.PARAMS, deadline)
            connection.peer = hello.read(answer.value())
        except BaseException:
            await connection.close()
            raise
        connection._limit = connection.peer.limit
        return connection

    async def ask(self, method: str, params: dict[str, Any], deadline: Deadline) -> Answer:
        """Sends a request and waits for its answer.

        Raises :class:`DeadlineExceeded` when none comes within the deadline and
        a second, :class:`TooLarge` for a request that the daemon would not take,
        :class:`BadAnswer`, and :class:`OSError` when the connection breaks.
        """
        if self._failure is not None or self._transport is None:
            raise ConnectionResetError("the connection is closed") from self._failure
        number = next(self._numbers)
        line = write_line(number, method, params)
        if len(line) > self._limit:
            raise TooLarge(f"{method}: the request has {len(line):,} bytes, over {self._limit:,}")
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        self._transport.write(line)
        try:
            return await asyncio.wait_for(answer, deadline.patience())
        except asyncio.TimeoutError:
            raise DeadlineExceeded(
                f"{method}: the daemon did not answer in time; whether it was done is not known"
            ) from None
        finally:
            self._waiting.pop(number, None)

    @property
    def is_usable(self) -> bool:
        """Whether it is open, as far as this side knows."""
        return self._transport is not None and self._failure is None

    async def close(self) -> None:
        """Closes it, and returns when it is closed; calls that wait break."""
        self._end(ConnectionResetError("the connection was closed"))
        if self._transport is None:
            self._stream.close()
        else:
            self._transport.abort()
            await self._gone.wait()

    def abandon(self) -> None:
        """Closes a child's copy and leaves the parent's as it is."""
        self._failure = ConnectionResetError("the connection is the parent's")
        self._stream.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """For asyncio."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, error: Exception | None) -> None:
        """For asyncio."""
        self._gone.set()
        self._end(error or ConnectionResetError("the daemon closed the connection"))

    def data_received(self, data: bytes) -> None:
        """For asyncio."""
        self._lines.feed(data)
        try:
            while (line := self._lines.next()) is not None:
                self._take(read_line(line))
        except BadAnswer as error:
            self._end(error)
            if self._transport is not None:
                self._transport.abort()

    def _take(self, said: Answer | Event) -> None:
        if isinstance(said, Event):
            if self.told.qsize() >= TOLD:
                self.told.get_nowait()
            self.told.put_nowait(said)
            return
        # An answer without an id is about the connection, so about every call.
        asked = list(self._waiting) if said.id is None else [said.id]
        for number in asked:
            waiting = self._waiting.get(number)
            if waiting is not None and not waiting.done():
                waiting.set_result(said)

    def _end(self, error: Exception) -> None:
        if self._failure is not None:
            return
        self._failure = error
        self.told.put_nowait(error)
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(error)


async def _dial(place: Place, *, start: bool, deadline: Deadline) -> socket.socket:
    try:
        return connect(place, 0)
    except DaemonUnavailable:
        if not start:
            raise
    # Only the starting takes long; a socket out of a thread would be lost when
    # this is cancelled.
    await asyncio.to_thread(_start, place, deadline.remaining())
    return connect(place, 0)


def _start(place: Place, timeout: float | None) -> None:
    connect_or_start(place, timeout).close()
