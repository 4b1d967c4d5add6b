"""A compression's answer, put into the list that was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..types import Edits, Messages


def apply(messages: Messages, edits: Edits) -> Messages:
    """The new list; messages that did not change are the very same objects."""
    replaced = {edit["index"]: edit["message"] for edit in edits["replace"]}
    inserted: dict[int, Messages] = {}
    for insert in edits["insert"]:
        inserted.setdefault(insert["at"], []).append(insert["message"])
    kept = {at for begin, end in edits["keep"] for at in range(begin, end)}
    result: Messages = []
    for at, message in enumerate(messages):
        result += inserted.get(at, [])
        if at in kept:
            result.append(replaced.get(at, message))
    return result + inserted.get(len(messages), [])
