"""What is recalled for a turn before the model is asked: which hits, and how they are shown.

Nothing here asks anybody or reads a clock: hits and times come in as arguments.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from typing import Any

QUERY_CHARS = 1_000
"""Chars of a user's message that are looked for."""

HITS = 20
"""Hits that are asked for, of which the best that are new are shown."""

SHOWN = 5
"""Hits that are shown at most."""

SNIPPET_CHARS = 500
"""Chars of one hit at most."""

SHARE = 0.4
"""Share of the query's words that a hit must have, at least :data:`WORDS` of them where the
query has as many."""

WORDS = 2

NEWS = 4
"""Words that a hit must have beyond those of the query: else it says nothing new."""

TRIVIAL = re.compile(
    r"(hi|hello|hey|thanks?|thank you|ok(ay)?|yes|yep|no|nope|sure|great|good|cool|nice|bye|"
    r"continue|go on|go ahead|proceed|next|done|stop|please|danke|ja|nein|weiter|hallo)"
    r"([\s,.!?]+(please|then|thanks|it|on))*[\s.!?]*",
    re.IGNORECASE,
)
"""What is not worth a search."""

WORD = re.compile(r"[^\W_]{3,}")
PAIR = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

STOP_WORDS = """
the and for that this with from what when where which who how why was were are is has have had
did does not you your our can could would should will about into than then them they there here
please tell show give get let make want need know just some any all also been but its
ich die der das und ist nicht ein eine wie was wer wo mit von für auf
les des une que qui est pas los las del por para con
"""

STOP = frozenset(STOP_WORDS.split())
"""Words that say nothing of what is looked for."""


def is_trivial(query: str) -> bool:
    """Whether a user's message is a greeting, a nod or a command, and nothing to look for."""
    text = query.strip()
    return len(text) < 3 or text.startswith("/") or TRIVIAL.fullmatch(text) is not None


def words(text: str) -> set[str]:
    """The words to compare by; a sign of a script without spaces is one."""
    lower = text.lower()
    return {word for word in WORD.findall(lower) if word not in STOP} | set(PAIR.findall(lower))


def fitting(
    hits: Iterable[Mapping[str, Any]], query: str, shown: Collection[str], present: str
) -> list[Mapping[str, Any]]:
    """The hits to show, best first: near enough, not shown before, not in the list anyway.

    ``shown`` has the texts of earlier turns; ``present`` is what the model sees already.
    """
    known = set(shown)
    wanted = words(query)
    needed = max(min(WORDS, len(wanted)), SHARE * min(len(wanted), 8))
    chosen: list[Mapping[str, Any]] = []
    for hit in hits:
        text = core(hit["snippet"])
        if not text or text in known or text in present:
            continue
        said = words(hit["snippet"])
        if len(wanted & said) < needed or len(said - wanted) < NEWS:
            continue
        known.add(text)
        chosen.append(hit)
        if len(chosen) == SHOWN:
            break
    return chosen


def core(snippet: str) -> str:
    """A snippet without the marks of where it was cut, in one line."""
    return " ".join(snippet.strip("… \n").split())


def rendered(hits: Iterable[Mapping[str, Any]], now: float, limit: int) -> list[str]:
    """A line with age, source and handle for each of the first hits, at most ``limit`` chars."""
    lines: list[str] = []
    left = limit
    for hit in hits:
        line = f"- [{age(now - hit['time'])}, {source(hit)}] {core(hit['snippet'])[:SNIPPET_CHARS]}"
        line += f" (recall_expand {hit['handle']})"
        if len(line) + 1 > left:
            break
        left -= len(line) + 1
        lines.append(line)
    return lines


def source(hit: Mapping[str, Any]) -> str:
    """Where a hit comes from, in a few words."""
    kind, role, session = hit["kind"], hit.get("role"), hit.get("session")
    what = {"memory": "an earlier note", "output": "a tool output"}.get(kind, f"{role or 'said'}")
    return f"{what} in session {session}" if session else what


def age(seconds: float) -> str:
    """How long ago, roughly."""
    passed = timedelta(seconds=max(0.0, seconds))
    if passed.days >= 1:
        return f"{passed.days} day{'s' if passed.days > 1 else ''} ago"
    hours, minutes = passed.seconds // 3600, passed.seconds // 60
    if hours:
        return f"{hours} hour{'s' if hours > 1 else ''} ago"
    return f"{minutes} minute{'s' if minutes != 1 else ''} ago" if minutes else "just now"
