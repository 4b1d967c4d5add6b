"""The methods of `guard`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .call import Caller

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from ... import types as t


class Guard:
    """The methods of `guard`."""

    def __init__(self, call: Caller) -> None:
        self._call = call

    def scan(
        self,
        *,
        text: str | None = None,
        scope: t.GuardScope | None = None,
        **options: Unpack[t.Options],
    ) -> t.GuardScan:
        """Scans a text for attacks."""
        params: Mapping[str, Any] = {"text": text, "scope": scope}
        result: t.GuardScan = self._call("guard.scan", params, options)
        return result

    def redact(
        self,
        *,
        text: str | None = None,
        force: bool | None = None,
        code: bool | None = None,
        enabled: bool | None = None,
        captured: bool | None = None,
        **options: Unpack[t.Options],
    ) -> t.GuardRedact:
        """Masks secrets in a text."""
        params: Mapping[str, Any] = {
            "text": text,
            "force": force,
            "code": code,
            "enabled": enabled,
            "captured": captured,
        }
        result: t.GuardRedact = self._call("guard.redact", params, options)
        return result

    def scrub(
        self,
        *,
        cursor: str | None = None,
        dry_run: bool | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.GuardScrub:
        """Masks the secrets in what was kept before, a part with each call.

        `cursor` says where to go on.
        """
        params: Mapping[str, Any] = {"cursor": cursor, "dry_run": dry_run}
        result: t.GuardScrub = self._call("guard.scrub", params, options)
        return result
