"""Plays scenarios with one host: ``scenario.py VERSION VENV [--quick] [--only NAME]``."""

from __future__ import annotations

import argparse
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import faults
import long
import report
from endpoint import Endpoint
from home import Home
from run import Run

SCENARIOS = ("long", "faults")

EVERYTHING = ["--provider", "--memory", "--results"]
"""What ``herma hermes install`` can be asked for besides the engine."""


def play(name: str, given: argparse.Namespace) -> dict[str, Any]:
    """Plays one scenario; gives its figures."""
    started = time.monotonic()
    endpoint = Endpoint()
    try:
        with Home(given.venv.resolve(), endpoint.url, options=_options(given)) as home:
            run = Run(endpoint, home, engine=given.engine)
            try:
                if name == "long":
                    long.play(run, quick=given.quick)
                else:
                    faults.play(run, quick=given.quick)
            except Exception:
                run.fail(traceback.format_exc())
            if run.failures and given.keep:
                home.keep(given.keep)
            figures = run.figures()
    finally:
        endpoint.close()
    about = {"host": given.host, "engine": given.engine, "scenario": name}
    return {**about, **figures, "took_s": time.monotonic() - started}


def _options(given: argparse.Namespace) -> list[str] | None:
    if given.engine != "herma":
        return None
    return [] if given.plain else EVERYTHING


def main() -> None:
    """Exit code 1 when anything is wrong."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("host")
    arguments.add_argument("venv", type=Path, help="where the host is installed")
    arguments.add_argument(
        "--quick", action="store_true", help="a third of the turns, and no kills"
    )
    arguments.add_argument("--only", choices=SCENARIOS)
    arguments.add_argument("--engine", default="herma", help="compressor is the host's own")
    arguments.add_argument("--plain", action="store_true", help="herma as the engine only")
    arguments.add_argument("--report", type=Path, help="a file of JSON lines to add the figures to")
    arguments.add_argument("--keep", type=Path, help="where the home of a failed scenario goes")
    given = arguments.parse_args()
    # A limit ends with this: then too what was started has to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended before it was done"))
    names = [given.only] if given.only else SCENARIOS
    results = [play(name, given) for name in names]
    report.show(results)
    if given.report:
        report.write(results, given.report)
    sys.exit(any(one["failures"] for one in results))


if __name__ == "__main__":
    main()
