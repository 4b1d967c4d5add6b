"""The memory store and the memory tool."""

from __future__ import annotations

import json
import uuid
import warnings
from typing import TYPE_CHECKING, Any

from ..errors import HermaError, NotFound
from .shared import shared_client

if TYPE_CHECKING:
    from ..blocking.client import Client
    from ..types import Operation, Options, Snapshot, Target, WriteResult

USUAL_PROFILE = "default"


class MemoryStore:
    """MEMORY.md and USER.md of a profile, as an agent of the Hermes family knows them.

    Writes return the dict of the daemon's write result; a refusal has
    ``success: False``. The prompt blocks are frozen by :meth:`load_from_disk`,
    while ``memory_entries`` and ``user_entries`` follow every write that is made
    here.

    The limits (chars) are the daemon's: other ones given here are warned of and
    don't count. With ``session`` the blocks are those that this session froze
    when it was first loaded, in whatever process; without, those of the moment.
    """

    def __init__(
        self,
        memory_char_limit: int = 2200,
        user_char_limit: int = 1375,
        *,
        session: str | None = None,
        agent: str | None = None,
        profile: str | None = None,
        client: Client | None = None,
    ) -> None:
        self.memory_char_limit = memory_char_limit
        self.user_char_limit = user_char_limit
        self.memory_entries: list[str] = []
        self.user_entries: list[str] = []
        self._session = session
        self._agent = agent
        self._options: Options = {"profile": profile}
        self._client = client
        self._blocks: dict[Target, str | None] = {"memory": None, "user": None}
        self._loaded = False

    def load_from_disk(self) -> None:
        """Reads both stores and freezes the prompt blocks; loading again freezes anew.

        Raises :class:`herma.Unreadable` for a file that can't be read, and
        :class:`herma.DaemonUnavailable`.
        """
        snapshot = self._snapshot()
        self._blocks = {"memory": snapshot["memory"], "user": snapshot["user"]}
        self._loaded = True
        self._look()
        self._compare_limits()

    def format_for_system_prompt(self, target: str) -> str | None:
        """The block as it was when it was loaded; ``None`` for an empty store."""
        return self._blocks[_target(target)]

    def add(self, target: str, content: str) -> dict[str, Any]:
        """Appends an entry."""
        result = self._daemon.memory.add(
            target=_target(target), content=content, **self._who, **self._options
        )
        return self._done(result)

    def replace(self, target: str, old_text: str, new_content: str) -> dict[str, Any]:
        """Puts ``new_content`` in the place of the entry that ``old_text`` names."""
        result = self._daemon.memory.replace(
            target=_target(target),
            old_text=old_text,
            content=new_content,
            **self._who,
            **self._options,
        )
        return self._done(result)

    def remove(self, target: str, old_text: str) -> dict[str, Any]:
        """Deletes the entry that ``old_text`` names."""
        result = self._daemon.memory.remove(
            target=_target(target), old_text=old_text, **self._who, **self._options
        )
        return self._done(result)

    def apply_batch(self, target: str, operations: list[Operation]) -> dict[str, Any]:
        """Does all operations or none; only the size after the last one counts."""
        result = self._daemon.memory.batch(
            target=_target(target), operations=operations, **self._who, **self._options
        )
        return self._done(result)

    def apply_tool_call(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Does what a model asked for with the memory tool, its errors being refusals."""
        result = self._daemon.memory.tool(arguments=arguments, **self._who, **self._options)
        return self._done(result)

    @property
    def _daemon(self) -> Client:
        return self._client if self._client is not None else shared_client()

    @property
    def _who(self) -> dict[str, Any]:
        return {"session": self._session, "agent": self._agent}

    def _done(self, result: WriteResult) -> dict[str, Any]:
        self._look()
        return dict(result)

    def _look(self) -> None:
        stores = self._daemon.memory.list(raw=True, **self._options)
        memory, user = stores["memory"], stores["user"]
        self.memory_entries = memory["entries"] if memory else []
        self.user_entries = user["entries"] if user else []

    def _snapshot(self) -> Snapshot:
        session = self._daemon.session
        if self._session is None:
            passing = f"hermes-load-{uuid.uuid4().hex}"
            snapshot = session.open(session=passing, **self._options)["snapshot"]
            session.remove(session=passing, **self._options)
            return snapshot
        if self._loaded:
            return session.refresh(session=self._session, **self._options)
        opened = session.open(session=self._session, agent=self._agent, **self._options)
        return opened["snapshot"]

    def _compare_limits(self) -> None:
        name = self._options.get("profile") or USUAL_PROFILE
        for profile in self._daemon.profile.list()["profiles"]:
            if profile["name"] == name:
                limits = profile["memory_limit"], profile["user_limit"]
                if limits != (self.memory_char_limit, self.user_char_limit):
                    words = (
                        "the daemon's limits of %d and %d chars count; herma/config.toml sets them"
                    )
                    warnings.warn(words % limits, RuntimeWarning, stacklevel=3)
                return
        raise NotFound(f"the daemon has no profile {name!r}")


def memory_tool(
    action: str,
    target: str = "memory",
    content: str | None = None,
    old_text: str | None = None,
    store: MemoryStore | None = None,
    operations: list[dict[str, Any]] | None = None,
) -> str:
    """Does what a model asked for, and gives the JSON text that it reads.

    Whatever is wrong is a refusal in that text, a daemon that can't be reached
    included.
    """
    given = {
        "action": action,
        "target": target,
        "content": content,
        "old_text": old_text,
        "operations": operations,
    }
    if store is None:
        return _text({"success": False, "error": "memory is not available in this session"})
    arguments = {name: value for name, value in given.items() if value is not None}
    try:
        return _text(store.apply_tool_call(arguments))
    except HermaError as error:
        return _text({"success": False, "error": f"memory is not available: {error.message}"})


def _target(target: str) -> Target:
    return "user" if target == "user" else "memory"


def _text(result: dict[str, Any]) -> str:
    return json.dumps(result, ensure_ascii=False)
