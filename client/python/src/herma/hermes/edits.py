"""A compression's answer, put into the list that was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import BadAnswer

if TYPE_CHECKING:
    from ..types import Edits, Messages


def apply(messages: Messages, edits: Edits) -> Messages:
    """The new list; messages that did not change are the very same objects.

    Raises :class:`herma.BadAnswer` for edits that don't fit the list.
    """
    count = len(messages)
    try:
        replaced = {_place(edit["index"], count - 1): _message(edit) for edit in edits["replace"]}
        inserted: dict[int, Messages] = {}
        for insert in edits["insert"]:
            inserted.setdefault(_place(insert["at"], count), []).append(_message(insert))
        kept: set[int] = set()
        for begin, end in edits["keep"]:
            kept.update(range(_place(begin, count), _place(end, count)))
    except (KeyError, TypeError, ValueError) as error:
        raise BadAnswer("the daemon's edits can't be understood") from error
    result: Messages = []
    for at, message in enumerate(messages):
        result += inserted.get(at, [])
        if at in kept:
            result.append(replaced.get(at, message))
    return result + inserted.get(count, [])


def _place(found: Any, last: int) -> int:
    if not isinstance(found, int) or not 0 <= found <= last:
        raise ValueError("a position outside the list")
    return found


def _message(edit: Any) -> Any:
    message = edit["message"]
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise ValueError("no message")
    return message
