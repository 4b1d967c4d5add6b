"""What a model is told of its memory: what ``memory.schema`` gives, without asking."""

from __future__ import annotations

import json
import pkgutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..types import MemorySchema


def _shipped() -> MemorySchema:
    data = pkgutil.get_data(__name__, "memory_schema.json")
    assert data is not None
    schema: MemorySchema = json.loads(data)
    return schema


MEMORY_SCHEMA: dict[str, Any] = _shipped()["tool"]
"""The function schema of the memory tool."""

MEMORY_GUIDANCE: str = _shipped()["guidance"]
"""The paragraph for the system prompt."""
