"""The types of `daemon`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from .memory import Target

JournalState = Literal["ok", "damaged"]
"""Whether the journal of a store is whole."""

StoreState = Literal["ok", "over_limit", "unreadable", "drifted"]
"""Whether a store can be used."""


class ArchiveStatus(TypedDict):
    """State of the archive."""

    state: str
    """`ok`, or what is wrong with it."""
    bytes: int
    """Size in bytes."""


class Hello(TypedDict):
    """Result of `hello`."""

    server: str
    """Name and version of the daemon."""
    protocol: int
    """The protocol version of the daemon."""
    pid: int
    """The daemon's process id."""
    home: str
    """The home that it serves."""
    methods: list[str]
    """Every method that it answers."""
    limits: WireLimits
    """The limits in force."""


class MethodCounts(TypedDict):
    """Requests of one method."""

    count: int
    """How many."""
    p50_us: float
    """Half of them took at most this many microseconds (to within 12 %)."""
    p99_us: float
    """99 % of them took at most this many microseconds (to within 12 %)."""


class OutputCounts(TypedDict):
    """Spilled outputs on disk."""

    files: int
    """Number of files."""
    bytes: int
    """Their size in bytes."""
    quota: int
    """Most bytes that are kept."""


class RequestCounts(TypedDict):
    """Requests since the daemon started."""

    total: int
    """All requests."""
    errors: int
    """Those that were answered with an error other than `not_found` and `conflict`."""
    by_method: dict[str, MethodCounts]
    """Per method that was asked at least once."""


class SessionCounts(TypedDict):
    """How many sessions there are."""

    open: int
    """Not closed."""
    total: int
    """All."""


class Status(TypedDict):
    """Result of `status`."""

    uptime_s: float
    """Seconds since the daemon started."""
    rss_bytes: int
    """Resident memory in bytes; 0 where the system doesn't tell."""
    connections: int
    """Connections open now."""
    requests: RequestCounts
    """What was asked since the start."""
    sessions: SessionCounts
    """Sessions known to the archive."""
    stores: list[StoreStatus]
    """One row for each store."""
    outputs: OutputCounts
    """Spilled outputs on disk."""
    archive: ArchiveStatus
    """The archive."""
    summarizer: SummarizerStatus
    """What writes summaries."""


class StoreStatus(TypedDict):
    """One store as it is now."""

    profile: str
    """The profile."""
    target: Target
    """`memory` or `user`."""
    entries: int
    """Number of entries."""
    chars: int
    """Chars of the joined entries."""
    limit: int
    """Limit in chars."""
    revision: int
    """Revision."""
    state: StoreState
    """Its state."""
    journal: JournalState
    """State of its journal."""


class SummarizerStatus(TypedDict):
    """State of the summarizer that is asked first."""

    kind: str
    """`extractive`, …"""
    state: str
    """`ok`, or what is wrong with it."""


class WireLimits(TypedDict):
    """The limits that a client should know."""

    frame: int
    """Largest frame or line in bytes."""
    in_flight: int
    """Bytes in flight of all connections."""
    connections: int
    """Connections at one time."""
    requests: int
    """Requests in flight per connection."""
