"""The memory tool of Anthropic's API, on the files that the daemon keeps.

:class:`MemoryTool` and :class:`AsyncMemoryTool` are what the SDK's tool runner takes::

    import anthropic
    from herma.anthropic import MemoryTool

    runner = anthropic.Anthropic().beta.messages.tool_runner(
        model="claude-sonnet-5-5",
        max_tokens=2000,
        messages=[{"role": "user", "content": "Remember that I like tea."}],
        tools=[MemoryTool()],
    )
    runner.until_done()

Every command is done by the daemon (``files.tool``): on the disk when it is answered, journalled,
and safe beside other programs that do the same. What can't be done is a ``ToolError`` in words for
a model, whatever the reason.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

try:
    from anthropic.lib.tools import ToolError
    from anthropic.tools.memory import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
except ImportError as error:
    raise ImportError(
        "herma.anthropic needs Anthropic's SDK with its memory tool: pip install 'anthropic>=2'"
    ) from error

from .aio.client import AsyncClient
from .blocking.client import Client
from .errors import (
    Busy,
    Cancelled,
    DaemonUnavailable,
    DeadlineExceeded,
    NotFound,
    OutcomeUnknown,
    PermissionDenied,
    StorageFailed,
    StorageFull,
    TooLarge,
    Unavailable,
    Unreadable,
)

if TYPE_CHECKING:
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

__all__ = ["AsyncMemoryTool", "MemoryTool", "ToolError"]

TIMEOUT = 60.0
"""Seconds that a command may take: a model waits for it."""

COMMANDS = frozenset({"view", "create", "str_replace", "insert", "delete", "rename"})
"""What the SDK knows a method for; of anything else the daemon says what is wrong with it."""

ROOT = "/memories"

_log = logging.getLogger(__name__)

_REASONS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str], ...] = (
    (OutcomeUnknown, "whether the change was made is not known: view the file before a repeat"),
    (DaemonUnavailable, "the program that keeps it can't be reached"),
    ((DeadlineExceeded, Busy, Cancelled), "it took too long; try again in a moment"),
    (StorageFull, "the disk is full"),
    ((PermissionDenied, StorageFailed, Unreadable), "its files can't be read or written"),
    (TooLarge, "that was too long"),
    (Unavailable, "it is not in use"),
    (NotFound, "there is no profile of that name"),
    (UnicodeError, "the text has half of a character in it"),
)


class MemoryTool(BetaAbstractMemoryTool):
    """The memory tool for programs that wait.

    ``client`` is used as it is; without one the tool makes a client of its own, which
    :meth:`close` closes. ``profile`` is whose files are meant.
    ``session`` and ``agent`` are what the journal says of who wrote.
    """

    def __init__(
        self,
        client: Client | None = None,
        *,
        profile: str | None = None,
        session: str | None = None,
        agent: str | None = "anthropic",
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.client = client if client is not None else Client(timeout=TIMEOUT)
        self._owns_client = client is None
        self._who = _Who(profile, session, agent)

    def close(self) -> None:
        """Closes the client that the tool made for itself."""
        if self._owns_client:
            self.client.close()

    def call(self, input: object) -> Any:
        """Does what the model asked for, whatever that is."""
        if not _is_known(input):
            return self._ask(input)
        try:
            return super().call(input)
        except ToolError:
            raise
        except Exception as error:
            raise _failed(error) from None

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Shows a file with the numbers of its lines, or what is in a folder."""
        return self._ask(command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Makes a file; one that is there stays as it is."""
        return self._ask(command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replaces a text that is in a file exactly once."""
        return self._ask(command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Puts lines behind a line of a file, 0 for its beginning."""
        return self._ask(command)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Removes a file, or a folder with all that is in it."""
        return self._ask(command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Gives a file or folder another name, which must be free."""
        return self._ask(command)

    def clear_all_memory(self) -> str:
        """Removes all files. ``herma files undo`` and ``restore`` bring them back."""
        try:
            listed = self.client.files.list(profile=self._who.profile)
            for path in _outermost(listed):
                self.client.files.delete(path=path, **self._who.params())
        except Exception as error:
            raise _failed(error) from None
        return "All memory cleared"

    def _ask(self, command: object) -> str:
        try:
            result = self.client.files.tool(arguments=_arguments(command), **self._who.params())
        except Exception as error:
            raise _failed(error) from None
        return _told(result)


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for asyncio; as :class:`MemoryTool`."""

    def __init__(
        self,
        client: AsyncClient | None = None,
        *,
        profile: str | None = None,
        session: str | None = None,
        agent: str | None = "anthropic",
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.client = client if client is not None else AsyncClient(timeout=TIMEOUT)
        self._owns_client = client is None
        self._who = _Who(profile, session, agent)

    async def close(self) -> None:
        """Closes the client that the tool made for itself."""
        if self._owns_client:
            await self.client.close()

    async def call(self, input: object) -> Any:
        """Does what the model asked for, whatever that is."""
        if not _is_known(input):
            return await self._ask(input)
        try:
            return await super().call(input)
        except ToolError:
            raise
        except Exception as error:
            raise _failed(error) from None

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Shows a file with the numbers of its lines, or what is in a folder."""
        return await self._ask(command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Makes a file; one that is there stays as it is."""
        return await self._ask(command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replaces a text that is in a file exactly once."""
        return await self._ask(command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Puts lines behind a line of a file, 0 for its beginning."""
        return await self._ask(command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Removes a file, or a folder with all that is in it."""
        return await self._ask(command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Gives a file or folder another name, which must be free."""
        return await self._ask(command)

    async def clear_all_memory(self) -> str:
        """Removes all files. ``herma files undo`` and ``restore`` bring them back."""
        try:
            listed = await self.client.files.list(profile=self._who.profile)
            for path in _outermost(listed):
                await self.client.files.delete(path=path, **self._who.params())
        except Exception as error:
            raise _failed(error) from None
        return "All memory cleared"

    async def _ask(self, command: object) -> str:
        try:
            arguments = _arguments(command)
            result = await self.client.files.tool(arguments=arguments, **self._who.params())
        except Exception as error:
            raise _failed(error) from None
        return _told(result)


class _Who:
    """Whose files, and who writes."""

    def __init__(self, profile: str | None, session: str | None, agent: str | None) -> None:
        self.profile, self.session, self.agent = profile, session, agent

    def params(self) -> dict[str, Any]:
        return {"profile": self.profile, "session": self.session, "agent": self.agent}


def _is_known(input: object) -> bool:
    """Whether the SDK has a method for it."""
    command = input.get("command") if isinstance(input, dict) else None
    return isinstance(command, str) and command in COMMANDS


def _arguments(command: Any) -> Any:
    """A command as the model wrote it; what it left out is not there."""
    dump = getattr(command, "model_dump", None)
    return command if dump is None else dump(mode="json", exclude_unset=True, warnings=False)


def _told(result: Any) -> str:
    """What the model is told, as a result or as an error."""
    text: str = result["text"]
    if result["is_error"]:
        raise ToolError(text)
    return text


def _failed(error: Exception) -> ToolError:
    """Words for a model; the log has those for people."""
    _log.warning("a command of the memory tool failed: %s: %s", type(error).__name__, error)
    found = (reason for kinds, reason in _REASONS if isinstance(error, kinds))
    reason = next(found, "something went wrong with it")
    return ToolError(f"The memory can't be used: {reason}. If need be, go on without it.")


def _outermost(listed: Any) -> list[str]:
    """The files and folders right below the root."""
    paths = [*(file["path"] for file in listed["files"]), *listed["folders"]]
    return sorted({"/".join(path.split("/")[:3]) for path in paths})
