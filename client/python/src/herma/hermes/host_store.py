"""The host's memory store, with the daemon as its only writer."""

from __future__ import annotations

import logging
import weakref
from typing import Any, Callable

from ..errors import HermaError, InvalidParams, NotFound
from . import host
from .conversation import AGENT
from .link import UNCERTAIN, Link, Offline, shared_link
from .settings import PluginSettings

MARK = "_is_of_herma"

logger = logging.getLogger("herma.hermes")


def store_class(base: type[Any], settings: PluginSettings) -> type[Any]:
    """A kind of the host's own store class; the class itself when it is one already.

    Changes and prompt blocks are the daemon's. While it can't be reached the store does what
    the host's own does, under the same locks, and the daemon takes that for an edit by hand.
    """
    if getattr(base, MARK, False):
        return base

    class HermaMemoryStore(base):  # type: ignore[misc]
        """MEMORY.md and USER.md, kept by herma."""

        _is_of_herma = True

        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            self._herma_agent = _weak(host.calling_agent())
            self._herma_has_loaded = False
            self._herma_told_episode = 0

        def load_from_disk(self) -> None:
            """Reads both stores, and freezes the blocks of this session's prompt."""
            super().load_from_disk()
            with _link(settings).turn():
                self._herma_freeze()

        def _herma_freeze(self) -> None:
            snapshot = self._herma_ask(self._herma_snapshot)
            if snapshot is not None:
                blocks = {name: snapshot[name] or "" for name in ("memory", "user")}
                self._system_prompt_snapshot = blocks
                self._herma_has_loaded = True
            self._herma_look()

        def add(self, target: str, content: str) -> dict[str, Any]:
            """Appends an entry."""
            return self._herma_write("add", super().add, target, content, names=("content",))

        def replace(self, target: str, old_text: str, new_content: str) -> dict[str, Any]:
            """Puts a text in the place of the entry that ``old_text`` names."""
            names = ("old_text", "content")
            return self._herma_write(
                "replace", super().replace, target, old_text, new_content, names=names
            )

        def remove(self, target: str, old_text: str) -> dict[str, Any]:
            """Deletes the entry that ``old_text`` names."""
            return self._herma_write(
                "remove", super().remove, target, old_text, names=("old_text",)
            )

        def apply_batch(self, target: str, operations: list[dict[str, Any]]) -> dict[str, Any]:
            """Does all operations or none."""
            own = getattr(super(), "apply_batch", _no_batch)
            return self._herma_write("batch", own, target, operations, names=("operations",))

        def _herma_write(
            self,
            action: str,
            own: Callable[..., Any],
            target: str,
            *args: Any,
            names: tuple[str, ...],
        ) -> dict[str, Any]:
            given = dict(zip(names, args))
            try:
                link = _link(settings)
                link.try_back()
                result: dict[str, Any] = link.call(
                    f"memory.{action}", target=_target(target), **given, **self._herma_who()
                )
            except Offline as error:
                self._herma_tell(error)
                if not _is_certain(error):
                    words = "whether the change was made is not known; look before you repeat it"
                    return {"success": False, "error": words}
                done: dict[str, Any] = own(target, *args)
                return done
            except InvalidParams as error:
                return {"success": False, "error": error.message}
            except HermaError as error:
                return {"success": False, "error": f"memory is not available: {error.message}"}
            self._herma_look()
            return result

        def _herma_look(self) -> None:
            stores = self._herma_ask(lambda link: link.call("memory.list", raw=True))
            if stores is not None:
                self.memory_entries = list((stores.get("memory") or {}).get("entries") or [])
                self.user_entries = list((stores.get("user") or {}).get("entries") or [])

        def _herma_snapshot(self, link: Link) -> Any:
            session = self._herma_session()
            if session is None:
                return None
            if self._herma_has_loaded:
                try:
                    return link.call("session.refresh", session=session)
                except NotFound:
                    pass  # The host's session is another one by now, which was not opened yet.
            return link.call("session.open", session=session, agent=AGENT)["snapshot"]

        def _herma_ask(self, question: Callable[[Link], Any]) -> Any | None:
            """What the daemon says; ``None`` where the host's own way has to do."""
            try:
                return question(_link(settings))
            except Offline as error:
                self._herma_tell(error)
            except HermaError as error:
                logger.warning("the host's own memory is shown: %s", error.message)
            return None

        def _herma_session(self) -> str | None:
            """The daemon's session: the engine knows it, else it has the host's name."""
            agent = self._herma_agent() or host.calling_agent()
            return daemon_session(agent)

        def _herma_who(self) -> dict[str, Any]:
            return {"session": self._herma_session(), "agent": AGENT}

        def _herma_tell(self, error: Offline) -> None:
            link = _link(settings)
            if link.episode > self._herma_told_episode:
                self._herma_told_episode = link.episode
                logger.warning("memory goes on without the daemon: %s", error.message)

    HermaMemoryStore.__qualname__ = HermaMemoryStore.__name__
    return HermaMemoryStore


def daemon_session(agent: Any | None) -> str | None:
    """The daemon's session of an agent: its engine knows it, else it has the host's name."""
    engine = getattr(agent, "context_compressor", None)
    is_own = getattr(engine, "name", None) == "herma"
    own = getattr(engine, "session_id", None) if is_own else None
    return own or host.session_of(agent)


def _weak(agent: Any | None) -> Callable[[], Any | None]:
    try:
        return weakref.ref(agent) if agent is not None else lambda: None
    except TypeError:
        return lambda: None


def _link(settings: PluginSettings) -> Link:
    return shared_link(host.place(), settings.timeout)


def _target(target: str) -> str:
    return "user" if target == "user" else "memory"


def _is_certain(error: Offline) -> bool:
    """Whether the daemon has surely not done what it was asked for."""
    return not isinstance(error.__cause__, UNCERTAIN)


def _no_batch(target: str, operations: Any) -> dict[str, Any]:
    return {"success": False, "error": "this host makes one change at a time"}
