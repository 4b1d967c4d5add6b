"""The types of `constraint`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import Literal, TypedDict

ConstraintScope = Literal["standing", "once"]
"""How long a constraint applies."""

ConstraintSource = Literal["explicit", "found"]
"""Where a constraint comes from."""


class Constraint(TypedDict):
    """A rule of the user."""

    id: str
    """Its id, unique within its session."""
    text: str
    """The user's words."""
    scope: ConstraintScope
    """How long it applies."""
    source: ConstraintSource
    """Where it comes from."""
    at: float
    """When it was added, in Unix seconds."""


class ConstraintAdd(TypedDict):
    """Result of `constraint.add`."""

    id: str
    """The constraint's id, unique within its session."""


class ConstraintList(TypedDict):
    """Result of `constraint.list`."""

    constraints: list[Constraint]
    """The constraints in force, oldest first."""
