"""What the host's ``config.yaml`` says to the plugin."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any, Callable

from .counting import is_number
from .host import section
from .link import LIMIT

SHORTEST_LIMIT = 0.05
LONGEST_LIMIT = 60.0
"""Seconds between which ``herma.timeout`` may lie."""

PREFETCH_CHARS = 2_000
"""Chars that a prefetch gives at most when nothing else is configured."""

MOST_PREFETCH_CHARS = 20_000

SUMMARIZERS = ("host", "daemon")

ENGINE_KEYS: dict[str, Callable[[Any], bool]] = {
    "threshold": lambda found: is_number(found) and 0 < found <= 1,
    "target_ratio": lambda found: is_number(found) and 0 <= found <= 1,
    "protect_first_n": lambda found: type(found) is int and found >= 0,
    "protect_last_n": lambda found: type(found) is int and found >= 0,
    "abort_on_summary_failure": lambda found: isinstance(found, bool),
}
"""Keys of the host's section ``compression`` that the daemon knows too, and what it takes."""

logger = logging.getLogger("herma.hermes")


@dataclass(frozen=True)
class PluginSettings:
    """The section ``herma``, and what of the host's own sections counts for an engine."""

    timeout: float = LIMIT
    """Seconds that a call may take on the path of a turn."""
    summarizer: str = "host"
    """``host``: the host's own model writes summaries; ``daemon``: whoever the daemon's
    configuration names."""
    select_context: bool = False
    """Whether a request over its budget is shown as the next compression would prune it."""
    model_tools: bool = False
    """Whether the model may say what it is done with (``context_discard``, ``context_episode``)."""
    memory: bool = False
    """Whether the host's memory store is herma's."""
    results: bool = False
    """Whether the host's large tool results go to herma."""
    prefetch: bool = True
    """Whether the memory provider recalls for a turn what fits it."""
    prefetch_chars: int = PREFETCH_CHARS
    """Chars that it gives at most."""
    engine: dict[str, Any] = field(default_factory=dict)
    """Settings of ``context.configure`` that the host's section ``compression`` names."""
    model_thresholds: dict[str, float] = field(default_factory=dict)
    """The host's thresholds by a part of the model's name; the longest part that fits counts."""

    @classmethod
    def read(cls, config: dict[str, Any]) -> PluginSettings:
        """The settings of a ``config.yaml``; what is wrong is logged and has its default."""
        own, compression = section(config, "herma"), section(config, "compression")
        return cls(
            timeout=_number(own, "timeout", LIMIT, SHORTEST_LIMIT, LONGEST_LIMIT),
            summarizer=_choice(own, "summarizer", SUMMARIZERS),
            select_context=_switch(own, "select_context", default=False),
            model_tools=_switch(own, "model_tools", default=False),
            memory=_switch(own, "memory", default=False),
            results=_switch(own, "results", default=False),
            prefetch=_switch(own, "prefetch", default=True),
            prefetch_chars=int(
                _number(own, "prefetch_chars", PREFETCH_CHARS, 100, MOST_PREFETCH_CHARS)
            ),
            engine=_of_engine(compression),
            model_thresholds=_thresholds(compression.get("model_thresholds")),
        )

    def threshold_of(self, model: str) -> float | None:
        """The threshold (a share of the window) that the host has for a model."""
        fits = [name for name in self.model_thresholds if name.lower() in model.lower()]
        return self.model_thresholds[max(fits, key=len)] if fits else None


def _thresholds(found: Any) -> dict[str, float]:
    if not isinstance(found, dict):
        return {}
    return {
        str(name): float(share)
        for name, share in found.items()
        if is_number(share) and 0 < share <= 1
    }


def _of_engine(compression: dict[str, Any]) -> dict[str, Any]:
    """What the daemon takes: a single wrong value would have it refuse all."""
    made: dict[str, Any] = {}
    for name, is_fine in ENGINE_KEYS.items():
        found = compression.get(name)
        if is_fine(found):
            made[name] = found
        elif found is not None:
            logger.warning("config.yaml: compression.%s is not understood", name)
    return made


def _switch(own: dict[str, Any], name: str, *, default: bool) -> bool:
    found = own.get(name, default)
    if isinstance(found, bool):
        return found
    if isinstance(found, str) and found.strip().lower() in ("on", "true", "yes", "1"):
        return True
    if not (isinstance(found, str) and found.strip().lower() in ("off", "false", "no", "0")):
        logger.warning("config.yaml: herma.%s must be true or false", name)
        return default
    return False


def _choice(own: dict[str, Any], name: str, choices: tuple[str, ...]) -> str:
    found = own.get(name, choices[0])
    if found not in choices:
        logger.warning("config.yaml: herma.%s must be one of %s", name, ", ".join(choices))
        return choices[0]
    return str(found)


def _number(own: dict[str, Any], name: str, default: float, least: float, most: float) -> float:
    found = own.get(name, default)
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not least <= found <= most:
        logger.warning("config.yaml: herma.%s must be a number from %s to %s", name, least, most)
        return default
    return float(found)
