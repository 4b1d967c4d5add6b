"""What the daemon tells unasked, for asyncio."""

from __future__ import annotations

from types import TracebackType

from ..call import Deadline
from ..errors import DaemonUnavailable, HermaError
from ..place import Place
from ..wire import Event
from .connection import AsyncConnection


class AsyncSubscription:
    """Events, in their order, as an asynchronous iterator.

    It listens from ``async with`` on, or else from the first event that is
    waited for. A connection that breaks raises :class:`DaemonUnavailable`: what
    happened since is not told, so look and subscribe again.
    """

    def __init__(
        self, place: Place, topics: list[str], *, start: bool, timeout: float | None
    ) -> None:
        self._place = place
        self._topics = topics
        self._start = start
        self._timeout = timeout
        self._connection: AsyncConnection | None = None
        self._closed = False

    async def open(self) -> None:
        """Subscribes. Raises :class:`InvalidParams` for a topic that there is not."""
        if self._connection is not None:
            return
        deadline = Deadline(self._timeout)
        try:
            connection = await AsyncConnection.open(
                self._place, start=self._start, deadline=deadline
            )
            self._connection = connection
            (await connection.ask("subscribe", {"topics": self._topics}, deadline)).value()
        except BaseException as error:
            await self.close()
            if isinstance(error, OSError):
                raise DaemonUnavailable("the connection to the daemon broke") from error
            raise

    async def close(self) -> None:
        """Ends it."""
        self._closed = True
        if self._connection is not None:
            await self._connection.close()

    def __aiter__(self) -> AsyncSubscription:
        """The subscription itself."""
        return self

    async def __anext__(self) -> Event:
        """The next event, however long it takes."""
        await self.open()
        assert self._connection is not None
        if self._closed:
            raise StopAsyncIteration
        told = await self._connection.told.get()
        if isinstance(told, Event):
            return told
        was_closed = self._closed
        await self.close()
        if was_closed:
            raise StopAsyncIteration
        if isinstance(told, HermaError):
            raise told
        raise DaemonUnavailable("the connection to the daemon broke") from told

    async def __aenter__(self) -> AsyncSubscription:
        """Subscribes."""
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends it."""
        await self.close()
