"""The methods of `context`.

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


class Context:
    """The methods of `context`."""

    def __init__(self, call: AsyncCaller) -> None:
        self._call = call

    async def configure(
        self,
        *,
        session: str,
        model: str | None = None,
        context_length: int | None = None,
        threshold: float | None = None,
        target_ratio: float | None = None,
        protect_first_n: int | None = None,
        protect_last_n: int | None = None,
        summary_model: str | None = None,
        provider: str | None = None,
        base_url: str | None = None,
        api_mode: str | None = None,
        abort_on_summary_failure: bool | None = None,
        engine: str | None = None,
        summarizer: str | None = None,
        redact: bool | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.ContextStatus:
        """Changes the given settings; a session needs `context_length` (tokens) once."""
        params: Mapping[str, Any] = {
            "session": session,
            "model": model,
            "context_length": context_length,
            "threshold": threshold,
            "target_ratio": target_ratio,
            "protect_first_n": protect_first_n,
            "protect_last_n": protect_last_n,
            "summary_model": summary_model,
            "provider": provider,
            "base_url": base_url,
            "api_mode": api_mode,
            "abort_on_summary_failure": abort_on_summary_failure,
            "engine": engine,
            "summarizer": summarizer,
            "redact": redact,
        }
        result: t.ContextStatus = await self._call("context.configure", params, options)
        return result

    async def status(self, *, session: str, **options: Unpack[t.Options]) -> t.ContextStatus:
        """Returns settings and state of a session's engine."""
        params: Mapping[str, Any] = {"session": session}
        result: t.ContextStatus = await self._call("context.status", params, options)
        return result

    async def constants(self, **options: Unpack[t.Options]) -> t.ContextConstants:
        """Returns the literals and numbers that programs match on."""
        params: Mapping[str, Any] = {}
        result: t.ContextConstants = await self._call("context.constants", params, options)
        return result

    async def estimate(
        self,
        *,
        text: str | None = None,
        messages: List[Any] | None = None,
        system_prompt: str | None = None,
        tools: List[Any] | None = None,
        **options: Unpack[t.Options],
    ) -> t.ContextEstimate:
        """Estimates tokens: chars/4, and by script (writing system)."""
        params: Mapping[str, Any] = {
            "text": text,
            "messages": messages,
            "system_prompt": system_prompt,
            "tools": tools,
        }
        result: t.ContextEstimate = await self._call("context.estimate", params, options)
        return result

    async def plan(
        self,
        *,
        messages: List[Any],
        session: str | None = None,
        config: t.ContextSettings | None = None,
        focus: t.TextOrOff | None = None,
        previous_summary: str | None = None,
        today: t.TextOrOff | None = None,
        preview: bool | None = None,
        detail: t.Detail | None = None,
        range: List[int] | None = None,
        **options: Unpack[t.Options],
    ) -> t.ContextPlan:
        """Returns what a compression would do, and changes nothing."""
        params: Mapping[str, Any] = {
            "messages": messages,
            "session": session,
            "config": config,
            "focus": focus,
            "previous_summary": previous_summary,
            "today": today,
            "preview": preview,
            "detail": detail,
            "range": range,
        }
        result: t.ContextPlan = await self._call("context.plan", params, options)
        return result

    async def compress(
        self,
        *,
        session: str,
        messages: List[Any] | None = None,
        current_tokens: int | None = None,
        focus: t.TextOrOff | None = None,
        today: t.TextOrOff | None = None,
        force: bool | None = None,
        overflow: bool | None = None,
        memory_context: str | None = None,
        summarizer: str | None = None,
        reply: t.ReplyForm | None = None,
        mode: t.CompressMode | None = None,
        detail: t.Detail | None = None,
        range: List[int] | None = None,
        place: t.SummaryPlace | None = None,
        target: t.TokensOrConfigured | None = None,
        host: t.Host | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.ContextCompress:
        """Shortens a conversation; Busy while another compression of the session runs."""
        params: Mapping[str, Any] = {
            "session": session,
            "messages": messages,
            "current_tokens": current_tokens,
            "focus": focus,
            "today": today,
            "force": force,
            "overflow": overflow,
            "memory_context": memory_context,
            "summarizer": summarizer,
            "reply": reply,
            "mode": mode,
            "detail": detail,
            "range": range,
            "place": place,
            "target": target,
            "host": host,
        }
        result: t.ContextCompress = await self._call("context.compress", params, options)
        return result

    async def record_usage(
        self,
        *,
        session: str | None = None,
        usage: Any | None = None,
        provider: str | None = None,
        api_mode: str | None = None,
        model: str | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.ContextRecordUsage:
        """Records the usage of a model call, as the provider reported it."""
        params: Mapping[str, Any] = {
            "session": session,
            "usage": usage,
            "provider": provider,
            "api_mode": api_mode,
            "model": model,
        }
        result: t.ContextRecordUsage = await self._call("context.record_usage", params, options)
        return result

    async def check(
        self,
        *,
        session: str,
        tokens: int | None = None,
        messages: List[Any] | None = None,
        system_prompt: str | None = None,
        tools: List[Any] | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.ContextCheck:
        """Returns whether to compress now, and why."""
        params: Mapping[str, Any] = {
            "session": session,
            "tokens": tokens,
            "messages": messages,
            "system_prompt": system_prompt,
            "tools": tools,
        }
        result: t.ContextCheck = await self._call("context.check", params, options)
        return result

    async def reset(self, *, session: str, **options: Unpack[t.WriteOptions]) -> t.ContextStatus:
        """Clears the engine's state of a session."""
        params: Mapping[str, Any] = {"session": session}
        result: t.ContextStatus = await self._call("context.reset", params, options)
        return result

    async def resume(
        self,
        *,
        ticket: str,
        summary: str | None = None,
        error: t.SummaryError | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.ContextCompress:
        """Continues a compression that needed a summary.

        NotFound for a ticket that was already used.
        """
        params: Mapping[str, Any] = {"ticket": ticket, "summary": summary, "error": error}
        result: t.ContextCompress = await self._call("context.resume", params, options)
        return result

    async def compact_ahead(
        self,
        *,
        session: str,
        focus: t.TextOrOff | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.ContextCompactAhead:
        """Compresses the appended transcript in the background."""
        params: Mapping[str, Any] = {"session": session, "focus": focus}
        result: t.ContextCompactAhead = await self._call("context.compact_ahead", params, options)
        return result

    async def classify_error(
        self,
        *,
        text: str,
        status: int | None = None,
        current: int | None = None,
        session: str | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.ContextClassifyError:
        """Classifies a provider's error; `current` is the window in tokens."""
        params: Mapping[str, Any] = {
            "text": text,
            "status": status,
            "current": current,
            "session": session,
        }
        result: t.ContextClassifyError = await self._call("context.classify_error", params, options)
        return result

    async def cache_control(
        self,
        *,
        messages: List[Any],
        ttl: t.CacheTtl | None = None,
        native: bool | None = None,
        **options: Unpack[t.Options],
    ) -> t.ContextCacheControl:
        """Marks at most four messages for a prompt cache."""
        params: Mapping[str, Any] = {"messages": messages, "ttl": ttl, "native": native}
        result: t.ContextCacheControl = await self._call("context.cache_control", params, options)
        return result

    async def manual(
        self,
        *,
        text: str | None = None,
        history: List[Any] | None = None,
        keep: int | None = None,
        head: List[Any] | None = None,
        tail: List[Any] | None = None,
        before: List[Any] | None = None,
        after: List[Any] | None = None,
        tokens_before: int | None = None,
        tokens_after: int | None = None,
        **options: Unpack[t.Options],
    ) -> t.ContextManual:
        """Helps with a typed command.

        Parses it, splits or rejoins a list, or describes the outcome.
        """
        params: Mapping[str, Any] = {
            "text": text,
            "history": history,
            "keep": keep,
            "head": head,
            "tail": tail,
            "before": before,
            "after": after,
            "tokens_before": tokens_before,
            "tokens_after": tokens_after,
        }
        result: t.ContextManual = await self._call("context.manual", params, options)
        return result

    async def tools(
        self,
        *,
        session: str,
        tools: List[Any],
        budget: int | None = None,
        open: List[str] | None = None,
        **options: Unpack[t.Options],
    ) -> t.ContextTools:
        """Chooses tools by their use, under a budget of tokens.

        Returns the calls and the cost of each.
        """
        params: Mapping[str, Any] = {
            "session": session,
            "tools": tools,
            "budget": budget,
            "open": open,
        }
        result: t.ContextTools = await self._call("context.tools", params, options)
        return result

    async def undo(
        self,
        *,
        session: str,
        generation: int | None = None,
        messages: List[Any] | None = None,
        dry_run: bool | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.ContextUndo:
        """Restores the list from before a compression, followed by the messages since then."""
        params: Mapping[str, Any] = {
            "session": session,
            "generation": generation,
            "messages": messages,
            "dry_run": dry_run,
        }
        result: t.ContextUndo = await self._call("context.undo", params, options)
        return result

    async def pin(
        self,
        *,
        session: str,
        position: int | None = None,
        handle: str | None = None,
        message: Any | None = None,
        until: float | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.Pin:
        """Keeps a message and its pair in the list through compressions."""
        params: Mapping[str, Any] = {
            "session": session,
            "position": position,
            "handle": handle,
            "message": message,
            "until": until,
        }
        result: t.Pin = await self._call("context.pin", params, options)
        return result

    async def pins(self, *, session: str, **options: Unpack[t.Options]) -> t.ContextPins:
        """Returns a session's pinned messages, oldest first."""
        params: Mapping[str, Any] = {"session": session}
        result: t.ContextPins = await self._call("context.pins", params, options)
        return result

    async def unpin(self, *, session: str, id: str, **options: Unpack[t.WriteOptions]) -> t.Empty:
        """Unpins a message, so that compressions may remove it again."""
        params: Mapping[str, Any] = {"session": session, "id": id}
        result: t.Empty = await self._call("context.unpin", params, options)
        return result

    async def discard(
        self,
        *,
        session: str,
        positions: List[int] | None = None,
        handles: List[str] | None = None,
        calls: List[str] | None = None,
        messages: List[Any] | None = None,
        reason: str | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.ContextDiscard:
        """Marks outputs as no longer needed: the next compression reduces each to one line."""
        params: Mapping[str, Any] = {
            "session": session,
            "positions": positions,
            "handles": handles,
            "calls": calls,
            "messages": messages,
            "reason": reason,
        }
        result: t.ContextDiscard = await self._call("context.discard", params, options)
        return result

    async def episode(
        self,
        *,
        session: str,
        action: t.EpisodeAction,
        title: str,
        outcome: str | None = None,
        messages: List[Any] | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.ContextEpisode:
        """Opens or closes a sub-task. The next compression removes the messages of a closed one."""
        params: Mapping[str, Any] = {
            "session": session,
            "action": action,
            "title": title,
            "outcome": outcome,
            "messages": messages,
        }
        result: t.ContextEpisode = await self._call("context.episode", params, options)
        return result

    async def schema(self, **options: Unpack[t.Options]) -> t.ContextSchema:
        """Returns the function schemas for discarding outputs, and opening or closing episodes."""
        params: Mapping[str, Any] = {}
        result: t.ContextSchema = await self._call("context.schema", params, options)
        return result

    async def open(
        self,
        *,
        session: str,
        node: str,
        messages: List[Any] | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.ContextOpen:
        """Puts the messages of a node back into the list, word for word."""
        params: Mapping[str, Any] = {"session": session, "node": node, "messages": messages}
        result: t.ContextOpen = await self._call("context.open", params, options)
        return result

    async def fold(
        self,
        *,
        session: str,
        node: str | None = None,
        messages: List[Any] | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.ContextFold:
        """Removes opened nodes from the list; the next compression removes them too."""
        params: Mapping[str, Any] = {"session": session, "node": node, "messages": messages}
        result: t.ContextFold = await self._call("context.fold", params, options)
        return result
