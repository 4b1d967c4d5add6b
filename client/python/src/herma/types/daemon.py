"""The types of `daemon`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from .memory import Target

JournalState = Literal["ok", "damaged"]
"""The state of a store's journal."""

StoreState = Literal["ok", "over_limit", "unreadable", "drifted"]
"""Whether a store can be used."""


class ArchiveStatus(TypedDict):
    """State of the archive."""

    state: str
    """`ok`, or a description of the problem."""
    bytes: int
    """Size in bytes."""


class Hello(TypedDict):
    """Result of `hello`."""

    server: str
    """Name and version of the daemon."""
    protocol: int
    """The protocol version to use: the client's, or the daemon's if that is older."""
    pid: int
    """The daemon's process id."""
    home: str
    """The home directory that it serves."""
    methods: list[str]
    """All methods that it supports."""
    limits: WireLimits
    """The limits in force."""


class MethodCounts(TypedDict):
    """Requests of one method."""

    count: int
    """Number of requests."""
    p50_us: float
    """Median duration in microseconds (within 12 %)."""
    p99_us: float
    """99th percentile of the duration in microseconds (within 12 %)."""


class OutputCounts(TypedDict):
    """Spilled outputs on disk."""

    files: int
    """Number of files."""
    bytes: int
    """Their size in bytes."""
    quota: int
    """The most bytes that are kept."""


class RequestCounts(TypedDict):
    """Requests since the daemon started."""

    total: int
    """All requests."""
    errors: int
    """Requests that were answered with an error other than `not_found` and `conflict`."""
    by_method: dict[str, MethodCounts]
    """Counts for each method that was called at least once."""


class SessionCounts(TypedDict):
    """The number of sessions."""

    open: int
    """Sessions that are not closed."""
    total: int
    """All sessions."""


class Status(TypedDict):
    """Result of `status`."""

    uptime_s: float
    """Seconds since the daemon started."""
    rss_bytes: int
    """Resident memory in bytes; 0 if the system doesn't report it."""
    connections: int
    """Number of open connections."""
    requests: RequestCounts
    """Requests since the daemon started."""
    sessions: SessionCounts
    """Sessions in the archive."""
    stores: list[StoreStatus]
    """One row for each store."""
    outputs: OutputCounts
    """Spilled outputs on disk."""
    archive: ArchiveStatus
    """The archive."""
    summarizer: SummarizerStatus
    """The summarizer."""


class StoreStatus(TypedDict):
    """The current state of a store."""

    profile: str
    """The profile."""
    target: Target
    """`memory` or `user`."""
    entries: int
    """Number of entries."""
    chars: int
    """Chars of the joined entries."""
    limit: int
    """The limit in chars."""
    revision: int
    """The current revision."""
    state: StoreState
    """Its state."""
    journal: JournalState
    """State of its journal."""


class SummarizerStatus(TypedDict):
    """State of the first summarizer of the chain."""

    kind: str
    """The kind, such as `extractive`."""
    state: str
    """`ok`, or a description of the problem."""


class WireLimits(TypedDict):
    """The limits that a client should know."""

    frame: int
    """The largest frame or line in bytes."""
    in_flight: int
    """The most bytes in flight on all connections together."""
    connections: int
    """The most open connections."""
    requests: int
    """The most requests in flight per connection."""
