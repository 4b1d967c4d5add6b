"""How much of tool results stays in a conversation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..types import OutputConfig, Size


@dataclass(frozen=True)
class BudgetConfig:
    """Sizes in chars; ``math.inf`` is no limit. Without one the daemon's own count.

    Results of ``read_file`` always stay: they are what a spilled one is read back with.
    """

    default_result_size: float = 100_000
    """A result longer than this goes to disk, unless its tool has a size of its own."""
    turn_budget: float = 200_000
    """All results of one turn together."""
    preview_size: int = 1_500
    """What stays of a result that went to disk."""
    tool_overrides: Mapping[str, float] = field(default_factory=dict)
    """By tool, in place of ``default_result_size``."""

    @classmethod
    def of(cls, config: Any) -> BudgetConfig | None:
        """Any object with the four fields of a budget, as this one; ``None`` for none."""
        if config is None or isinstance(config, BudgetConfig):
            return config
        usual = cls()
        return cls(
            default_result_size=getattr(config, "default_result_size", usual.default_result_size),
            turn_budget=getattr(config, "turn_budget", usual.turn_budget),
            preview_size=getattr(config, "preview_size", usual.preview_size),
            tool_overrides=getattr(config, "tool_overrides", None) or {},
        )

    def on_the_wire(self) -> OutputConfig:
        """The same as the daemon takes it."""
        config: OutputConfig = {
            "preview_size": self.preview_size,
            "tool_overrides": {tool: size(chars) for tool, chars in self.tool_overrides.items()},
        }
        # The daemon has no infinity for these two; a size that nothing reaches is the same.
        config["default_result_size"] = _whole(self.default_result_size)
        config["turn_budget"] = _whole(self.turn_budget)
        return config


def size(chars: float) -> Size:
    """Chars as the wire has them."""
    return "inf" if chars == math.inf else int(chars)


def _whole(chars: float) -> int:
    return 2**53 if chars == math.inf else int(chars)
