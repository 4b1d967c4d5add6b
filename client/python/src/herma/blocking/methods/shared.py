"""The methods of `shared`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .call import Caller

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from ... import types as t


class Shared:
    """The methods of `shared`."""

    def __init__(self, call: Caller) -> None:
        self._call = call

    def status(self, **options: Unpack[t.Options]) -> t.SharedStatus:
        """Returns what this host shares with others, and the state of the database."""
        params: Mapping[str, Any] = {}
        result: t.SharedStatus = self._call("shared.status", params, options)
        return result

    def init(
        self,
        *,
        url: str | None = None,
        password: str | None = None,
        role: str | None = None,
        print: bool | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.SharedInit:
        """Creates the tables of the shared database, or upgrades them."""
        params: Mapping[str, Any] = {"url": url, "password": password, "role": role, "print": print}
        result: t.SharedInit = self._call("shared.init", params, options)
        return result

    def join(self, **options: Unpack[t.WriteOptions]) -> t.SharedJoin:
        """Adds the profile's stores to the shared database, entry by entry."""
        params: Mapping[str, Any] = {}
        result: t.SharedJoin = self._call("shared.join", params, options)
        return result

    def leave(self, **options: Unpack[t.WriteOptions]) -> t.SharedLeave:
        """Stops sharing the profile's stores; a full copy stays on this host."""
        params: Mapping[str, Any] = {}
        result: t.SharedLeave = self._call("shared.leave", params, options)
        return result
