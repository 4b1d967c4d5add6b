"""What a conversation said, sent to the daemon as it grows."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..errors import Conflict, HermaError
from .link import Link, Offline
from .plain import digest, plain

CHUNK = 200
"""Messages that one call carries at most."""

TAIL = 4
"""Messages of an earlier list's end that are known again behind something new."""

PATIENCE = 30.0
"""Seconds that a call may take which no turn waits for."""

logger = logging.getLogger("herma.hermes")


@dataclass
class _Owed:
    """Messages that a part still has to get, and where in it the first of them belongs."""

    part: str
    position: int
    messages: list[Any] = field(default_factory=list)


class Transcript:
    """The messages of one of the daemon's sessions, as far as they are durable there.

    A host's list mostly grows at its end, and then only its end is sent. Where it changed
    before that (a rewind, a compression by somebody else) what is new in it goes into a
    session beside, ``<session>~2`` and so on, so that nothing is lost and nothing is said
    twice; the session itself takes part again after its next compression.
    """

    def __init__(self, link: Link, session: str, *, profile: str | None = None) -> None:
        self.link = link
        self._session = session
        self._profile = profile
        self._lock = threading.RLock()
        self._generation = 0
        self._sent: list[bytes] = []
        self._seen: list[Any] = []
        self._has_sent = False
        self._is_whole = True
        self._part = session
        self._parts = 1
        self._position = 0
        self._owed: list[_Owed] = []

    @property
    def is_followed(self) -> bool:
        """Whether the daemon's own list was the host's so far."""
        with self._lock:
            return self._is_whole and bool(self._sent)

    def holds(self, messages: Sequence[Any]) -> bool:
        """Whether the daemon's own list is this very one, so that it need not be sent."""
        with self._lock:
            return (
                self._is_whole
                and 0 < len(self._sent) == len(messages)
                and all(digest(message) == sent for message, sent in zip(messages, self._sent))
            )

    def add(
        self, messages: Sequence[Any], *, within: float | None = None, all_of_it: bool = False
    ) -> None:
        """Makes the list durable; ``within`` is in seconds, for each call.

        Of a list whose beginning another process has kept, in words that can't be compared
        any more, only the last turn counts as new, unless ``all_of_it`` is to be sure.
        Raises :class:`Offline` and what the daemon says; asked again, it goes on.
        """
        with self._lock:
            digests = self._digests(messages)
            count = len(self._sent)
            fresh = list(range(count, len(messages)))
            if digests[:count] != self._sent:
                # Others stand before the end: from here on only what is new is kept.
                self._begin_part()
                fresh = self._new_in(digests)
            if self._is_whole:
                was_kept = self._add_to_session(messages, within)
                if was_kept and not self._has_sent and not all_of_it:
                    fresh = list(range(_last_turn(messages), len(messages)))
            if not self._is_whole and fresh:
                if not self._owed or self._owed[-1].part != self._part:
                    self._owed.append(_Owed(self._part, self._position))
                self._owed[-1].messages += [messages[at] for at in fresh]
            # What is owed goes out before anything else, with the next attempt if not now.
            self._sent = digests
            self._seen = list(messages)
            self._has_sent = True
            self._pay(within)

    def compressed(self, messages: Sequence[Any], generation: int, *, was_held: bool) -> None:
        """Says that the daemon compressed the session: its list is this one now.

        ``was_held`` says whether the daemon had the list before as well; otherwise it has
        none now, and gets this one with the next turn.
        """
        with self._lock:
            self._generation = generation
            digests = [digest(message) for message in messages]
            self._has_sent = True
            self._is_whole = True
            self._part = self._session
            self._sent = digests if was_held else []
            self._seen = list(messages) if was_held else []
            self._position = len(self._sent)

    def forget(self) -> None:
        """Lets go of what was said: nothing more is to come."""
        with self._lock:
            self._seen, self._sent, self._is_whole = [], [], False

    def follow(self, generation: int) -> None:
        """Says which generation the daemon's session has; waits for no append."""
        self._generation = generation

    def _new_in(self, digests: list[bytes]) -> list[int]:
        """Positions of what was not said yet, in a list whose beginning changed.

        Known is what the two lists begin with, and the end of the one before where it
        stands behind something new, as a compression leaves it. Words that were said before
        and are said again are new.
        """
        sent = self._sent
        at = next(
            (at for at, (one, old) in enumerate(zip(digests, sent)) if one != old),
            min(len(digests), len(sent)),
        )
        fresh: list[int] = []
        begins = {sent[k]: k for k in range(len(sent) - 1, at - 1, -1)}
        while at < len(digests):
            k = begins.get(digests[at], len(sent))
            end = sent[k:]
            if len(end) >= TAIL and digests[at : at + len(end)] == end:
                at += len(end)
            else:
                fresh.append(at)
                at += 1
        return fresh

    def _digests(self, messages: Sequence[Any]) -> list[bytes]:
        """Of all messages; those that are the very objects of the last time are not read again."""
        seen = zip(self._seen, self._sent)
        known = {id(message): (message, sent) for message, sent in seen}
        found = (known.get(id(message)) for message in messages)
        return [one[1] if one else digest(message) for message, one in zip(messages, found)]

    def _add_to_session(self, messages: Sequence[Any], within: float | None) -> bool:
        """Appends what is new, or begins a part; whether the session had another list."""
        try:
            self._append(self._session, self._generation, len(self._sent), messages, within)
        except Conflict as error:
            if not self._takes_over(error, messages, within):
                self._begin_part()
                return bool(error.details.get("position"))
        return False

    def _takes_over(self, error: Conflict, messages: Sequence[Any], within: float | None) -> bool:
        """Goes on where an earlier process, or a call without an answer, stopped."""
        generation = error.details.get("generation")
        if not isinstance(generation, int):
            return False
        try:
            # The daemon compares what it has with what is sent, and takes what is more.
            self._sent = []
            self._append(self._session, generation, 0, messages, within)
        except Conflict:
            return False
        self._generation = generation
        return True

    def _pay(self, within: float | None) -> None:
        """Appends what is owed to parts; from the same position again after a failure."""
        while self._owed:
            owed = self._owed[0]
            if owed.position == 0:
                self._call("session.open", within, session=owed.part, parent=self._session)
            try:
                self._append(owed.part, 0, owed.position, owed.messages, within)
            except Conflict as error:
                # Another process of the same conversation uses the name.
                position = error.details.get("position")
                if not isinstance(position, int):
                    raise
                owed.position = position
                self._append(owed.part, 0, owed.position, owed.messages, within)
            if owed.part == self._part:
                self._position = owed.position + len(owed.messages)
            self._owed.pop(0)

    def _append(
        self,
        session: str,
        generation: int,
        position: int,
        messages: Sequence[Any],
        within: float | None,
    ) -> None:
        start = position if session == self._session else 0
        for begin in range(start, len(messages), CHUNK):
            chunk = [plain(message) for message in messages[begin : begin + CHUNK]]
            self._call(
                "session.append",
                within,
                session=session,
                generation=generation,
                position=position + begin - start,
                messages=chunk,
            )

    def _begin_part(self) -> None:
        self._is_whole = False
        self._parts += 1
        self._part = f"{self._session}~{self._parts}"
        self._position = 0

    def _call(self, method: str, within: float | None, **params: Any) -> Any:
        return self.link.call(method, within=within, profile=self._profile, **params)


def _last_turn(messages: Sequence[Any]) -> int:
    """Where the last message of the user stands; 0 where there is none."""
    for at in range(len(messages) - 1, -1, -1):
        if isinstance(messages[at], dict) and messages[at].get("role") == "user":
            return at
    return 0


class Keeper:
    """Adds a list again and again until it is durable; what is newer takes its place."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self._waits: list[Any] | None = None
        self._lock = threading.Lock()
        self._sending = threading.RLock()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nothing is sent in the background meanwhile; what waits is sent before.

        Raises :class:`Offline` when the background is stuck for longer than a turn waits.
        """
        link = self.transcript.link
        if link.reason is not None:
            raise Offline(link.reason)
        if not self._sending.acquire(timeout=link.limit):
            raise Offline("the daemon does not take what was said before")
        try:
            self.send(within=link.limit)
            yield
        finally:
            self._sending.release()

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits."""
        with self._lock:
            return self._waits is None

    def drop(self) -> None:
        """What waits is in a newer list."""
        with self._lock:
            self._waits = None

    def take(self, messages: Sequence[Any]) -> None:
        """Takes the list of a finished turn."""
        with self._lock:
            self._waits = list(messages)

    def send(self, *, within: float = PATIENCE) -> bool:
        """Sends what waits; false while the daemon can't be reached."""
        with self._sending:
            with self._lock:
                messages = self._waits
            if messages is None:
                return True
            try:
                self.transcript.add(messages, within=within)
            except Offline:
                self.transcript.link.when_back(self.send)
                return False
            except HermaError as error:
                logger.warning("a turn could not be archived: %s", error.message)
            with self._lock:
                if self._waits is messages:
                    self._waits = None
            return True
