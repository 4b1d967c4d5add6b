"""The types of `files`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

    from .memory import Finding


class FilesChange(TypedDict):
    """What a change of memory files came to."""

    message: str
    """What was done, in the words of the tool."""
    revision: int
    """The newest revision of the profile's files."""
    file_revision: int
    """The revision of what was changed, under its new name; 0 when it is gone."""
    changed: bool
    """False when everything was as it was to be, and there is no new revision."""
    warnings: NotRequired[list[Finding]]
    """What the guard only warns of."""


class FilesList(TypedDict):
    """Result of `files.list`."""

    revision: int
    """The newest revision of the profile's files; 0 before the first change."""
    files: list[MemoryFile]
    """The files, by their paths."""
    folders: list[str]
    """The folders, by their paths."""
    unkept: list[UnkeptFile]
    """What lies there and is left alone."""
    usage: FilesUsage
    """How much is kept of the whole profile, and how much may be."""


class FilesLog(TypedDict):
    """Result of `files.log`."""

    rows: list[FilesLogRow]
    """The changes, newest first."""
    more: bool
    """Older ones are kept that were not asked for."""
    damaged: int
    """Lines of the journal that are damaged and left out."""


class FilesLogFile(TypedDict):
    """What a change did to a file."""

    path: str
    """Its path."""
    bytes_before: int | None
    """Its bytes before; null when there was none."""
    bytes_after: int | None
    """Its bytes after; null when it was gone."""
    before: NotRequired[str]
    """Its text before, where `texts` was asked for."""
    after: NotRequired[str]
    """Its text after, where `texts` was asked for."""


class FilesLogRow(TypedDict):
    """One change of memory files, as the journal has it."""

    revision: int
    """The revision that it made."""
    time: float
    """When, in Unix seconds."""
    action: str
    """`create`, `write`, `str_replace`, `insert`, `delete`, `rename`, `undo`, `restore`, or
    `external` for a change by another program.
    """
    session: str | None
    """Who did it: the session."""
    agent: str | None
    """Who did it: the agent."""
    files: list[FilesLogFile]
    """The files that it changed."""


class FilesRead(TypedDict):
    """Result of `files.read`."""

    path: str
    """Its path."""
    text: str
    """Its text."""
    bytes: int
    """Its bytes."""
    revision: int
    """The revision that changed it last; of an earlier text the one that was asked for."""


class FilesTool(TypedDict):
    """Result of `files.tool`. A refusal is a result, for a model reads it."""

    text: str
    """What the model is told, in the tool's own forms."""
    is_error: bool
    """The command was not done; the text says why."""
    revision: int
    """The newest revision of the profile's files."""
    findings: NotRequired[list[Finding]]
    """What the guard found in a refused text."""
    warnings: NotRequired[list[Finding]]
    """What the guard only warns of."""


class FilesUsage(TypedDict):
    """How much is kept of a profile's files."""

    files: int
    """Files."""
    files_limit: int
    """Files that there may be."""
    bytes: int
    """Bytes of all of them."""
    quota: int
    """Bytes that all of them may have."""
    file_limit: int
    """Bytes that one of them may have."""


class MemoryFile(TypedDict):
    """A memory file, without its text."""

    path: str
    """Its path."""
    bytes: int
    """Its bytes."""
    revision: int
    """The revision that changed it last."""
    modified_at: float
    """When it was written last, in Unix seconds, by the file system."""


class UnkeptFile(TypedDict):
    """Something that lies among the memory files and is left alone.

    Nothing reads, changes or removes it.
    """

    path: str
    """Where."""
    reason: str
    """Why."""
