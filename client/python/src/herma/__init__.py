"""The door of herma for Python: :class:`Client` and :class:`AsyncClient`."""

from .aio.client import AsyncClient
from .aio.subscription import AsyncSubscription
from .blocking.client import Client
from .blocking.subscription import Subscription
from .errors import (
    BadAnswer,
    Busy,
    Cancelled,
    Conflict,
    DaemonUnavailable,
    DeadlineExceeded,
    HermaError,
    Internal,
    InvalidParams,
    InvalidRequest,
    NotFound,
    OutcomeUnknown,
    ParseError,
    PermissionDenied,
    StorageFailed,
    StorageFull,
    TooLarge,
    Unavailable,
    UnknownMethod,
    Unreadable,
)
from .place import Place
from .version import VERSION as __version__
from .wire import Event

__all__ = [
    "AsyncClient",
    "AsyncSubscription",
    "BadAnswer",
    "Busy",
    "Cancelled",
    "Client",
    "Conflict",
    "DaemonUnavailable",
    "DeadlineExceeded",
    "Event",
    "HermaError",
    "Internal",
    "InvalidParams",
    "InvalidRequest",
    "NotFound",
    "OutcomeUnknown",
    "ParseError",
    "PermissionDenied",
    "Place",
    "StorageFailed",
    "StorageFull",
    "Subscription",
    "TooLarge",
    "Unavailable",
    "UnknownMethod",
    "Unreadable",
    "__version__",
]
