"""Methods that never raise, whatever happened."""

from __future__ import annotations

import functools
import logging
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Callable, TypeVar, cast

from .link import Link

Method = TypeVar("Method", bound=Callable[..., Any])

logger = logging.getLogger("herma.hermes")


def never_raises(fallback: Callable[..., Any]) -> Callable[[Method], Method]:
    """A method whose errors become what ``fallback`` gives, called with the same arguments.

    Hosts lose the model's answer, or their whole history, when an engine raises. What the
    method asks the daemon has the limit of a turn together.
    """

    def wrap(method: Method) -> Method:
        @functools.wraps(method)
        def guarded(self: Any, *args: Any, **named: Any) -> Any:
            try:
                with _turn(self):
                    return method(self, *args, **named)
            except Exception as error:
                logger.warning("%s failed: %s", method.__name__, type(error).__name__)
                logger.debug("%s", method.__name__, exc_info=True)
                note = getattr(self, "_note_failure", None)
                try:
                    if callable(note):
                        note(method.__name__, error)
                    return fallback(self, *args, **named)
                except Exception:
                    # The call itself was wrong, say without an argument; nothing is a fair answer.
                    return None

        return cast(Method, guarded)

    return wrap


def _turn(owner: Any) -> AbstractContextManager[None]:
    """The turn of whoever has a link; nothing where nobody knows yet which home is meant."""
    try:
        link = getattr(owner, "_link", None)
    except Exception:
        link = None
    return link.turn() if isinstance(link, Link) else nullcontext()
