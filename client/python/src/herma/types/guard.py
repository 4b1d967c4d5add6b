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
