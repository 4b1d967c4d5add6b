"""What a scripted model answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Union

from judge import Message


@dataclass(frozen=True)
class Say:
    """An answer in words."""

    text: str


@dataclass(frozen=True)
class Call:
    """A call of tools: pairs of a name and arguments."""

    calls: tuple[tuple[str, dict[str, Any]], ...]


@dataclass(frozen=True)
class Overflow:
    """The refusal of a prompt that is too long."""


@dataclass(frozen=True)
class Slow:
    """An answer that takes its time."""

    seconds: float
    then: Step


Step = Union[Say, Call, Overflow, Slow, Callable[[list[Message]], "Step"]]
"""One answer, or a function that makes it of the list."""


def call(name: str, **arguments: Any) -> Call:
    """One call of one tool."""
    return Call(((name, arguments),))
