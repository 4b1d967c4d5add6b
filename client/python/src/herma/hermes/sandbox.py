"""Files in the place where an agent's tools run."""

from __future__ import annotations

import logging
import shlex
from typing import Any, Protocol

FOLDER = "hermes-results"
USUAL = "/tmp"

TIMEOUT = 30
"""Seconds that writing a file may take."""

logger = logging.getLogger("herma.hermes")


class Environment(Protocol):
    """Where an agent's tools run. It may also have ``get_temp_dir()``."""

    def execute(self, command: str, *, timeout: int, stdin_data: str) -> Any:
        """Runs a shell command; what it gives has ``returncode`` or ``exit_code``."""


def write(env: Environment, name: str, text: str) -> str | None:
    """Writes a text to a file of that name; its path, or ``None`` when that failed.

    The text travels on standard input only.
    """
    folder = f"{_temp(env)}/{FOLDER}"
    path = f"{folder}/{name}"
    command = f"mkdir -p {shlex.quote(folder)} && cat > {shlex.quote(path)}"
    try:
        code = _exit_code(env.execute(command, timeout=TIMEOUT, stdin_data=text))
    except Exception as error:
        logger.warning("a tool result could not be kept in %s: %s", path, type(error).__name__)
        return None
    if code != 0:
        logger.warning("a tool result could not be kept in %s: exit code %s", path, code)
        return None
    return path


def _temp(env: Environment) -> str:
    try:
        found = env.get_temp_dir()  # type: ignore[attr-defined]
    except Exception:
        return USUAL
    return found.rstrip("/") or USUAL if isinstance(found, str) else USUAL


def _exit_code(done: Any) -> Any:
    for name in ("returncode", "exit_code"):
        code = done.get(name) if isinstance(done, dict) else getattr(done, name, None)
        if code is not None:
            return code
    return None
