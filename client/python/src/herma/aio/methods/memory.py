"""The methods of `memory`.

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


class Memory:
    """The methods of `memory`."""

    def __init__(self, call: AsyncCaller) -> None:
        self._call = call

    async def add(
        self,
        *,
        target: t.Target,
        content: str,
        session: str | None = None,
        agent: str | None = None,
        expected_revision: int | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.WriteResult:
        """Appends an entry; one that already exists is a success."""
        params: Mapping[str, Any] = {
            "target": target,
            "content": content,
            "session": session,
            "agent": agent,
            "expected_revision": expected_revision,
        }
        result: t.WriteResult = await self._call("memory.add", params, options)
        return result

    async def replace(
        self,
        *,
        target: t.Target,
        old_text: str,
        content: str,
        session: str | None = None,
        agent: str | None = None,
        expected_revision: int | None = None,
        allow_drift: bool | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.WriteResult:
        """Replaces the entry that `old_text` names with `content`."""
        params: Mapping[str, Any] = {
            "target": target,
            "old_text": old_text,
            "content": content,
            "session": session,
            "agent": agent,
            "expected_revision": expected_revision,
            "allow_drift": allow_drift,
        }
        result: t.WriteResult = await self._call("memory.replace", params, options)
        return result

    async def remove(
        self,
        *,
        target: t.Target,
        old_text: str,
        session: str | None = None,
        agent: str | None = None,
        expected_revision: int | None = None,
        allow_drift: bool | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.WriteResult:
        """Deletes the entry that `old_text` names."""
        params: Mapping[str, Any] = {
            "target": target,
            "old_text": old_text,
            "session": session,
            "agent": agent,
            "expected_revision": expected_revision,
            "allow_drift": allow_drift,
        }
        result: t.WriteResult = await self._call("memory.remove", params, options)
        return result

    async def batch(
        self,
        *,
        target: t.Target,
        operations: List[t.Operation],
        allow_empty: bool | None = None,
        session: str | None = None,
        agent: str | None = None,
        expected_revision: int | None = None,
        allow_drift: bool | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.WriteResult:
        """Does up to 1,000 operations: all of them or none."""
        params: Mapping[str, Any] = {
            "target": target,
            "operations": operations,
            "allow_empty": allow_empty,
            "session": session,
            "agent": agent,
            "expected_revision": expected_revision,
            "allow_drift": allow_drift,
        }
        result: t.WriteResult = await self._call("memory.batch", params, options)
        return result

    async def list(
        self,
        *,
        target: t.Target | None = None,
        raw: bool | None = None,
        **options: Unpack[t.Options],
    ) -> t.MemoryList:
        """Returns the entries; `raw` also returns blocked ones, for people."""
        params: Mapping[str, Any] = {"target": target, "raw": raw}
        result: t.MemoryList = await self._call("memory.list", params, options)
        return result

    async def tool(
        self,
        *,
        arguments: Any,
        session: str | None = None,
        agent: str | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.WriteResult:
        """Runs a model's call of the `memory` tool; an invalid call is a refusal, not an error."""
        params: Mapping[str, Any] = {"arguments": arguments, "session": session, "agent": agent}
        result: t.WriteResult = await self._call("memory.tool", params, options)
        return result

    async def schema(self, **options: Unpack[t.Options]) -> t.MemorySchema:
        """Returns the function schema and a paragraph for the system prompt."""
        params: Mapping[str, Any] = {}
        result: t.MemorySchema = await self._call("memory.schema", params, options)
        return result

    async def log(
        self,
        *,
        target: t.Target | None = None,
        limit: int | None = None,
        before: int | None = None,
        since: float | None = None,
        until: float | None = None,
        raw: bool | None = None,
        **options: Unpack[t.Options],
    ) -> t.MemoryLog:
        """Returns the changes before revision `before`, newest first.

        `limit` is 1 to 1,000 (50).
        """
        params: Mapping[str, Any] = {
            "target": target,
            "limit": limit,
            "before": before,
            "since": since,
            "until": until,
            "raw": raw,
        }
        result: t.MemoryLog = await self._call("memory.log", params, options)
        return result

    async def undo(
        self,
        *,
        target: t.Target,
        session: str | None = None,
        agent: str | None = None,
        expected_revision: int | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.WriteResult:
        """Makes the text before the newest revision a new revision."""
        params: Mapping[str, Any] = {
            "target": target,
            "session": session,
            "agent": agent,
            "expected_revision": expected_revision,
        }
        result: t.WriteResult = await self._call("memory.undo", params, options)
        return result

    async def restore(
        self,
        *,
        target: t.Target,
        revision: int,
        session: str | None = None,
        agent: str | None = None,
        expected_revision: int | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.WriteResult:
        """Makes the text of an earlier revision a new revision.

        NotFound if it is no longer kept.
        """
        params: Mapping[str, Any] = {
            "target": target,
            "revision": revision,
            "session": session,
            "agent": agent,
            "expected_revision": expected_revision,
        }
        result: t.WriteResult = await self._call("memory.restore", params, options)
        return result

    async def pending(self, **options: Unpack[t.Options]) -> t.MemoryPending:
        """Returns the writes that wait for approval, oldest first."""
        params: Mapping[str, Any] = {}
        result: t.MemoryPending = await self._call("memory.pending", params, options)
        return result

    async def approve(
        self,
        *,
        ids: List[str] | None = None,
        all: bool | None = None,
        session: str | None = None,
        agent: str | None = None,
        content: str | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.MemoryApprove:
        """Approves waiting writes; NotFound for an unknown id, and then nothing is done."""
        params: Mapping[str, Any] = {
            "ids": ids,
            "all": all,
            "session": session,
            "agent": agent,
            "content": content,
        }
        result: t.MemoryApprove = await self._call("memory.approve", params, options)
        return result

    async def reject(
        self,
        *,
        ids: List[str] | None = None,
        all: bool | None = None,
        session: str | None = None,
        agent: str | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.MemoryReject:
        """Discards waiting writes; NotFound for an unknown id, and then nothing is done."""
        params: Mapping[str, Any] = {"ids": ids, "all": all, "session": session, "agent": agent}
        result: t.MemoryReject = await self._call("memory.reject", params, options)
        return result

    async def queued(self, **options: Unpack[t.Options]) -> t.MemoryQueued:
        """Returns the writes that wait here until the shared database is back, oldest first."""
        params: Mapping[str, Any] = {}
        result: t.MemoryQueued = await self._call("memory.queued", params, options)
        return result

    async def revert(
        self,
        *,
        target: t.Target,
        revision: int,
        session: str | None = None,
        agent: str | None = None,
        expected_revision: int | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.WriteResult:
        """Reverts one change and keeps the later ones; NotFound if it is no longer kept."""
        params: Mapping[str, Any] = {
            "target": target,
            "revision": revision,
            "session": session,
            "agent": agent,
            "expected_revision": expected_revision,
        }
        result: t.WriteResult = await self._call("memory.revert", params, options)
        return result
