"""The types of `guard`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from .memory import Finding

GuardScope = Literal["all", "context", "strict"]
"""How many patterns a scan uses; each scope includes the ones before it."""


class GuardRedact(TypedDict):
    """Result of `guard.redact`."""

    text: str | None
    """The text with secrets masked."""
    count: int
    """Number of masked secrets."""


class GuardScan(TypedDict):
    """Result of `guard.scan`."""

    findings: list[Finding]
    """At most one finding for each id."""
    message: str | None
    """A message about the first finding; null if there is none."""


class GuardScrub(TypedDict):
    """Result of `guard.scrub`."""

    cursor: str | None
    """Where the next call goes on; null after the last one."""
    stage: str
    """What this call looked at: `messages`, `outputs`, `memory`, `texts`, `index` or `files`."""
    done: int
    """How far this stage is, in the unit of `of`."""
    of: int
    """The size of this stage."""
    changed: int
    """The texts that this call changed, or would change."""
    secrets: list[SecretCount]
    """The secrets in them, by kind."""
    left: list[ScrubLeft]
    """Where something is left."""


class ScrubLeft(TypedDict):
    """A place in which a secret is left."""

    place: str
    """The session, output, store or file."""
    why: str
    """Why it is left, and what to do."""


class SecretCount(TypedDict):
    """The number of masked secrets of a kind."""

    kind: str
    """The kind, such as `key`."""
    count: int
    """The number."""
