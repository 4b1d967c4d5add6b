"""How made files are written."""

from __future__ import annotations

import re
from textwrap import wrap

WIDTH = 100
MADE = '"""{doc}\n\nMade by `generate` out of protocol/schema.json.\n"""\n'


def docstring(doc: str, indent: str) -> list[str]:
    """On one line if it fits; else a short sentence first."""
    if fits(doc, indent):
        return [f'{indent}"""{doc}"""']
    first, rest = first_sentence(doc, indent)
    lines = [f"{indent}{line}" for line in wrap(rest, WIDTH - len(indent))]
    return [f'{indent}"""{first}', "", *lines, f'{indent}"""']


def field_docstring(doc: str, indent: str) -> list[str]:
    """The same for a field, where no sentence has to come first."""
    if fits(doc, indent):
        return [f'{indent}"""{doc}"""']
    begin, *lines = wrap(f'"""{doc}', WIDTH - len(indent))
    return [f"{indent}{line}" for line in (begin, *lines, '"""')]


def fits(doc: str, indent: str) -> bool:
    return len(doc) <= WIDTH - 6 - len(indent)


def first_sentence(doc: str, indent: str) -> tuple[str, str]:
    """Where a sentence ends, or else a part of one."""
    for ends in (r"[.] (?=[A-Z`])", r"[;:] "):
        first, *rest = re.split(ends, doc, maxsplit=1)
        if rest and len(first) + 4 <= WIDTH - len(indent):
            return f"{first}.", rest[0][0].upper() + rest[0][1:]
    raise SystemExit(f"a description that begins with a shorter sentence is needed: {doc}")


def text_of(lines: list[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"
