"""The methods of `output`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .call import Caller

if TYPE_CHECKING:
    from builtins import list as List
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from ... import types as t


class Output:
    """The methods of `output`."""

    def __init__(self, call: Caller) -> None:
        self._call = call

    def admit(
        self,
        *,
        session: str,
        tool: str,
        id: str,
        content: t.Content,
        threshold: t.Size | None = None,
        config: t.OutputConfig | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.OutputAdmit:
        """Stores a tool result if it is large; returns the content for the conversation.

        Sizes are in chars.
        """
        params: Mapping[str, Any] = {
            "session": session,
            "tool": tool,
            "id": id,
            "content": content,
            "threshold": threshold,
            "config": config,
        }
        result: t.OutputAdmit = self._call("output.admit", params, options)
        return result

    def settle_turn(
        self,
        *,
        session: str,
        results: List[t.TurnResult] | None = None,
        messages: List[Any] | None = None,
        config: t.OutputConfig | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.OutputSettleTurn:
        """Spills the largest results of a turn until the rest fits its budget."""
        params: Mapping[str, Any] = {
            "session": session,
            "results": results,
            "messages": messages,
            "config": config,
        }
        result: t.OutputSettleTurn = self._call("output.settle_turn", params, options)
        return result

    def preview(
        self,
        *,
        content: str,
        max: int | None = None,
        tail: int | None = None,
        **options: Unpack[t.Options],
    ) -> t.OutputPreview:
        """Returns the first `max` chars (1,500) and the last `tail` chars (0)."""
        params: Mapping[str, Any] = {"content": content, "max": max, "tail": tail}
        result: t.OutputPreview = self._call("output.preview", params, options)
        return result

    def read(
        self,
        *,
        handle: str | None = None,
        path: str | None = None,
        line: int | None = None,
        lines: int | None = None,
        offset: int | None = None,
        limit: int | None = None,
        tail: int | None = None,
        view: t.View | None = None,
        **options: Unpack[t.Options],
    ) -> t.OutputRead:
        """Returns lines (from 1), chars from `offset`, or the last `tail` lines of an output.

        NotFound says why it is gone.
        """
        params: Mapping[str, Any] = {
            "handle": handle,
            "path": path,
            "line": line,
            "lines": lines,
            "offset": offset,
            "limit": limit,
            "tail": tail,
            "view": view,
        }
        result: t.OutputRead = self._call("output.read", params, options)
        return result

    def search(
        self,
        *,
        query: str,
        regex: bool | None = None,
        handle: str | None = None,
        session: str | None = None,
        context: int | None = None,
        limit: int | None = None,
        **options: Unpack[t.Options],
    ) -> t.OutputSearch:
        """Searches spilled outputs, newest first.

        `context` is lines on each side, `limit` 1 to 1,000 (50).
        """
        params: Mapping[str, Any] = {
            "query": query,
            "regex": regex,
            "handle": handle,
            "session": session,
            "context": context,
            "limit": limit,
        }
        result: t.OutputSearch = self._call("output.search", params, options)
        return result

    def list(
        self,
        *,
        session: str | None = None,
        limit: int | None = None,
        prefix: str | None = None,
        **options: Unpack[t.Options],
    ) -> t.OutputList:
        """Returns outputs, newest first, including expired ones; `limit` is 1 to 100,000 (100)."""
        params: Mapping[str, Any] = {"session": session, "limit": limit, "prefix": prefix}
        result: t.OutputList = self._call("output.list", params, options)
        return result

    def remove(self, *, handle: str, **options: Unpack[t.WriteOptions]) -> t.OutputRemove:
        """Deletes an output; NotFound for one that is unknown or expired."""
        params: Mapping[str, Any] = {"handle": handle}
        result: t.OutputRemove = self._call("output.remove", params, options)
        return result

    def gc(self, *, dry_run: bool | None = None, **options: Unpack[t.WriteOptions]) -> t.OutputGc:
        """Deletes outputs that are too old or exceed the quota now."""
        params: Mapping[str, Any] = {"dry_run": dry_run}
        result: t.OutputGc = self._call("output.gc", params, options)
        return result
