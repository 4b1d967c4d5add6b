"""Which of the host's sessions are one conversation.

A host may give a conversation a new id with each compression. Its own database says so,
across restarts too, and there it is read.
"""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

STEPS = 100
"""Compressions of one conversation that are followed back."""

COMPRESSION = "compression"
"""Why a host's session ended that goes on under another id."""

BUSY = 0.2
"""Seconds that a lock of the host's database is waited for."""

logger = logging.getLogger("herma.hermes")


@dataclass(frozen=True)
class Origin:
    """Where a session of the host comes from."""

    first: str
    """The id with which the conversation began; the session's own where it is not known."""
    parent: str | None = None
    """The session that ``first`` is a branch or a delegate of."""


def origin(database: Path, session: str) -> Origin:
    """Follows a session back through compressions; read only, and never raises."""
    try:
        uri = f"{database.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=BUSY)) as connection:
            return _origin(connection, session)
    except (sqlite3.Error, OSError, ValueError) as error:
        logger.debug("the host's sessions could not be read: %s", type(error).__name__)
        return Origin(session)


def _origin(connection: sqlite3.Connection, session: str) -> Origin:
    current = session
    for _ in range(STEPS):
        row = connection.execute(
            "SELECT child.parent_session_id, parent.end_reason, parent.ended_at, child.started_at"
            " FROM sessions AS child LEFT JOIN sessions AS parent"
            " ON parent.id = child.parent_session_id WHERE child.id = ?",
            (current,),
        ).fetchone()
        if row is None or not row[0]:
            return Origin(current)
        parent, reason, ended, started = row
        # A delegate began while its parent went on; a continuation after its end.
        if reason != COMPRESSION or ended is None or started is None or started < ended:
            return Origin(current, parent)
        current = parent
    return Origin(current)
