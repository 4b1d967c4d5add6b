"""Which conversation a host means when it calls its engine."""

from __future__ import annotations

import logging
import threading
import uuid
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable

from . import host, lineage
from .conversation import AGENT, Conversation
from .link import Link
from .plain import digest, plain

DATABASE = "state.db"
"""The host's own sessions, in its home."""

MOST = 64
"""Conversations of one engine that are known at the same time; the oldest are forgotten."""

CLOSED = 8
"""Conversations that ended and are still known: a host may end one twice."""

LONGEST_NAME = 1_024
"""Chars that the daemon takes for the id of a session."""

logger = logging.getLogger("herma.hermes")


class Conversations:
    """The conversations of one engine.

    Most calls of a host name no session. The agent that called knows its own, where it can
    be found; else the one that began last is meant, unless the list that comes with the call
    is known to be another's.
    """

    def __init__(self, profile: str | None = None) -> None:
        self._profile = profile
        self._lock = threading.RLock()
        self._by_name: dict[str, Conversation] = {}
        self._started: list[Conversation] = []
        self._agent: Callable[[], Any | None] = _nobody

    @property
    def agent(self) -> Any | None:
        """The host's agent that this engine belongs to, if it is known and alive."""
        return self._agent()

    def attach(self, agent: Any | None) -> None:
        """Takes an agent for the one that this engine belongs to."""
        if agent is None or agent is self.agent:
            return
        try:
            self._agent = weakref.ref(agent)
        except TypeError:
            self._agent = _nobody

    def belongs_to(self, agent: Any | None) -> bool:
        """Whether this is the agent's, which it becomes where it has no agent that is alive."""
        with self._lock:
            owner = self.agent
            if agent is None or owner is None or owner is agent:
                self.attach(agent)
                return True
            return False

    @property
    def current(self) -> Conversation | None:
        """The one that is meant when nothing says otherwise."""
        name = host.session_of(self.agent)
        with self._lock:
            found = self._by_name.get(name) if name else None
            if found is not None and not found.is_closed:
                return found
            return self._started[-1] if self._started else None

    def meant_by(self, messages: Sequence[Any]) -> Conversation | None:
        """The conversation that a list is of: the current one, unless the list is another's."""
        current = self.current
        is_its = current.is_about(messages) if current is not None else True
        if is_its:
            return current
        with self._lock:
            for other in reversed(self._started):
                # One that said nothing yet may begin with the very words of another.
                if other.is_about(messages) if is_its is False else other.goes_on_in(messages):
                    return other
        return current

    def named(self, name: str) -> Conversation | None:
        """The conversation that the host calls, or called, so."""
        with self._lock:
            return self._by_name.get(name)

    def start(self, link: Link, name: str, home: Path | None) -> Conversation:
        """Begins a conversation, or goes on with one that is known."""
        if not name:
            return self.start_anew(link)
        name = proper_name(name)
        with self._lock:
            known = self._by_name.get(name)
            if known is not None and not known.is_closed:
                self._to_front(known)
                return known
        found = lineage.Origin(name) if home is None else lineage.origin(home / DATABASE, name)
        with self._lock:
            first = self._by_name.get(found.first)
            if first is not None and not first.is_closed:
                self.rename(first, name)
                self._to_front(first)
                return first
            return self._add(
                Conversation(
                    link, name, session=found.first, parent=found.parent, profile=self._profile
                )
            )

    def start_anew(self, link: Link) -> Conversation:
        """Begins one of which the host says no id, or an id that another one had before."""
        name = host.session_of(self.agent)
        fresh = f"{name or AGENT}-{uuid.uuid4().hex[:12]}"
        made = Conversation(link, name or fresh, session=fresh, parent=None, profile=self._profile)
        made.has_name = name is not None
        with self._lock:
            return self._add(made)

    def rename(self, conversation: Conversation, name: str) -> None:
        """Says that the host calls a conversation so from now on."""
        with self._lock:
            if name not in conversation.names:
                conversation.names.append(name)
            self._by_name[name] = conversation

    def end(self, conversation: Conversation, reason: str) -> None:
        """Ends one; those that began before it are meant again."""
        conversation.close(reason)
        with self._lock:
            self._started = [one for one in self._started if one is not conversation]
            closed = {one.id: one for one in self._by_name.values() if one.is_closed}
            for old in list(closed.values())[:-CLOSED]:
                for name in old.names:
                    self._by_name.pop(name, None)

    def leave(self, conversation: Conversation) -> None:
        """Says that a conversation is not meant any more, without ending it."""
        with self._lock:
            self._started = [one for one in self._started if one is not conversation]
            for name in conversation.names:
                self._by_name.pop(name, None)

    def _add(self, conversation: Conversation) -> Conversation:
        for name in conversation.names:
            self._by_name[name] = conversation
        self._started.append(conversation)
        if len(self._started) > MOST:
            self._started.pop(0)
        if len(self._by_name) > 4 * MOST:
            self._by_name.pop(next(iter(self._by_name)))
        return conversation

    def _to_front(self, conversation: Conversation) -> None:
        self._started = [one for one in self._started if one is not conversation]
        self._started.append(conversation)


def proper_name(name: Any) -> str:
    """A host's id of a session as the daemon takes it; mostly itself."""
    text: str = plain(str(name))
    return text if len(text) <= LONGEST_NAME else digest(text).hex()


def _nobody() -> None:
    return None
