"""``python -m herma.hermes [HOME]``: puts the plugin folder into a Hermes home."""

from __future__ import annotations

import pkgutil
import sys
from pathlib import Path

from ..place import Place

FILES = ("__init__.py", "plugin.yaml")


def install(home: Path) -> Path:
    """Writes ``plugins/context_engine/herma`` into the home; gives its path."""
    folder = home / "plugins" / "context_engine" / "herma"
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        data = pkgutil.get_data("herma.hermes.plugin", name)
        assert data is not None
        (folder / name).write_bytes(data)
    return folder


if __name__ == "__main__":
    print(install(Place.find(*sys.argv[1:2]).home))
