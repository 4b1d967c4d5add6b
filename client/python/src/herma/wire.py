"""JSON-RPC, one object a line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

from .errors import BadAnswer, HermaError, InvalidParams, from_wire


class Event(NamedTuple):
    """Something that the daemon tells unasked."""

    topic: str
    """One of the topics of ``subscribe``, such as ``memory.changed``."""
    params: dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """The answer to the request with this id; without one it is about the connection."""

    id: int | None
    result: Any = None
    error: HermaError | None = None

    def value(self) -> Any:
        """The result, or the error raised."""
        if self.error is not None:
            raise self.error
        return self.result


def write_line(number: int, method: str, params: dict[str, Any]) -> bytes:
    """A request as a line.

    Raises :class:`InvalidParams` for what JSON can't say: other types, numbers
    that are not finite, half of a surrogate pair.
    """
    request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    try:
        text = json.dumps(request, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        # The error itself would repeat the text.
        raise InvalidParams(f"{method}: a text has a lone surrogate and is no UTF-8") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParams(f"{method}: params are no JSON: {type(error).__name__}") from None


def read_line(line: bytes) -> Answer | Event:
    """What the daemon said. Raises :class:`BadAnswer` for what is neither."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadAnswer(f"the daemon's answer is no JSON: {type(error).__name__}") from error
    if not isinstance(said, dict):
        raise BadAnswer("the daemon's answer is no object")
    if "method" in said:
        return Event(str(said["method"]), said.get("params") or {})
    number = said.get("id")
    if isinstance(said.get("error"), dict):
        return Answer(number, error=from_wire(said["error"]))
    if "result" not in said:
        raise BadAnswer("the daemon's answer has neither result nor error")
    return Answer(number, result=said["result"])
