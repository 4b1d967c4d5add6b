"""``python -m herma.hermes [--force] [HOME]``: puts the plugin into a Hermes home."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..place import Place
from .install import LINES, EditedError, install


def main() -> int:
    """Installs, and says what the agent's configuration needs."""
    parser = argparse.ArgumentParser(prog="python -m herma.hermes", description=__doc__)
    parser.add_argument("home", nargs="?", help="the home [default: that of the environment]")
    overwrite = "overwrite changed files; each is kept as FILE.bak"
    parser.add_argument("--force", action="store_true", help=overwrite)
    arguments = parser.parse_args()
    home = Path(Place.find(arguments.home).home)
    try:
        folder = install(home, arguments.force)
    except EditedError as error:
        print(f"{error}; --force overwrites them, and keeps each as FILE.bak", file=sys.stderr)
        return 1
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"written: {folder}\n\n{home / 'config.yaml'} needs\n\n{LINES}")
    earlier = home / "plugins" / "context_engine" / "herma"
    if earlier.exists():
        print(f"REMOVE THIS, of an earlier version: {earlier}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
