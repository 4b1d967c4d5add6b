"""The table at the end.

``p50`` and ``p99`` are what a turn waits for the engine, ``provider`` the median of what it
waits for the memory provider, in ms; ``slowest`` is a whole turn.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

COLUMNS = (
    ("host", 8, "{host}"),
    ("engine", 11, "{engine}"),
    ("scenario", 9, "{scenario}"),
    ("turns", 6, "{turns}"),
    ("lost", 5, "{lost}"),
    ("p50 ms", 7, "{median_ms:.1f}"),
    ("p99 ms", 8, "{p99_ms:.1f}"),
    ("provider", 9, "{provider_ms:.1f}"),
    ("slowest s", 10, "{slowest_s:.1f}"),
    ("compressions", 13, "{compressions}"),
    ("summaries", 10, "{summaries}"),
    ("requests", 9, "{requests}"),
    ("violations", 11, "{violations}"),
)


def show(results: list[dict[str, Any]]) -> None:
    """Prints the figures, and every failure below them."""
    print("".join(f"{name:>{width}}" for name, width, _ in COLUMNS))
    for one in results:
        print("".join(f"{form.format(**one):>{width}}" for _, width, form in COLUMNS))
    for one in results:
        for failure in one["failures"]:
            print(f"FAILED {one['host']} {one['engine']} {one['scenario']}: {failure}")


def write(results: list[dict[str, Any]], path: Path) -> None:
    """Adds the figures to a file of JSON lines."""
    with path.open("a") as file:
        for one in results:
            file.write(json.dumps(one) + "\n")
