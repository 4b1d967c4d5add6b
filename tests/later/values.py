"""Values that look like identifiers, and the calls that need them."""

import json
import re
from dataclasses import dataclass

from baselines import text_of

VALUE = re.compile(
    r"""
      (?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
    | (?P<link>https?://[^\s"'<>)\]}]+)
    | (?P<path>(?:~|\.{1,2})?(?:/[\w.@+-]+){1,}/?
              | [\w@+-]+(?:/[\w.@+-]+)+)                   # with a root, and without one
    | (?P<date>\b\d{4}-\d{2}-\d{2}\b)
    | (?P<id>\b[A-Za-z_][\w-]*\d[\w-]*\b)                # or an error code
    | (?P<name>\b[A-Za-z]\w*_\w+\b | \b[a-z]+(?:[A-Z][a-z0-9]+)+\b)
    | (?P<file>\b\w+\.(?:py|rs|js|ts|c|h|go|java|md|toml|json|yaml|yml|txt|cfg|sh)\b)
    | (?P<number>\b\d[\dA-Fa-f]{2,}\b)                    # or a hash
    """,
    re.VERBOSE,
)

WORD = re.compile(r"[^\W\d_]{3,}")

# Words of the model's own text that go into a query.
KEYWORDS = 12

# Chars of a beginning and of an end.
END = 16 << 10


@dataclass(frozen=True)
class Need:
    """A value that a call was given, and how one would look for it."""

    value: str
    query: str


def values(text):
    """The values in a text."""
    all_found = (found.group().strip(".,/") for found in VALUE.finditer(text))
    return {found for found in all_found if len(found) >= 3}


def kind_of(value):
    """The kind of a value."""
    found = VALUE.match(value)
    return found.lastgroup if found else "other"


def place_of(value, messages):
    """Where a value stood, in the words of a table."""
    if any(value in call["function"]["arguments"] for message in messages for call in message.get("tool_calls") or []):
        return "given to a call"
    where = [message for message in messages if value in text_of(message)]
    if any(message["role"] != "tool" for message in where):
        return "said"
    if all(is_inside(value, text_of(message)) for message in where):
        return "in the middle of long outputs"
    return "in one output" if len(where) == 1 else "in several outputs"


def is_inside(value, text):
    """Whether a value stands only behind the beginning of a long text and before its end."""
    return value not in text[:END] and value not in text[-END:]


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
