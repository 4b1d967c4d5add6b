"""The methods of `ledger`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .call import AsyncCaller

if TYPE_CHECKING:
    from builtins import list as List
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from ... import types as t


class Ledger:
    """The methods of `ledger`."""

    def __init__(self, call: AsyncCaller) -> None:
        self._call = call

    async def record(
        self,
        *,
        session: str,
        calls: List[t.LedgerCall] | None = None,
        changes: List[t.LedgerChange] | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.LedgerRecord:
        """Records model calls and changes of the window.

        Times are Unix seconds, counts are tokens.
        """
        params: Mapping[str, Any] = {"session": session, "calls": calls, "changes": changes}
        result: t.LedgerRecord = await self._call("ledger.record", params, options)
        return result

    async def read(
        self,
        *,
        session: str | None = None,
        since: float | None = None,
        by: t.UsageBy | None = None,
        agents: bool | None = None,
        **options: Unpack[t.Options],
    ) -> t.LedgerRead:
        """Adds up herma's changes of windows. Costs are in tokens of plain input."""
        params: Mapping[str, Any] = {"session": session, "since": since, "by": by, "agents": agents}
        result: t.LedgerRead = await self._call("ledger.read", params, options)
        return result
