"""The plugin folder of a Hermes home: registers herma as a context engine.

To let the host's own model write summaries, pass a function to
``HermaContextEngine``; it gets ``{"task", "model", "messages", "max_tokens"}`` and
returns the text.
"""

from typing import Any

from herma.hermes import HermaContextEngine


def register(ctx: Any) -> None:
    """Called by the host when ``context.engine`` is ``herma``."""
    ctx.register_context_engine(HermaContextEngine())
