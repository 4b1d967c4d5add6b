"""The Unix socket: connecting, and who listens there."""

from __future__ import annotations

import os
import socket
import struct

from .errors import DaemonUnavailable
from .place import Place

_CREDENTIALS = struct.Struct("3i")
"""Linux' ``struct ucred``: process, user, group."""


def connect(place: Place, timeout: float | None = None) -> socket.socket:
    """Connects to the home's daemon, wherever it listens.

    ``timeout`` is in seconds. Raises :class:`DaemonUnavailable` when nobody
    listens, or another user does.
    """
    try:
        return _connect(place, timeout)
    except OSError as error:
        other = place.as_locked()
        if other is not None:
            try:
                return _connect(other, timeout)
            except OSError:
                pass
        words = error.strerror or type(error).__name__
        raise DaemonUnavailable(f"no daemon answers on {place.socket}: {words}") from error


def _connect(place: Place, timeout: float | None) -> socket.socket:
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        stream.settimeout(timeout)
        stream.connect(str(place.socket))
        if _listener(stream, place) not in (os.geteuid(), 0):
            raise PermissionError(1, "another user listens there")
    except BaseException:
        stream.close()
        raise
    return stream


def _listener(stream: socket.socket, place: Place) -> int:
    """The user who listens: what the system says, or else the socket's owner."""
    option: int | None = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return os.stat(place.socket).st_uid
    answer = stream.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size)
    user: int = _CREDENTIALS.unpack(answer)[1]
    return user
