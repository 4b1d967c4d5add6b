"""herma's store and result functions in the place of the host's, without editing its files."""

from __future__ import annotations

import importlib
import logging
import sys
from typing import Any

from .settings import PluginSettings

USERS_OF_RESULTS = ("agent.tool_executor",)
"""Modules of hosts that took the result functions when they were loaded."""

RESULT_FUNCTIONS = ("maybe_persist_tool_result", "enforce_turn_budget")

logger = logging.getLogger("herma.hermes")


def put_in_place(settings: PluginSettings) -> None:
    """Replaces what the settings switch on; what can't be is logged and left."""
    for is_wanted, put, what in (
        (settings.memory, put_memory, "memory store"),
        (settings.results, put_results, "tool results"),
    ):
        if is_wanted:
            try:
                put(settings)
            except Exception as error:
                logger.warning("the host's %s stays: %s: %s", what, type(error).__name__, error)


def put_memory(settings: PluginSettings) -> None:
    """Has the host make herma's stores from now on.

    Its memory tool, its write gate, its approvals and whatever edits entries go on as they
    are: they call the store, and the store is a kind of the host's own.
    """
    from .host_store import store_class

    module = importlib.import_module("tools.memory_tool")
    module.MemoryStore = store_class(module.MemoryStore, settings)  # type: ignore[attr-defined]


def put_results(settings: PluginSettings) -> None:
    """Has the host give large tool results to herma from now on."""
    from .host_results import result_functions

    module = importlib.import_module("tools.tool_result_storage")
    made = result_functions(module, settings)
    users: list[Any] = [module]
    users += [sys.modules[name] for name in USERS_OF_RESULTS if name in sys.modules]
    for user in users:
        for name in RESULT_FUNCTIONS:
            if hasattr(user, name):
                setattr(user, name, made[name])
