"""herma for agents built like Hermes: the names that they know, kept by the daemon.

Importing this starts nothing. Whatever needs the daemon starts it, and raises
:class:`herma.HermaError` when it can't be reached: the files are never written
behind its back.
"""

from .budget import BudgetConfig
from .engine import HermaContextEngine
from .memory import MemoryStore, memory_tool
from .results import enforce_turn_budget, generate_preview, maybe_persist_tool_result
from .schema import MEMORY_GUIDANCE, MEMORY_SCHEMA

__all__ = [
    "MEMORY_GUIDANCE",
    "MEMORY_SCHEMA",
    "BudgetConfig",
    "HermaContextEngine",
    "MemoryStore",
    "enforce_turn_budget",
    "generate_preview",
    "maybe_persist_tool_result",
    "memory_tool",
]
