"""The methods of `profile`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .call import AsyncCaller

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from ... import types as t


class Profile:
    """The methods of `profile`."""

    def __init__(self, call: AsyncCaller) -> None:
        self._call = call

    async def create(self, *, name: str, **options: Unpack[t.WriteOptions]) -> t.ProfileCreate:
        """Creates a profile with its two stores; `name` has 1 to 64 letters, digits, `_`, `-`."""
        params: Mapping[str, Any] = {"name": name}
        result: t.ProfileCreate = await self._call("profile.create", params, options)
        return result

    async def list(self, **options: Unpack[t.Options]) -> t.ProfileList:
        """Returns the profiles and their limits, `default` first."""
        params: Mapping[str, Any] = {}
        result: t.ProfileList = await self._call("profile.list", params, options)
        return result
