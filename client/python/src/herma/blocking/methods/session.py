"""The methods of `session`.

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


class Session:
    """The methods of `session`."""

    def __init__(self, call: Caller) -> None:
        self._call = call

    def open(
        self,
        *,
        session: str,
        agent: str | None = None,
        parent: str | None = None,
        title: str | None = None,
        model: str | None = None,
        context_length: int | None = None,
        host_bound: bool | None = None,
        cwd: str | None = None,
        branch: str | None = None,
        captured: bool | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.SessionOpen:
        """Opens a session. Its snapshot never changes afterwards; `context_length` is in tokens."""
        params: Mapping[str, Any] = {
            "session": session,
            "agent": agent,
            "parent": parent,
            "title": title,
            "model": model,
            "context_length": context_length,
            "host_bound": host_bound,
            "cwd": cwd,
            "branch": branch,
            "captured": captured,
        }
        result: t.SessionOpen = self._call("session.open", params, options)
        return result

    def snapshot(self, *, session: str, **options: Unpack[t.Options]) -> t.Snapshot:
        """Returns the frozen snapshot of a session; NotFound for one that was never opened."""
        params: Mapping[str, Any] = {"session": session}
        result: t.Snapshot = self._call("session.snapshot", params, options)
        return result

    def close(
        self,
        *,
        session: str,
        reason: str | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.Empty:
        """Closes a session."""
        params: Mapping[str, Any] = {"session": session, "reason": reason}
        result: t.Empty = self._call("session.close", params, options)
        return result

    def refresh(self, *, session: str, **options: Unpack[t.WriteOptions]) -> t.Snapshot:
        """Freezes a new snapshot of both stores."""
        params: Mapping[str, Any] = {"session": session}
        result: t.Snapshot = self._call("session.refresh", params, options)
        return result

    def append(
        self,
        *,
        session: str,
        generation: int,
        position: int,
        messages: List[Any],
        **options: Unpack[t.WriteOptions],
    ) -> t.SessionAppend:
        """Archives messages for recall.

        `position` is that of the first one, from 0; Conflict says where to continue.
        """
        params: Mapping[str, Any] = {
            "session": session,
            "generation": generation,
            "position": position,
            "messages": messages,
        }
        result: t.SessionAppend = self._call("session.append", params, options)
        return result

    def list(
        self,
        *,
        limit: int | None = None,
        before: float | None = None,
        raw: bool | None = None,
        agent: str | None = None,
        folder: str | None = None,
        branch: str | None = None,
        since: float | None = None,
        text: str | None = None,
        prefix: str | None = None,
        **options: Unpack[t.Options],
    ) -> t.SessionList:
        """Returns sessions, newest root first.

        `before` is a `started_at`, `limit` 1 to 1,000 (50).
        """
        params: Mapping[str, Any] = {
            "limit": limit,
            "before": before,
            "raw": raw,
            "agent": agent,
            "folder": folder,
            "branch": branch,
            "since": since,
            "text": text,
            "prefix": prefix,
        }
        result: t.SessionList = self._call("session.list", params, options)
        return result

    def show(self, *, session: str, **options: Unpack[t.Options]) -> t.SessionRow:
        """Returns one session; NotFound for one that was never opened."""
        params: Mapping[str, Any] = {"session": session}
        result: t.SessionRow = self._call("session.show", params, options)
        return result

    def messages(
        self,
        *,
        session: str,
        first: int | None = None,
        limit: int | None = None,
        roles: List[str] | None = None,
        whole: bool | None = None,
        **options: Unpack[t.Options],
    ) -> t.SessionMessages:
        """Returns a page of the messages of a session, oldest first.

        `first` below 0 counts from the end, `limit` is 1 to 1,000 (50).
        """
        params: Mapping[str, Any] = {
            "session": session,
            "first": first,
            "limit": limit,
            "roles": roles,
            "whole": whole,
        }
        result: t.SessionMessages = self._call("session.messages", params, options)
        return result

    def tip(self, *, session: str, **options: Unpack[t.Options]) -> t.SessionId:
        """Returns the newest session in this session's chain of compressions."""
        params: Mapping[str, Any] = {"session": session}
        result: t.SessionId = self._call("session.tip", params, options)
        return result

    def resume_target(self, *, session: str, **options: Unpack[t.Options]) -> t.SessionId:
        """Returns the session with messages in which this one continues."""
        params: Mapping[str, Any] = {"session": session}
        result: t.SessionId = self._call("session.resume_target", params, options)
        return result

    def next_title(self, *, title: str, **options: Unpack[t.Options]) -> t.SessionNextTitle:
        """Returns the title for a continuation: `base #N`."""
        params: Mapping[str, Any] = {"title": title}
        result: t.SessionNextTitle = self._call("session.next_title", params, options)
        return result

    def update(
        self,
        *,
        session: str,
        title: str | None = None,
        model: str | None = None,
        context_length: int | None = None,
        cwd: str | None = None,
        branch: str | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.Empty:
        """Sets the title, model, window, folder and branch of a session.

        NotFound for one that was never opened.
        """
        params: Mapping[str, Any] = {
            "session": session,
            "title": title,
            "model": model,
            "context_length": context_length,
            "cwd": cwd,
            "branch": branch,
        }
        result: t.Empty = self._call("session.update", params, options)
        return result

    def lock(
        self,
        *,
        session: str,
        holder: str,
        ttl_s: float | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.SessionLock:
        """Takes the lock of a session for `ttl_s` seconds (300).

        With 0 it ends with the connection.
        """
        params: Mapping[str, Any] = {"session": session, "holder": holder, "ttl_s": ttl_s}
        result: t.SessionLock = self._call("session.lock", params, options)
        return result

    def unlock(
        self,
        *,
        session: str,
        holder: str,
        **options: Unpack[t.WriteOptions],
    ) -> t.SessionLock:
        """Releases the lock of a session if `holder` holds it."""
        params: Mapping[str, Any] = {"session": session, "holder": holder}
        result: t.SessionLock = self._call("session.unlock", params, options)
        return result

    def lock_holder(self, *, session: str, **options: Unpack[t.Options]) -> t.SessionLockHolder:
        """Returns the holder of a session's lock."""
        params: Mapping[str, Any] = {"session": session}
        result: t.SessionLockHolder = self._call("session.lock_holder", params, options)
        return result

    def remove(self, *, session: str, **options: Unpack[t.WriteOptions]) -> t.SessionRemove:
        """Deletes a session with its messages and outputs.

        NotFound for one that was never opened.
        """
        params: Mapping[str, Any] = {"session": session}
        result: t.SessionRemove = self._call("session.remove", params, options)
        return result

    def usage(
        self,
        *,
        session: str | None = None,
        since: float | None = None,
        by: t.UsageBy | None = None,
        **options: Unpack[t.Options],
    ) -> t.SessionUsage:
        """Adds up the tokens of model calls since a Unix time."""
        params: Mapping[str, Any] = {"session": session, "since": since, "by": by}
        result: t.SessionUsage = self._call("session.usage", params, options)
        return result

    def import_(
        self,
        *,
        session: str,
        position: int,
        messages: List[Any],
        agent: str | None = None,
        source: str | None = None,
        cwd: str | None = None,
        parent: str | None = None,
        title: str | None = None,
        model: str | None = None,
        context_length: int | None = None,
        branch: str | None = None,
        times: List[float | None] | None = None,
        calls: List[t.LedgerCall] | None = None,
        redact: bool | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.SessionImport:
        """Imports another program's conversation as a closed session; times are Unix seconds."""
        params: Mapping[str, Any] = {
            "session": session,
            "agent": agent,
            "source": source,
            "cwd": cwd,
            "parent": parent,
            "title": title,
            "model": model,
            "context_length": context_length,
            "branch": branch,
            "position": position,
            "messages": messages,
            "times": times,
            "calls": calls,
            "redact": redact,
        }
        result: t.SessionImport = self._call("session.import", params, options)
        return result
