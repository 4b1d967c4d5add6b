"""How the functions reach the client.

Made by `generate` out of protocol/schema.json.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

AsyncCaller = Callable[[str, Mapping[str, Any], Mapping[str, Any]], Awaitable[Any]]
"""Takes a method, its params, and the options of the call."""
