"""One conversation of a host, and the daemon's session for it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import HermaError
from .background import worker
from .link import Link
from .plain import digest, plain
from .transcript import Keeper, Transcript

if TYPE_CHECKING:
    from ..types import ContextStatus

AGENT = "hermes"
"""What the daemon is told of who writes."""

logger = logging.getLogger("herma.hermes")


class Conversation:
    """What is known of a conversation, the daemon being there or not.

    ``id`` is the daemon's session; ``names`` are the ids that the host had for it, one
    after the other. Nothing is asked of the daemon before it is needed.
    """

    def __init__(
        self, link: Link, name: str, *, session: str, parent: str | None, profile: str | None
    ) -> None:
        self.id = session
        self.names = [name]
        self.parent = parent
        self.link = link
        self.profile = profile
        self.transcript = Transcript(link, session, profile=profile)
        self.keeper = Keeper(self.transcript)
        self.is_closed = False
        self.was_just_compressed = False
        """A host says that the session ended when only its list was compressed."""
        self.head: str | None = None
        """What the user said first, to tell two conversations on one engine apart."""
        self.has_name = True
        """Whether the host gave it an id."""
        self._end: tuple[int, bytes] | None = None
        self._is_open = False
        self._configured: dict[str, Any] | None = None

    def call(self, method: str, /, **params: Any) -> Any:
        """A call about this session, within the link's limit."""
        return self.link.call(method, session=self.id, profile=self.profile, **params)

    def ready(self, settings: dict[str, Any]) -> ContextStatus | None:
        """Opens the session, and tells the daemon settings that it doesn't have yet.

        Gives the engine's status when it told some. Raises what the link raises.
        """
        if not self._is_open:
            self.call("session.open", agent=AGENT, parent=self.parent, model=settings.get("model"))
            self._is_open = True
        if not settings.get("context_length") or self._configured == settings:
            return None
        status: ContextStatus = self.call("context.configure", **settings)
        self._configured = dict(settings)
        self.transcript.follow(status["generation"])
        return status

    def archive(self, messages: Sequence[Any]) -> None:
        """Has the daemon keep the list of a finished turn; returns at once."""
        self.keeper.take(messages)
        worker.do(self.keeper.send)

    def lacking(self, messages: Sequence[Any]) -> list[Any] | None:
        """The list as the daemon reads it, where it has another one; it has it after this, if it can.

        Raises what the link raises.
        """
        self.keeper.take(messages)
        with self.keeper.alone():
            if self.transcript.holds(messages):
                return None
        return [plain(message) for message in messages]

    def close(self, reason: str) -> None:
        """Ends the daemon's session behind everything that is still to be said of it."""
        if self.is_closed:
            return
        self.is_closed = True
        worker.do(self.keeper.send)
        worker.do(lambda: self._close(reason))

    def _close(self, reason: str) -> None:
        if self.keeper.is_idle:
            self.transcript.forget()
        if not self._is_open:
            return
        try:
            self.link.call_or_keep(
                "session.close", session=self.id, profile=self.profile, reason=reason
            )
        except HermaError as error:
            logger.debug("session %s was not closed: %s", self.id, error.kind)

    def is_about(self, messages: Sequence[Any]) -> bool | None:
        """Whether a list is this conversation; ``None`` where that can't be told."""
        head = first_words(messages)
        return None if head is None or self.head is None else head == self.head

    def remember_head(self, messages: Sequence[Any]) -> None:
        """Takes what the user said first for the mark of this conversation."""
        self.head = first_words(messages) or self.head
        self.remember_end(messages)

    def goes_on_in(self, messages: Sequence[Any]) -> bool:
        """Whether a list has, where it ended, the last message of this conversation."""
        if self._end is None or len(messages) < self._end[0]:
            return False
        count, last = self._end
        return count > 1 and digest(messages[count - 1]) == last

    def remember_end(self, messages: Sequence[Any]) -> None:
        """Takes a list for what was said until now."""
        self._end = (len(messages), digest(messages[-1])) if messages else None


HEAD = 2_000
"""Chars of the first words that are compared."""


def first_words(messages: Sequence[Any]) -> str | None:
    """The beginning of the first user message; ``None`` where there is none."""
    for message in messages:
        if isinstance(message, dict) and message.get("role") == "user":
            return str(message.get("content"))[:HEAD]
    return None
