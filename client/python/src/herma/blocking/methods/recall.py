"""The methods of `recall`.

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


class Recall:
    """The methods of `recall`."""

    def __init__(self, call: Caller) -> None:
        self._call = call

    def search(
        self,
        *,
        query: str,
        session: str | None = None,
        kinds: List[t.RecallKind] | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int | None = None,
        scope: t.RecallScope | None = None,
        around: int | None = None,
        prompt_of: str | None = None,
        agent: str | None = None,
        folder: str | None = None,
        **options: Unpack[t.Options],
    ) -> t.RecallSearch:
        """Searches messages, outputs and memory, best match first.

        Times are Unix seconds, `limit` is 1 to 100 (20).
        """
        params: Mapping[str, Any] = {
            "query": query,
            "session": session,
            "kinds": kinds,
            "since": since,
            "until": until,
            "limit": limit,
            "scope": scope,
            "around": around,
            "prompt_of": prompt_of,
            "agent": agent,
            "folder": folder,
        }
        result: t.RecallSearch = self._call("recall.search", params, options)
        return result

    def expand(
        self,
        *,
        handle: str | None = None,
        node: str | None = None,
        before: int | None = None,
        after: int | None = None,
        tokens: int | None = None,
        about: str | None = None,
        messages: bool | None = None,
        **options: Unpack[t.Options],
    ) -> t.RecallExpand:
        """Returns what a handle refers to, with 0 to 100 (2) messages or lines on each side."""
        params: Mapping[str, Any] = {
            "handle": handle,
            "node": node,
            "before": before,
            "after": after,
            "tokens": tokens,
            "about": about,
            "messages": messages,
        }
        result: t.RecallExpand = self._call("recall.expand", params, options)
        return result

    def describe(self, *, session: str, **options: Unpack[t.Options]) -> t.RecallDescribe:
        """Returns what each compression of a session removed."""
        params: Mapping[str, Any] = {"session": session}
        result: t.RecallDescribe = self._call("recall.describe", params, options)
        return result

    def state(
        self,
        *,
        session: str,
        entity: str | None = None,
        limit: int | None = None,
        **options: Unpack[t.Options],
    ) -> t.RecallState:
        """Returns the entities of a session by exact name, with their newest attributes.

        `limit` is 1 to 500 (50).
        """
        params: Mapping[str, Any] = {"session": session, "entity": entity, "limit": limit}
        result: t.RecallState = self._call("recall.state", params, options)
        return result

    def ask(
        self,
        *,
        question: str,
        session: str | None = None,
        node: str | None = None,
        tokens: int | None = None,
        summarizer: str | None = None,
        **options: Unpack[t.Options],
    ) -> t.RecallAsk:
        """Answers a question about a session or a node of its map, with quotations.

        `tokens` of passages are 500 to 60,000 (8,000).
        """
        params: Mapping[str, Any] = {
            "question": question,
            "session": session,
            "node": node,
            "tokens": tokens,
            "summarizer": summarizer,
        }
        result: t.RecallAsk = self._call("recall.ask", params, options)
        return result

    def schema(self, **options: Unpack[t.Options]) -> t.RecallSchema:
        """Returns the function schemas for a model."""
        params: Mapping[str, Any] = {}
        result: t.RecallSchema = self._call("recall.schema", params, options)
        return result
