"""Starts the daemon when it is not running."""

from __future__ import annotations

import os
import selectors
import shutil
import site
import socket
import subprocess
import sys
import sysconfig
import time
from typing import IO

from .errors import DaemonUnavailable
from .place import Place
from .transport import connect

PATIENCE = 10.0
"""Seconds that a daemon may take to start or to stop."""

PAUSE = 0.01
"""Seconds between two looks for it."""

TAKEN = 3
"""Exit code of a daemon that found its home taken."""


class _Daemon(subprocess.Popen[bytes]):
    """A child that is meant to go on when this program ends."""

    def __del__(self) -> None:
        """Does not warn, as its base would, of a child that still runs."""


_started: list[_Daemon] = []
"""Daemons that this process started, kept so that one that ended is reaped."""


def connect_or_start(place: Place, timeout: float | None = None) -> socket.socket:
    """Connects, and starts the daemon first when nobody listens.

    A daemon that is just starting or stopping is waited for. ``timeout`` is in
    seconds, and at most :data:`PATIENCE` counts. Raises
    :class:`DaemonUnavailable` when there is none in the end.
    """
    patience = PATIENCE if timeout is None else min(timeout, PATIENCE)
    until = time.monotonic() + patience
    while True:
        try:
            return connect(place, timeout)
        except DaemonUnavailable:
            remaining = until - time.monotonic()
            if remaining <= 0:
                raise
            if not start(place, remaining):
                time.sleep(PAUSE)


def start(place: Place, patience: float = PATIENCE) -> bool:
    """Starts a daemon and returns when it listens.

    False when another one has the home: it may be starting, or stopping.
    Raises :class:`DaemonUnavailable` with the daemon's own words when it ends
    with an error, says nothing for ``patience`` seconds, or is not there.
    """
    _reap()
    program = find_daemon()
    command = [program, "--home", str(place.home), "--socket", str(place.socket), "--detached"]
    try:
        daemon = _Daemon(
            command,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        where = "it must be on the search path, or HERMAD must name it"
        raise DaemonUnavailable(f"can't start {program}: {error.strerror}; {where}") from error
    assert daemon.stdout is not None
    assert daemon.stderr is not None
    with daemon.stdout, daemon.stderr:
        if not _is_readable(daemon.stdout, patience):
            daemon.kill()
            daemon.wait()
            raise DaemonUnavailable(f"{program} was not ready within {patience:.0f} s")
        if daemon.stdout.readline().startswith(b"ready"):
            _started.append(daemon)
            return True
        words = daemon.stderr.read().decode("utf-8", "replace").strip()
    code = daemon.wait()
    if code == TAKEN:
        return False
    raise DaemonUnavailable(f"the daemon could not be started: {words or f'it ended with {code}'}")


def find_daemon() -> str:
    """The daemon's program.

    ``HERMAD``, else the one beside this Python, else the one where its packages put
    their programs, for the system or for this user, else the one that the search path finds.
    """
    named = os.environ.get("HERMAD")
    if named:
        # It is started in another folder; a bare name is for the search path.
        return os.path.abspath(named) if os.sep in named else named
    folders = [os.path.dirname(sys.executable), sysconfig.get_path("scripts")]
    if site.ENABLE_USER_SITE:
        folders.append(sysconfig.get_path("scripts", f"{os.name}_user"))
    for folder in folders:
        program = os.path.join(folder, "hermad")
        if os.path.isfile(program):
            return program
    return shutil.which("hermad") or "hermad"


def _is_readable(source: IO[bytes], patience: float) -> bool:
    """Whether something, or its end, can be read within ``patience`` seconds."""
    with selectors.DefaultSelector() as selector:
        selector.register(source, selectors.EVENT_READ)
        return bool(selector.select(patience))


def _reap() -> None:
    _started[:] = [daemon for daemon in _started if daemon.poll() is None]
