"""What the process around the plugin is: a host with an agent, a configuration, a model.

Everything here is read with care and never raises: hosts differ by version, and outside a
host nothing of it is there.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from pathlib import Path
from typing import Any

from ..place import Place

logger = logging.getLogger("herma.hermes")

DEPTH = 12
"""Frames of the call stack in which the agent that calls is looked for."""

NAMES = ("agent", "self")
"""Local variables in which hosts hold their agent."""


def calling_agent() -> Any | None:
    """The host's agent whose code called, or ``None``.

    Hosts hand an engine neither their agent nor, in most calls, a session; but both are
    needed: to tell two agents on one engine apart, and to reach the user.
    """
    try:
        frame = sys._getframe(1)
        for _ in range(DEPTH):
            for name in NAMES:
                found = frame.f_locals.get(name)
                if is_agent(found):
                    return found
            if frame.f_back is None:
                return None
            frame = frame.f_back
    except Exception:  # A frame may be odd in ways that nobody thought of.
        logger.debug("the calling agent could not be found", exc_info=True)
    return None


def is_agent(found: Any) -> bool:
    """Whether this is an agent of a host: it warns its user, and has sessions."""
    if found is None or isinstance(found, (str, bytes, int, float, dict, list, tuple, set)):
        return False
    kind = type(found)
    return callable(getattr(kind, "_emit_warning", None)) and (
        hasattr(found, "context_compressor") or hasattr(found, "session_id")
    )


def session_of(agent: Any) -> str | None:
    """The session that an agent has now."""
    session = getattr(agent, "session_id", None)
    return session if isinstance(session, str) and session else None


def is_review(agent: Any) -> bool:
    """Whether an agent only reviews another one's session, whose id it borrows."""
    return getattr(agent, "_memory_write_origin", None) == "background_review"


def warn(agent: Any | None, words: str) -> None:
    """Says something to the user by the agent's own way, and to the log."""
    logger.warning("%s", words)
    emit = getattr(agent, "_emit_warning", None)
    if callable(emit):
        try:
            emit(f"⚠ herma: {words}")
        except Exception:
            logger.debug("the host did not take a warning", exc_info=True)


def home() -> Path | None:
    """The home of the host; ``None`` outside of one."""
    try:
        constants = importlib.import_module("hermes_constants")
        return Path(constants.get_hermes_home())
    except Exception:
        return None


def place(told: Path | None = None) -> Place:
    """Where the daemon is: ``HERMA_HOME`` if it is set, else the host's home.

    ``told`` is the home that the host named in a call. Raises
    :class:`herma.DaemonUnavailable` when nothing says which home is meant.
    """
    if os.environ.get("HERMA_HOME"):
        return Place.find()
    return Place.find(told or home())


def config(folder: Path | None = None) -> dict[str, Any]:
    """The host's ``config.yaml`` as it stands in the file: without the host's defaults.

    Empty where it can't be read.
    """
    try:
        folder = folder or home() or Place.find().home
        yaml = importlib.import_module("yaml")
        with open(folder / "config.yaml", encoding="utf-8-sig") as file:
            read = yaml.safe_load(file)
    except FileNotFoundError:
        return {}
    except Exception as error:
        logger.warning("config.yaml could not be read: %s", type(error).__name__)
        return {}
    return read if isinstance(read, dict) else {}


def section(config: dict[str, Any], name: str) -> dict[str, Any]:
    """A section of a configuration; empty where it is none."""
    found = config.get(name)
    return found if isinstance(found, dict) else {}
