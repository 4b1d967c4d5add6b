"""Which home is meant and where its socket is: the same rules as the daemon's."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Union

from .errors import DaemonUnavailable

PathLike = Union[str, "os.PathLike[str]"]

SOCKET_PATH = 103
"""Longest path of a socket in bytes: what macOS allows, and Linux too."""


@dataclass(frozen=True)
class Place:
    """A home and its socket, both absolute."""

    home: Path
    socket: Path

    @classmethod
    def find(cls, home: PathLike | None = None, socket: PathLike | None = None) -> Place:
        """The place that the arguments name, or else the environment.

        The home is ``HERMA_HOME``, ``HERMES_HOME``, or else the one of two that
        has herma's data: the platform's folder for data (``~/.local/share/herma``)
        or ``~/.hermes``. If neither has, it is ``~/.hermes`` if that exists, else
        the platform's. The socket is ``HERMA_SOCKET`` or ``herma/hermad.sock`` in
        the home. Empty variables count as absent.

        Raises :class:`DaemonUnavailable` when nothing says which home is meant.
        """
        found = Path(home) if home is not None else _home_of_environment()
        if found is None:
            raise DaemonUnavailable("no home: set HERMA_HOME or HERMES_HOME, or HOME")
        found = _absolute(_expanded(found))
        named = Path(socket) if socket is not None else _variable("HERMA_SOCKET")
        return cls(found, _absolute(_expanded(named) if named is not None else _usual_socket(found)))

    def as_locked(self) -> Place | None:
        """The same home on the socket that its daemon wrote into its lock file.

        ``None`` when that is this very socket, or nobody wrote one.
        """
        try:
            text = (self.home / "herma" / "hermad.lock").read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return None
        _, found, socket = text.strip().partition(" on ")
        other = Place(self.home, Path(socket))
        return other if found and other != self else None


def _home_of_environment() -> Path | None:
    return _variable("HERMA_HOME") or _variable("HERMES_HOME") or _usual_home()


def _usual_home() -> Path | None:
    user = _variable("HOME")
    if user is None:
        return None
    data = _variable("XDG_DATA_HOME")
    if data is None or not data.is_absolute():
        data = user / ("Library/Application Support" if sys.platform == "darwin" else ".local/share")
    own, hermes = data / "herma", user / ".hermes"
    for home in (own, hermes):
        # Unlike `Path.is_dir`, it takes a folder that can't be read for none.
        if os.path.isdir(home / "herma"):
            return home
    return hermes if os.path.isdir(hermes) else own


def _expanded(path: Path) -> Path:
    """The path with the user's folder for a ``~`` in front, as a shell reads it."""
    user = _variable("HOME")
    return user.joinpath(*path.parts[1:]) if user is not None and path.parts[:1] == ("~",) else path


def _usual_socket(home: Path) -> Path:
    usual = home / "herma" / "hermad.sock"
    if len(os.fsencode(usual)) <= SOCKET_PATH:
        return usual
    folder = _variable("XDG_RUNTIME_DIR") or Path(f"/tmp/herma-{os.geteuid()}")
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()
    return folder / f"herma-{digest[:16]}.sock"


def _variable(name: str) -> Path | None:
    value = os.environ.get(name)
    return Path(value) if value else None


def _absolute(path: Path) -> Path:
    """Without ``.`` and a slash at the end, so that one place has one name."""
    return Path.cwd() / path
