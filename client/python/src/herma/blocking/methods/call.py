"""How the functions reach the client.

Made by `generate` out of protocol/schema.json.
"""

from collections.abc import Callable, Mapping
from typing import Any

Caller = Callable[[str, Mapping[str, Any], Mapping[str, Any]], Any]
"""Takes a method, its params, and the options of the call."""
