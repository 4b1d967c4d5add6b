"""The methods of `constraint`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .call import Caller

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from ... import types as t


class Constraint:
    """The methods of `constraint`."""

    def __init__(self, call: Caller) -> None:
        self._call = call

    def add(
        self,
        *,
        session: str,
        text: str,
        scope: t.ConstraintScope | None = None,
        **options: Unpack[t.WriteOptions],
    ) -> t.ConstraintAdd:
        """Adds a rule (1 to 2,000 chars) that every handoff quotes word for word."""
        params: Mapping[str, Any] = {"session": session, "text": text, "scope": scope}
        result: t.ConstraintAdd = self._call("constraint.add", params, options)
        return result

    def list(self, *, session: str, **options: Unpack[t.Options]) -> t.ConstraintList:
        """Returns the rules in force, oldest first."""
        params: Mapping[str, Any] = {"session": session}
        result: t.ConstraintList = self._call("constraint.list", params, options)
        return result

    def remove(self, *, session: str, id: str, **options: Unpack[t.WriteOptions]) -> t.Empty:
        """Removes a rule."""
        params: Mapping[str, Any] = {"session": session, "id": id}
        result: t.Empty = self._call("constraint.remove", params, options)
        return result
