"""herma for agents of the Hermes family: a context engine, and a memory provider.

The host loads this file out of ``<home>/plugins/herma``, once for each of the two: its
loader of plugins wants ``register_context_engine``, its loader of memory providers
``register_memory_provider``. The package lies beside it in ``lib``, so that nothing has to
be installed into the host's own environment.
"""

import sys
from pathlib import Path
from typing import Any

LIB = Path(__file__).resolve().parent / "lib"


def register(ctx: Any) -> None:
    """Called by the host with whatever of itself it shows to this kind of plugin."""
    if LIB.is_dir() and str(LIB) not in sys.path:
        # In front: the plugin, its package and the daemon are of one version.
        sys.path.insert(0, str(LIB))
    from herma.hermes import register as own

    own.register(ctx)
