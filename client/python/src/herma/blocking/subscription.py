"""What the daemon tells unasked."""

from __future__ import annotations

from types import TracebackType

from ..call import Deadline
from ..errors import DaemonUnavailable
from ..place import Place
from ..wire import Event
from .connection import Connection


class Subscription:
    """Events, in their order, as an iterator.

    It listens from the moment it was made. Closing it, from any thread, ends the
    iteration. A connection that breaks raises :class:`DaemonUnavailable`: what
    happened since is not told, so look (``memory.list``, ``output.list``) and
    subscribe again.
    """

    def __init__(self, place: Place, topics: list[str], *, start: bool, deadline: Deadline) -> None:
        """Subscribes. Raises :class:`InvalidParams` for a topic that there is not."""
        self._closed = False
        try:
            self._connection = Connection(place, start=start, deadline=deadline)
            try:
                self._connection.ask("subscribe", {"topics": topics}, deadline).value()
            except BaseException:
                self._connection.close()
                raise
        except OSError as error:
            raise DaemonUnavailable("the connection to the daemon broke") from error

    def next(self, timeout: float | None = None) -> Event:
        """The next event.

        Raises :class:`DeadlineExceeded` when none comes for ``timeout`` seconds,
        ``StopIteration`` once it is closed.
        """
        while not self._closed:
            if self._connection.told:
                return self._connection.told.popleft()
            try:
                said = self._connection.read(timeout)
            except OSError as error:
                if self._closed:
                    break
                self.close()
                raise DaemonUnavailable("the connection to the daemon broke") from error
            if isinstance(said, Event):
                return said
            said.value()
        raise StopIteration

    def close(self) -> None:
        """Ends it."""
        if not self._closed:
            self._closed = True
            self._connection.hang_up()
            self._connection.close()

    def __iter__(self) -> Subscription:
        """The subscription itself."""
        return self

    def __next__(self) -> Event:
        """The next event, however long it takes."""
        return self.next()

    def __enter__(self) -> Subscription:
        """The subscription itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends it."""
        self.close()
