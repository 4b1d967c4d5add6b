"""Every method of the wire.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .constraint import Constraint
from .context import Context
from .files import Files
from .guard import Guard
from .ledger import Ledger
from .memory import Memory
from .output import Output
from .profile import Profile
from .recall import Recall
from .session import Session
from .shared import Shared
from .trajectory import Trajectory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from ... import types as t


class Methods:
    """Every method of the wire."""

    def __init__(self) -> None:
        self.constraint = Constraint(self._call)
        self.context = Context(self._call)
        self.files = Files(self._call)
        self.guard = Guard(self._call)
        self.ledger = Ledger(self._call)
        self.memory = Memory(self._call)
        self.output = Output(self._call)
        self.profile = Profile(self._call)
        self.recall = Recall(self._call)
        self.session = Session(self._call)
        self.shared = Shared(self._call)
        self.trajectory = Trajectory(self._call)

    async def _call(
        self,
        method: str,
        params: Mapping[str, Any],
        options: Mapping[str, Any],
    ) -> Any:
        raise NotImplementedError

    async def hello(
        self,
        *,
        client: str | None = None,
        protocol: int | None = None,
        **options: Unpack[t.Options],
    ) -> t.Hello:
        """Returns the daemon's identity and limits."""
        params: Mapping[str, Any] = {"client": client, "protocol": protocol}
        result: t.Hello = await self._call("hello", params, options)
        return result

    async def ping(self, **options: Unpack[t.Options]) -> t.Empty:
        """Checks that the daemon responds."""
        params: Mapping[str, Any] = {}
        result: t.Empty = await self._call("ping", params, options)
        return result

    async def status(self, **options: Unpack[t.Options]) -> t.Status:
        """Returns the daemon's state: requests, sessions, stores, outputs, archive."""
        params: Mapping[str, Any] = {}
        result: t.Status = await self._call("status", params, options)
        return result

    async def shutdown(
        self,
        *,
        drain_ms: int | None = None,
        **options: Unpack[t.Options],
    ) -> t.Empty:
        """Stops the daemon; requests in flight have `drain_ms` milliseconds (10,000) to finish."""
        params: Mapping[str, Any] = {"drain_ms": drain_ms}
        result: t.Empty = await self._call("shutdown", params, options)
        return result
