"""The types of `profile`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TypedDict


class Profile(TypedDict):
    """A named pair of stores."""

    name: str
    """Its name."""
    memory_limit: int
    """Limit of its MEMORY.md in chars."""
    user_limit: int
    """Limit of its USER.md in chars."""


class ProfileCreate(TypedDict):
    """Result of `profile.create`."""

    created: bool
    """False if the profile already existed."""


class ProfileList(TypedDict):
    """Result of `profile.list`."""

    profiles: list[Profile]
    """The profiles of the home: `default` first, then the others by name."""
