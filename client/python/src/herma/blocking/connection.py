"""One connection, one call at a time."""

from __future__ import annotations

import itertools
import socket
from collections import deque
from contextlib import suppress
from typing import Any

from .. import hello
from ..call import Deadline
from ..errors import DeadlineExceeded, TooLarge
from ..lines import Lines
from ..place import Place
from ..start import connect_or_start
from ..transport import connect
from ..wire import Answer, Event, read_line, write_line

READ = 256 << 10
"""Bytes that are read at one time."""

TOLD = 10_000
"""Events that are kept while an answer is awaited; past it the oldest go."""


class Connection:
    """A connection to the daemon, greeted.

    Broken connections raise :class:`OSError`; whoever gets one has to close the
    connection and may repeat the call on another.
    """

    def __init__(self, place: Place, *, start: bool, deadline: Deadline) -> None:
        """Connects, and starts the daemon first where that is wanted.

        Raises :class:`DaemonUnavailable` when nobody answers, and whatever the
        daemon says to a connection that it does not take.
        """
        dial = connect_or_start if start else connect
        self._stream: socket.socket = dial(place, deadline.remaining())
        self._lines = Lines()
        self._limit = hello.FIRST_LIMIT
        self._numbers = itertools.count(1)
        self.told: deque[Event] = deque(maxlen=TOLD)
        """Events that came while an answer was awaited."""
        try:
            self.peer = hello.read(self.ask("hello", hello.PARAMS, deadline).value())
        except BaseException:
            self.close()
            raise
        self._limit = self.peer.limit

    def ask(self, method: str, params: dict[str, Any], deadline: Deadline) -> Answer:
        """Sends a request and waits for its answer.

        Raises :class:`DeadlineExceeded` when none comes within the deadline and
        a second, :class:`TooLarge` for a request that the daemon would not take,
        :class:`BadAnswer`, and :class:`OSError` when the connection breaks.
        """
        number = next(self._numbers)
        line = write_line(number, method, params)
        if len(line) > self._limit:
            raise TooLarge(f"{method}: the request has {len(line):,} bytes, over {self._limit:,}")
        broken = self._send(line, deadline)
        while True:
            try:
                said = self.read(deadline.patience())
            except DeadlineExceeded:
                raise DeadlineExceeded(
                    f"{method}: the daemon did not answer in time; whether it was done is not known"
                ) from None
            except OSError as error:
                raise broken or error from None
            if isinstance(said, Event):
                self.told.append(said)
            elif said.id is None or said.id == number:
                return said

    def _send(self, line: bytes, deadline: Deadline) -> OSError | None:
        """Sends, or says what broke: the daemon's reason may still be there to read."""
        self._stream.settimeout(deadline.patience())
        try:
            self._stream.sendall(line)
        except socket.timeout as error:
            raise DeadlineExceeded("the daemon did not take the request in time") from error
        except OSError as error:
            return error
        return None

    def read(self, patience: float | None) -> Answer | Event:
        """The next thing that the daemon says.

        Raises :class:`DeadlineExceeded` when nothing comes for ``patience``
        seconds, :class:`BadAnswer`, and :class:`OSError`.
        """
        self._stream.settimeout(patience)
        while (line := self._lines.next()) is None:
            try:
                read = self._stream.recv(READ)
            except (socket.timeout, BlockingIOError) as error:
                raise DeadlineExceeded("the daemon said nothing in time") from error
            if not read:
                raise ConnectionResetError("the daemon closed the connection")
            self._lines.feed(read)
        return read_line(line)

    def is_stale(self) -> bool:
        """Whether the daemon closed it, or said something, while nobody asked."""
        if not self._lines.is_empty:
            return True
        self._stream.settimeout(0)
        try:
            self._stream.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            pass
        return True

    def close(self) -> None:
        """Closes this process' end; a parent's copy stays open."""
        self._stream.close()

    def hang_up(self) -> None:
        """Ends the connection under whoever reads from it in another thread."""
        with suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)
