"""What an agent reads in its working folder, and the steps that have it read."""

from __future__ import annotations

import re
from pathlib import Path

from judge import Message, text
from steps import Call, Say, Step, call

LINES = 350
"""Lines of a file: about 3,500 tokens, so that a window lasts for a dozen turns."""

BIG = "big.txt"
BIG_LINES = 5_200
"""Lines of an output of 190 KB."""

MARKER = "heliotrope4711"
"""A word that stands in one file only."""

MARKED = 2
"""The number of that file."""

SPILLED = re.compile(r"(/[\w./-]+\.txt)")
"""A path in the block that stands for a large output."""


def write(folder: Path, count: int) -> None:
    """Makes the files ``0.txt`` and so on, and the big one."""
    for number in range(count):
        lines = [f"File {number}, line {line}: nothing to see here.\n" for line in range(LINES)]
        if number == MARKED:
            lines[5] = f"The lighthouse is called {MARKER}.\n"
        (folder / f"{number}.txt").write_text("".join(lines))
    line = "Line {:05d} of the big file, as any.\n"
    (folder / BIG).write_text("".join(line.format(number) for number in range(BIG_LINES)))


def steps(number: int) -> list[Step]:
    """The usual work of a turn: one file, read with one tool or another."""
    name = f"{number}.txt"
    if number % 7 == 3:
        both = ("read_file", {"path": name, "limit": 60}), ("terminal", {"command": f"cat {name}"})
        return [Call(both)]
    if number % 7 == 5:
        copy = f"copy-{number}.txt"
        return [
            call("write_file", path=copy, content=f"copied {number}\n"),
            call("terminal", command=f"cat {copy} {name}"),
        ]
    return [call("terminal", command=f"cat {name}")]


def read_spilled(messages: list[Message]) -> Step:
    """Reads the last lines of the output that the newest tool message says was spilled."""
    newest = text(messages[-1])
    found = SPILLED.search(newest)
    if "persisted-output" not in newest or found is None:
        return Say(f"there is no spilled output in {newest[:300]!r}")
    return call("terminal", command=f"tail -c 400 {found.group(1)}")


def last_big_line() -> str:
    """What the end of a spilled output has to show."""
    return f"Line {BIG_LINES - 1:05d} of the big file"
