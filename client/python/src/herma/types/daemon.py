"""The daemon itself, profiles, and the guard."""

from __future__ import annotations

from typing import Literal, TypedDict

from .memory import Target

GuardScope = Literal["all", "context", "strict"]


class Limits(TypedDict):
    """Bytes of a frame, bytes in flight, connections, requests on a connection."""

    frame: int
    in_flight: int
    connections: int
    requests: int


class Hello(TypedDict):
    """Who answers."""

    server: str
    protocol: int
    pid: int
    home: str
    methods: list[str]
    limits: Limits


class MethodCounts(TypedDict):
    """How often a method was called, and how long it took in microseconds."""

    count: int
    p50_us: float
    p99_us: float


class RequestCounts(TypedDict):
    """Requests since the start."""

    total: int
    errors: int
    by_method: dict[str, MethodCounts]


class SessionCounts(TypedDict):
    """Sessions that are open, and all."""

    open: int
    total: int


class StoreStatus(TypedDict):
    """A store; sizes are chars."""

    profile: str
    target: Target
    entries: int
    chars: int
    limit: int
    revision: int
    state: Literal["ok", "over_limit", "drifted", "unreadable"]
    journal: Literal["ok", "damaged"]


class OutputCounts(TypedDict):
    """Spilled outputs: files, their bytes, and the bytes that they may have."""

    files: int
    bytes: int
    quota: int


class ArchiveStatus(TypedDict):
    """The archive."""

    state: str
    bytes: int


class SummarizerStatus(TypedDict):
    """The first summarizer of the chain."""

    kind: str
    state: str


class Status(TypedDict):
    """How the daemon is."""

    uptime_s: float
    rss_bytes: int
    connections: int
    requests: RequestCounts
    sessions: SessionCounts
    stores: list[StoreStatus]
    outputs: OutputCounts
    archive: ArchiveStatus
    summarizer: SummarizerStatus


class CreatedProfile(TypedDict):
    """Whether it was made; false when it was there."""

    created: bool


class Profile(TypedDict):
    """A pair of stores and their limits in chars."""

    name: str
    memory_limit: int
    user_limit: int


class ProfileList(TypedDict):
    """All profiles, ``default`` first."""

    profiles: list[Profile]


class Finding(TypedDict):
    """What the guard found, in chars of the text; ``end`` is exclusive."""

    id: str
    start: int
    end: int
    folded: bool
    severity: Literal["block", "warn"]


class Scan(TypedDict):
    """All findings, and a sentence about the first."""

    findings: list[Finding]
    message: str | None


class Redacted(TypedDict):
    """The text without its secrets, and how many there were."""

    text: str | None
    count: int
