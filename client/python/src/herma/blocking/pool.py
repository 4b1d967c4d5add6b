"""Connections that are kept for the next call."""

from __future__ import annotations

import os
import threading

from ..call import Deadline
from ..errors import DaemonUnavailable
from ..place import Place
from .connection import Connection


class Pool:
    """Connections of one process: as many as it has calls at the same time.

    A program with one thread uses one connection all the time, so its calls are
    done in their order.
    """

    def __init__(self, place: Place, *, start: bool) -> None:
        self._place = place
        self._start = start
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._all: set[Connection] = set()
        self._is_closed = False

    @property
    def is_inherited(self) -> bool:
        """Whether this is a child's copy of its parent's pool."""
        return self._process != os.getpid()

    def take(self, deadline: Deadline, *, start: bool | None = None) -> Connection:
        """A connection that nobody uses, a new one where there is none.

        Raises what :class:`Connection` raises.
        """
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                break
            if not connection.is_stale():
                return connection
            self.drop(connection)
        start = self._start if start is None else start
        connection = Connection(self._place, start=start, deadline=deadline)
        with self._lock:
            if not self._is_closed:
                self._all.add(connection)
                return connection
        # Closed while this thread connected: nobody else would close this one.
        connection.close()
        raise DaemonUnavailable("the client is closed")

    def give(self, connection: Connection) -> None:
        """Takes a connection back for the next call."""
        with self._lock:
            if connection in self._all:
                self._idle.append(connection)

    def drop(self, connection: Connection) -> None:
        """Closes a connection that must not be used again."""
        with self._lock:
            self._all.discard(connection)
        connection.close()

    def close(self) -> None:
        """Closes all of them; calls that are under way break."""
        with self._lock:
            self._is_closed = True
            connections, self._all, self._idle = self._all, set(), []
        for connection in connections:
            connection.hang_up()
            connection.close()

    def abandon(self) -> None:
        """Closes a child's copies. Takes no lock: a thread of the parent may have it."""
        for connection in list(self._all):
            connection.close()
