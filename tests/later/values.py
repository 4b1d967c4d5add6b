"""Values that look like identifiers, and the calls that need them."""

import json
import re
from dataclasses import dataclass

from baselines import text_of

VALUE = re.compile(
    r"""
    [\w.+-]+@[\w-]+(?:\.[\w-]+)+                     # an email
    | https?://[^\s"'<>)\]}]+                        # a link
    | (?:~|\.{1,2})?(?:/[\w.@+-]+){1,}/?             # a path
    | [\w@+-]+(?:/[\w.@+-]+)+                        # a path without a root
    | \b\d{4}-\d{2}-\d{2}\b                          # a date
    | \b[A-Za-z_][\w-]*\d[\w-]*\b                    # an id, or an error code
    | \b[A-Za-z]\w*_\w+\b                            # a name with lines
    | \b[a-z]+(?:[A-Z][a-z0-9]+)+\b                  # a nameLikeThis
    | \b\w+\.(?:py|rs|js|ts|c|h|go|java|md|toml|json|yaml|yml|txt|cfg|sh)\b
    | \b\d[\dA-Fa-f]{2,}\b                           # a number, or a hash
    """,
    re.VERBOSE,
)

WORD = re.compile(r"[^\W\d_]{3,}")

# Words of the model's own text that go into a query.
KEYWORDS = 12


@dataclass(frozen=True)
class Need:
    """A value that a call was given, and how one would look for it."""

    value: str
    query: str


def values(text):
    """The values in a text."""
    return {found.strip(".,/") for found in VALUE.findall(text) if len(found.strip(".,/")) >= 3}


def said(messages):
    """The values that stand in messages, as far as they are found as such."""
    return values("\n".join(map(text_of, messages)))


def needs(messages):
    """The place and the need of every value in the arguments of calls."""
    for place, message in enumerate(messages):
        words = WORD.findall(message.get("content") or "" if isinstance(message.get("content"), str) else "")
        for call in message.get("tool_calls") or []:
            function = call["function"]
            for name, value in arguments(function["arguments"]):
                for found in sorted(values(value)):
                    own = [word for word in words if word.lower() not in found.lower()][:KEYWORDS]
                    yield place, Need(found, " ".join([function["name"], name, *own]))


def arguments(text):
    """The names and strings of a call's arguments."""
    try:
        given = json.loads(text)
    except ValueError:
        return [("", text)]

    def walk(name, value):
        match value:
            case dict():
                for key, inner in value.items():
                    yield from walk(key, inner)
            case list():
                for inner in value:
                    yield from walk(name, inner)
            case str():
                yield name, value
            case bool() | None:
                return
            case _:
                yield name, str(value)

    return list(walk("", given))
