"""The types of `shared`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

    from .memory import Target

SharedState = Literal["off", "unknown", "up", "down"]
"""The state of the database."""


class SharedInit(TypedDict):
    """Result of `shared.init`."""

    found: NotRequired[int]
    """The version of the existing tables; 0 if there are none."""
    version: int
    """The version that this daemon needs."""
    sql: NotRequired[str]
    """The SQL that would be run; only with `print`."""


class SharedJoin(TypedDict):
    """Result of `shared.join`."""

    profile: str
    """The profile."""
    stores: list[SharedJoinedStore]
    """The outcome for each store."""


class SharedJoinedStore(TypedDict):
    """A store that was added to the database."""

    target: Target
    """The store."""
    revision: int
    """Its revision, on this host and in the database."""
    found: int
    """Number of entries that the database had already."""
    brought: list[str]
    """Entries of this host that were added to the database."""
    left_out: list[SharedLeftOut]
    """Entries of this host for which there was no room."""


class SharedLeave(TypedDict):
    """Result of `shared.leave`."""

    profile: str
    """The profile; its stores stay on this host unchanged."""
    pending: int
    """Number of writes that waited for the database and now wait for approval."""


class SharedLeftOut(TypedDict):
    """An entry for which there was no room."""

    entry: str
    """The entry."""
    why: str
    """Why there was no room."""
    pending_id: NotRequired[str]
    """The id for `memory.approve`, once there is room."""


class SharedMessages(TypedDict):
    """The progress of uploading messages to the database."""

    waiting: int
    """Messages of shared profiles that are not uploaded yet."""
    error: NotRequired[str]
    """Why they are not uploaded."""


class SharedOutputs(TypedDict):
    """Where the texts of outputs are stored, so that every host can open them."""

    url: NotRequired[str]
    """The URL of the object store. Absent if there is none: texts up to 256 KiB are then in the
    database, and longer ones stay on this host.
    """
    error: NotRequired[str]
    """Why texts are not uploaded."""


class SharedSessions(TypedDict):
    """The progress of publishing this host's sessions to other hosts."""

    waiting: int
    """Sessions of shared profiles with changes that are not published yet."""
    error: NotRequired[str]
    """Why they can't be published."""


class SharedStatus(TypedDict):
    """Result of `shared.status`."""

    configured: bool
    """Whether the configuration names a database."""
    host: NotRequired[str]
    """The name of this host in the shared database."""
    space: NotRequired[str]
    """The part of the database that this host uses."""
    database: NotRequired[str]
    """The address of the database without the password: `user@host:port/database`."""
    open: NotRequired[bool]
    """Whether the connection to the database can be intercepted: another machine without TLS."""
    state: SharedState
    """The state of the database: `off`, `unknown` before the first query, `up` or `down`."""
    since: NotRequired[float]
    """Since when it has been in this state, in Unix seconds."""
    error: NotRequired[str]
    """Why the database is down."""
    offline: str
    """What happens to a write while the database is down: `refuse` or `queue`."""
    stores: list[SharedStore]
    """The stores that are shared, or will be."""
    messages: NotRequired[SharedMessages]
    """The progress of uploading messages to the database; absent if messages are not shared."""
    outputs: NotRequired[SharedOutputs]
    """Where the texts of outputs are stored."""
    sessions: NotRequired[SharedSessions]
    """The progress of publishing sessions to other hosts; absent if no session is shared."""
    left_out: NotRequired[list[str]]
    """Errors in unusable database rows that were ignored since the daemon started; at most 20."""


class SharedStore(TypedDict):
    """A store that is shared, or will be."""

    profile: str
    """The profile."""
    target: Target
    """The store."""
    joined: bool
    """Whether `shared.join` has added it to the database; until then it can't be written."""
    revision: int
    """Its revision on this host."""
    shared_revision: NotRequired[int]
    """Its revision in the database, as last seen."""
    stale_s: NotRequired[float]
    """Seconds since both were last known to be equal."""
    edited: bool
    """Whether another program changed the file on this host and the change is not in the database
    yet.
    """
    queued: int
    """Number of writes that wait for the database."""
    error: NotRequired[str]
    """Why it can't be written on this host, regardless of the state of the database."""
