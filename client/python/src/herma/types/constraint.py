"""The types of `constraint`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import Literal, TypedDict

ConstraintScope = Literal["standing", "once"]
"""How long a constraint holds."""

ConstraintSource = Literal["explicit", "found"]
"""Where a constraint comes from."""


class Constraint(TypedDict):
    """A rule of the user."""

    id: str
    """Names it within its session."""
    text: str
    """The user's words."""
    scope: ConstraintScope
    """How long it holds."""
    source: ConstraintSource
    """Where it comes from."""
    at: float
    """Since when, in Unix seconds."""


class ConstraintAdd(TypedDict):
    """Result of `constraint.add`."""

    id: str
    """Names the constraint within its session."""


class ConstraintList(TypedDict):
    """Result of `constraint.list`."""

    constraints: list[Constraint]
    """Those in force, oldest first."""
