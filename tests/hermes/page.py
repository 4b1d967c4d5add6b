"""Does what docs/hermes.md says below "Install", word for word; then the host must use herma.

``page.py VENV [--page FILE]``, run by the host's own Python.

Each part of the section (``### …``) is a way of its own, in a fresh home: every ```sh block
is run, every ```yaml block goes into the host's config.yaml. A comment
``<!-- not run: why -->`` before a block leaves it out, and the reason is printed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from endpoint import Endpoint, answer
from home import Home
from player import Player

ROOT = Path(__file__).resolve().parents[2]
HEADING = "## Install"
BLOCK = re.compile(
    r"(?:<!-- not run: (?P<why>[^>]*?) -->\s*)?"
    r"^ *```(?P<kind>sh|yaml)\n(?P<text>.*?)^ *```",
    re.MULTILINE | re.DOTALL,
)
PATIENCE = 120

def ways(page: str) -> Iterator[tuple[str, str]]:
    """Title and text of each part below the heading that has blocks."""
    _, found, rest = page.partition(f"\n{HEADING}\n")
    if not found:
        raise SystemExit(f"the page has no {HEADING!r}")
    section = re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0]
    for part in re.split(r"^### ", section, flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        if BLOCK.search(text):
            yield title, text


def blocks(text: str) -> Iterator[tuple[str, str, str | None]]:
    """Kind and text of each block, and why it is left out."""
    for block in BLOCK.finditer(text):
        yield block["kind"], textwrap.dedent(block["text"]), block["why"]


def merge(into: dict[str, Any], new: dict[str, Any]) -> None:
    """Puts settings into others, as somebody would who edits the file."""
    for name, value in new.items():
        if isinstance(value, dict) and isinstance(into.get(name), dict):
            merge(into[name], value)
        else:
            into[name] = value


def follow(text: str, home: Home) -> int:
    """Does what a part of the page says; how many blocks that were."""
    done = 0
    for kind, words, why in blocks(text):
        title = words.strip().splitlines()[0]
        if why is not None:
            print(f"NOT RUN ({why}): {title}")
            continue
        done += 1
        if kind == "yaml":
            config = yaml.safe_load(home.config.read_text())
            merge(config, yaml.safe_load(words))
            home.config.write_text(yaml.safe_dump(config, sort_keys=False))
            continue
        ran = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", words],
            cwd=home.work,
            env=home.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        if ran.returncode != 0:
            raise SystemExit(f"the page's command failed: {title}\n{ran.stdout}{ran.stderr}")
    return done


def uses_herma(home: Home, endpoint: Endpoint) -> None:
    """Plays a turn as the host's command does, and one where the engine can be looked at."""
    said = subprocess.run(
        ["hermes", "chat", "-Q", "-q", "[turn q-0] Hello."],
        cwd=home.work,
        env=home.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    if answer("q-0") not in said.stdout:
        raise SystemExit(f"hermes chat says {said.stdout[-500:]!r} {said.stderr[-500:]!r}")
    if "recall_search" not in endpoint.record.tools:
        raise SystemExit("hermes chat offers its model no recall: it does not use herma")
    with Player(home, "p") as player:
        done = player.turn("[turn p-0] Hello.")
    if done.get("engine") != "herma":
        raise SystemExit(f"the host uses {done.get('engine')}: {done.get('error')}")


def main() -> None:
    """Exit code 1 with the reason when the page is wrong."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("venv", type=Path)
    arguments.add_argument("--page", type=Path, default=ROOT / "docs" / "hermes.md")
    given = arguments.parse_args()
    found = list(ways(given.page.read_text()))
    if not found:
        raise SystemExit(f"there is nothing to do below {HEADING!r}")
    for title, text in found:
        endpoint = Endpoint()
        try:
            with Home(given.venv.resolve(), endpoint.url) as home:
                count = follow(text, home)
                uses_herma(home, endpoint)
        finally:
            endpoint.close()
        print(f"{given.page.name}, {title!r}: {count} blocks followed, and the host uses herma")


if __name__ == "__main__":
    main()
