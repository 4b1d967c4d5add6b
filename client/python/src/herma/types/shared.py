"""The types of `shared`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

    from .memory import Target

SharedState = Literal["off", "unknown", "up", "down"]
"""How the database is."""


class SharedInit(TypedDict):
    """Result of `shared.init`."""

    found: NotRequired[int]
    """The version of the tables that was found; 0 for none."""
    version: int
    """The version that this program needs."""
    sql: NotRequired[str]
    """What would be done, as SQL; with `print` only."""


class SharedJoin(TypedDict):
    """Result of `shared.join`."""

    profile: str
    """The profile."""
    stores: list[SharedJoinedStore]
    """What became of each store."""


class SharedJoinedStore(TypedDict):
    """What became of a store that was brought to the database."""

    target: Target
    """The store."""
    revision: int
    """Its revision, here and there."""
    found: int
    """How many entries were there."""
    brought: list[str]
    """Entries of this host that were not there, and are now."""
    left_out: list[SharedLeftOut]
    """Entries of this host for which there was no room."""


class SharedLeave(TypedDict):
    """Result of `shared.leave`."""

    profile: str
    """The profile; its stores stay here as they are."""
    pending: int
    """Writes that waited for the database and wait for approval now."""


class SharedLeftOut(TypedDict):
    """An entry for which there was no room."""

    entry: str
    """The entry."""
    why: str
    """Why."""
    pending_id: NotRequired[str]
    """What `memory.approve` calls it, once there is room."""


class SharedMessages(TypedDict):
    """How far messages are brought to the database."""

    waiting: int
    """Messages of profiles that share which are still to be brought."""
    error: NotRequired[str]
    """Why they are not brought."""


class SharedOutputs(TypedDict):
    """Where texts of outputs go, so that they open on every host."""

    url: NotRequired[str]
    """The URL of the object store; null where those up to 256 KiB go to the database, and longer
    ones stay here.
    """
    error: NotRequired[str]
    """Why they are not brought there."""


class SharedSessions(TypedDict):
    """How far the others know of the sessions of this host."""

    waiting: int
    """Sessions of profiles that share which changed since the others were told."""
    error: NotRequired[str]
    """Why they can't be told."""


class SharedStatus(TypedDict):
    """Result of `shared.status`."""

    configured: bool
    """Whether the configuration names a database."""
    host: NotRequired[str]
    """What this machine is called among those that share."""
    space: NotRequired[str]
    """The part of the database that is used."""
    database: NotRequired[str]
    """Where the database is, without the password: `user@host:port/database`."""
    open: NotRequired[bool]
    """Whether anybody on the way could read what is sent: another machine without TLS."""
    state: SharedState
    """How the database is: `off`, `unknown` before it was asked, `up` or `down`."""
    since: NotRequired[float]
    """Since when it is so, in Unix seconds."""
    error: NotRequired[str]
    """Why it is down."""
    offline: str
    """What becomes of a write while it is down: `refuse` or `queue`."""
    stores: list[SharedStore]
    """The stores that are shared, or are to be."""
    messages: NotRequired[SharedMessages]
    """How far messages are brought to the database; null where they are not."""
    outputs: NotRequired[SharedOutputs]
    """Where texts of outputs go."""
    sessions: NotRequired[SharedSessions]
    """How far the others know of sessions; absent where none goes to another host."""
    left_out: NotRequired[list[str]]
    """Rows of the database that can't be taken and are left out, as far as they were met since the
    daemon started; at most 20.
    """


class SharedStore(TypedDict):
    """A store that is shared, or is to be."""

    profile: str
    """The profile."""
    target: Target
    """The store."""
    joined: bool
    """Whether `shared.join` brought it to the database; until then it can't be written."""
    revision: int
    """Its revision here."""
    shared_revision: NotRequired[int]
    """Its revision in the database, as it was seen last."""
    stale_s: NotRequired[float]
    """Seconds since both were known to be the same."""
    edited: bool
    """Whether another program wrote something into the file here that the others don't have yet."""
    queued: int
    """Writes that wait for the database."""
    error: NotRequired[str]
    """Why it can't be written here whatever becomes of the database."""
