"""What a call can fail with.

Every error is a :class:`HermaError`; what the daemon answers has one class for
each kind in its closed table. Messages that are made here name methods and
params, never the values of params.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class HermaError(Exception):
    """Base of all errors of this package.

    ``kind`` is for programs and ``message`` for people; ``code`` is the number
    of JSON-RPC, 0 for what the daemon did not say; ``details`` is whatever else
    the daemon knows (``retry``, ``fault``, ``revision``, ``entries``, ...).
    """

    kind = "unknown"
    code = 0

    def __init__(
        self,
        message: str,
        details: Mapping[str, Any] | None = None,
        *,
        kind: str | None = None,
        code: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = dict(details or {})
        self.kind = kind if kind is not None else type(self).kind
        self.code = code if code is not None else type(self).code

    @property
    def retry(self) -> bool:
        """Whether the very same call can succeed later."""
        return bool(self.details.get("retry", False))

    @property
    def fault(self) -> str | None:
        """Whose fault it is: ``caller``, ``disk``, ``peer`` or ``herma``."""
        fault = self.details.get("fault")
        return fault if isinstance(fault, str) else None


class ParseError(HermaError):
    """What was sent is no JSON, or no UTF-8."""

    kind, code = "parse_error", -32700


class InvalidRequest(HermaError):
    """What was sent is JSON, but no request."""

    kind, code = "invalid_request", -32600


class UnknownMethod(HermaError):
    """The daemon has no such method; the message names the nearest."""

    kind, code = "unknown_method", -32601


class InvalidParams(HermaError):
    """A param is missing, unknown, of the wrong type or out of range."""

    kind, code = "invalid_params", -32602


class Internal(HermaError):
    """A fault of the daemon; only this call failed."""

    kind, code = "internal", -32603


class TooLarge(HermaError):
    """Over a named limit."""

    kind, code = "too_large", -32001


class Busy(HermaError):
    """A queue is full, or the same is being done already."""

    kind, code = "busy", -32002


class DeadlineExceeded(HermaError):
    """The time of the call was over; a write may still be done."""

    kind, code = "deadline_exceeded", -32003


class Cancelled(HermaError):
    """The call was given up before it was done."""

    kind, code = "cancelled", -32004


class NotFound(HermaError):
    """No such session, handle, output or profile."""

    kind, code = "not_found", -32005


class Conflict(HermaError):
    """Changed since: ``details`` says what it is now."""

    kind, code = "conflict", -32006


class Unreadable(HermaError):
    """A file can't be read and is left as it is: ``details["path"]``, ``["reason"]``."""

    kind, code = "unreadable", -32007


class StorageFull(HermaError):
    """The disk is full."""

    kind, code = "storage_full", -32008


class StorageFailed(HermaError):
    """The disk failed."""

    kind, code = "storage_failed", -32009


class PermissionDenied(HermaError):
    """The system, or a rule of herma, forbids it."""

    kind, code = "permission_denied", -32010


class Unavailable(HermaError):
    """A part of the daemon that the call needs is not in use."""

    kind, code = "unavailable", -32011


class DaemonUnavailable(HermaError):
    """Nobody answers on the socket, and no daemon could be started."""

    kind = "daemon_unavailable"


class OutcomeUnknown(DaemonUnavailable):
    """The connection was lost and the call could not be repeated safely.

    The daemon that was asked is gone, and the keys by which it knew repeated
    calls with it. Whether the call was done is to be looked up.
    """

    kind = "outcome_unknown"


class BadAnswer(HermaError):
    """The daemon sent something that is no answer, or one over the limit."""

    kind = "bad_answer"


ANSWERED: dict[str, type[HermaError]] = {
    error.kind: error
    for error in (
        ParseError,
        InvalidRequest,
        UnknownMethod,
        InvalidParams,
        Internal,
        TooLarge,
        Busy,
        DeadlineExceeded,
        Cancelled,
        NotFound,
        Conflict,
        Unreadable,
        StorageFull,
        StorageFailed,
        PermissionDenied,
        Unavailable,
    )
}
"""The classes of what the daemon answers, by kind."""


def from_wire(error: Mapping[str, Any]) -> HermaError:
    """The exception for the ``error`` member of an answer.

    A kind that this version does not know becomes a plain :class:`HermaError`.
    """
    data = error.get("data")
    details = dict(data) if isinstance(data, dict) else {}
    kind, code = details.pop("kind", None), error.get("code")
    known = ANSWERED.get(kind, HermaError) if isinstance(kind, str) else HermaError
    return known(
        str(error.get("message", "")),
        details,
        kind=kind if isinstance(kind, str) else None,
        code=code if isinstance(code, int) else None,
    )
