"""The methods of `files`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .call import AsyncCaller

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from ... import types as t


class Files:
    """The methods of `files`."""

    def __init__(self, call: AsyncCaller) -> None:
        self._call = call

    async def list(self, *, path: str | None = None, **options: Unpack[t.Options]) -> t.FilesList:
        """Returns the memory files of the profile with their revisions."""
        params: Mapping[str, Any] = {"path": path}
        result: t.FilesList = await self._call("files.list", params, options)
        return result

    async def read(
        self,
        *,
        path: str,
        revision: int | None = None,
        raw: bool | None = None,
        **options: Unpack[t.Options],
    ) -> t.FilesRead:
        """Returns the text of a memory file, also of an earlier revision.

        NotFound if there is none.
        """
        params: Mapping[str, Any] = {"path": path, "revision": revision, "raw": raw}
        result: t.FilesRead = await self._call("files.read", params, options)
        return result

    async def write(
        self,
        *,
        path: str,
        text: str,
        expected_revision: int | None = None,
        session: str | None = None,
        agent: str | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.FilesChange:
        """Creates a memory file or replaces its text; Conflict if it is at another revision."""
        params: Mapping[str, Any] = {
            "path": path,
            "text": text,
            "expected_revision": expected_revision,
            "session": session,
            "agent": agent,
        }
        result: t.FilesChange = await self._call("files.write", params, options)
        return result

    async def delete(
        self,
        *,
        path: str,
        expected_revision: int | None = None,
        session: str | None = None,
        agent: str | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.FilesChange:
        """Removes a memory file, or a folder with everything in it."""
        params: Mapping[str, Any] = {
            "path": path,
            "expected_revision": expected_revision,
            "session": session,
            "agent": agent,
        }
        result: t.FilesChange = await self._call("files.delete", params, options)
        return result

    async def rename(
        self,
        *,
        path: str,
        to: str,
        expected_revision: int | None = None,
        session: str | None = None,
        agent: str | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.FilesChange:
        """Renames a memory file or folder; the new path must not exist."""
        params: Mapping[str, Any] = {
            "path": path,
            "to": to,
            "expected_revision": expected_revision,
            "session": session,
            "agent": agent,
        }
        result: t.FilesChange = await self._call("files.rename", params, options)
        return result

    async def tool(
        self,
        *,
        arguments: Any,
        session: str | None = None,
        agent: str | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.FilesTool:
        """Runs a model's call of the tool `memory_20250818`.

        An invalid call is a refusal, not an error.
        """
        params: Mapping[str, Any] = {"arguments": arguments, "session": session, "agent": agent}
        result: t.FilesTool = await self._call("files.tool", params, options)
        return result

    async def log(
        self,
        *,
        path: str | None = None,
        limit: int | None = None,
        before: int | None = None,
        texts: bool | None = None,
        raw: bool | None = None,
        **options: Unpack[t.Options],
    ) -> t.FilesLog:
        """Returns the changes before revision `before`, newest first.

        `limit` is 1 to 1,000 (50).
        """
        params: Mapping[str, Any] = {
            "path": path,
            "limit": limit,
            "before": before,
            "texts": texts,
            "raw": raw,
        }
        result: t.FilesLog = await self._call("files.log", params, options)
        return result

    async def undo(
        self,
        *,
        path: str | None = None,
        expected_revision: int | None = None,
        session: str | None = None,
        agent: str | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.FilesChange:
        """Undoes the newest change of memory files, which makes a new revision."""
        params: Mapping[str, Any] = {
            "path": path,
            "expected_revision": expected_revision,
            "session": session,
            "agent": agent,
        }
        result: t.FilesChange = await self._call("files.undo", params, options)
        return result

    async def restore(
        self,
        *,
        revision: int,
        path: str | None = None,
        expected_revision: int | None = None,
        session: str | None = None,
        agent: str | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.FilesChange:
        """Restores memory files to a revision; NotFound if it is no longer kept."""
        params: Mapping[str, Any] = {
            "revision": revision,
            "path": path,
            "expected_revision": expected_revision,
            "session": session,
            "agent": agent,
        }
        result: t.FilesChange = await self._call("files.restore", params, options)
        return result
