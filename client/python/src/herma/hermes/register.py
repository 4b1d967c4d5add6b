"""What the plugin gives to the host that loads it."""

from __future__ import annotations

import logging
from typing import Any

from . import host, replace
from .engine import HermaContextEngine
from .provider import HermaMemoryProvider
from .settings import PluginSettings

logger = logging.getLogger("herma.hermes")


def register(ctx: Any) -> None:
    """Registers what this loader of the host's takes, and replaces what is configured so.

    Never raises: a host without herma is better than none.
    """
    settings = PluginSettings.read(host.config())
    for name, make in (
        ("register_context_engine", make_engine),
        ("register_memory_provider", HermaMemoryProvider),
    ):
        take = getattr(ctx, name, None)
        if callable(take):
            try:
                take(make(settings))
            except Exception as error:
                logger.error("%s failed: %s", name, error)
    replace.put_in_place(settings)


def make_engine(settings: PluginSettings) -> HermaContextEngine:
    """The engine as the host's configuration wants it."""
    engine = HermaContextEngine(
        timeout=settings.timeout,
        select_context=settings.select_context,
        model_tools=settings.model_tools,
        thresholds=settings.threshold_of,
        **settings.engine,
    )
    if settings.summarizer == "host":
        engine.ask_host()
    return engine
