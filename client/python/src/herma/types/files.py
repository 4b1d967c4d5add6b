"""The types of `files`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

    from .memory import Finding


class FilesChange(TypedDict):
    """Result of a change of memory files."""

    message: str
    """A description of the change, in the tool's wording."""
    revision: int
    """The newest revision of the profile's files."""
    file_revision: int
    """The revision of the changed file or folder, under its new name; 0 if it was removed."""
    changed: bool
    """False if there was nothing to change; then there is no new revision."""
    warnings: NotRequired[list[Finding]]
    """Findings of the guard that only warn."""


class FilesList(TypedDict):
    """Result of `files.list`."""

    revision: int
    """The newest revision of the profile's files; 0 before the first change."""
    files: list[MemoryFile]
    """The files, sorted by path."""
    folders: list[str]
    """The folders, sorted by path."""
    ignored: list[IgnoredFile]
    """Objects among the files that herma ignores."""
    usage: FilesUsage
    """Size and limits of the whole profile."""


class FilesLog(TypedDict):
    """Result of `files.log`."""

    rows: list[FilesLogRow]
    """The changes, newest first."""
    more: bool
    """Whether there are older changes."""
    damaged: int
    """Number of damaged journal lines, which are left out."""


class FilesLogFile(TypedDict):
    """The change of one file."""

    path: str
    """Its path."""
    bytes_before: int | None
    """Its size before in bytes; null if it did not exist."""
    bytes_after: int | None
    """Its size after in bytes; null if it was removed."""
    before: NotRequired[str]
    """Its text before, if `texts` was set."""
    after: NotRequired[str]
    """Its text after, if `texts` was set."""


class FilesLogRow(TypedDict):
    """One change of memory files, as recorded in the journal."""

    revision: int
    """The revision that it created."""
    time: float
    """When the change was made, in Unix seconds."""
    action: str
    """`create`, `write`, `str_replace`, `insert`, `delete`, `rename`, `undo` or `restore`;
    `external` for a change by another program.
    """
    session: str | None
    """The session that made the change."""
    agent: str | None
    """The agent that made the change."""
    files: list[FilesLogFile]
    """The changed files."""


class FilesRead(TypedDict):
    """Result of `files.read`."""

    path: str
    """Its path."""
    text: str
    """Its text."""
    bytes: int
    """Its size in bytes."""
    revision: int
    """The last revision that changed it; for an earlier text, the requested revision."""


class FilesTool(TypedDict):
    """Result of `files.tool`.

    A refusal is a result and not an error, because the model reads it.
    """

    text: str
    """The text for the model, in the tool's own wording."""
    is_error: bool
    """Whether the command was refused; the text says why."""
    revision: int
    """The newest revision of the profile's files."""
    findings: NotRequired[list[Finding]]
    """Findings of the guard in a refused text."""
    warnings: NotRequired[list[Finding]]
    """Findings of the guard that only warn."""


class FilesUsage(TypedDict):
    """Size and limits of a profile's memory files."""

    files: int
    """Number of files."""
    files_limit: int
    """The most files that a profile may have."""
    bytes: int
    """Bytes of all files."""
    quota: int
    """The most bytes that all files may have."""
    file_limit: int
    """The most bytes that one file may have."""


class IgnoredFile(TypedDict):
    """An object among the memory files that herma ignores.

    It never reads, changes or removes it.
    """

    path: str
    """Its path."""
    reason: str
    """Why it is ignored."""


class MemoryFile(TypedDict):
    """A memory file, without its text."""

    path: str
    """Its path."""
    bytes: int
    """Its size in bytes."""
    revision: int
    """The last revision that changed it."""
    modified_at: float
    """When it was last written according to the file system, in Unix seconds."""
