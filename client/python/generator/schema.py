"""protocol/schema.json as this package needs it: Python's words for its types."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "herma"
FILE = ROOT.parents[1] / "protocol" / "schema.json"
LEFT_OUT = {"subscribe"}
"""Takes a connection of its own, and is written by hand."""

Schema = dict[str, Any]


class Param(NamedTuple):
    name: str
    type: str
    optional: bool


class Method(NamedTuple):
    name: str
    effect: str
    doc: str
    params: list[Param]
    result: str
    named: list[str]
    """Names of the definitions that it uses."""

    @property
    def space(self) -> str:
        """The namespace; empty for the daemon's own methods."""
        return self.name.rpartition(".")[0]

    @property
    def keyed(self) -> bool:
        """Whether calls may carry an idempotency key."""
        return self.effect in ("write", "same")


class Protocol(NamedTuple):
    methods: list[Method]
    defs: dict[str, Schema]


def read() -> Protocol:
    schema = json.loads(FILE.read_text("utf-8"))
    effects = effects_of({row["name"]: row["effect"] for row in schema["methods"]})
    rows = [row for row in schema["methods"] if row["name"] not in LEFT_OUT]
    methods = [method(row, effects[row["name"]], schema["$defs"]) for row in rows]
    return Protocol(methods, schema["$defs"])


def effects_of(told: dict[str, str]) -> dict[str, str]:
    """The effects of the table, and what effect.py adds to them."""
    more = runpy.run_path(str(PACKAGE / "effect.py"))
    for added, name, basis in (
        *(("same", name, "write") for name in more["SAME"]),
        *(("once", name, "read") for name in more["ONCE"]),
    ):
        if told.get(name) != basis:
            raise SystemExit(f"effect.py: {name} is no method that does a {basis}")
        told = {**told, name: added}
    return told


def method(row: Schema, effect: str, defs: dict[str, Schema]) -> Method:
    schema = row["params"]
    required = schema.get("required", [])
    params = [
        Param(name, word(field), name not in required)
        for name, field in schema.get("properties", {}).items()
    ]
    used = [*names_in(schema), *names_in(row["result"])]
    return Method(row["name"], effect, doc(row["doc"]), params, result(row["result"], defs), used)


def result(schema: Schema, defs: dict[str, Schema]) -> str:
    return "Empty" if is_empty(defs[name_of(schema["$ref"])]) else word(schema)


def is_empty(schema: Schema) -> bool:
    """Whether it is an object that never has anything in it."""
    return schema.get("type") == "object" and not schema.keys() - {"type", "description"}


def name_of(reference: str) -> str:
    return reference.rpartition("/")[2]


def names_in(schema: Any) -> list[str]:
    """The definitions that a schema names, in their order."""
    if isinstance(schema, list):
        return [name for part in schema for name in names_in(part)]
    if not isinstance(schema, dict):
        return []
    own = [name_of(schema["$ref"])] if isinstance(schema.get("$ref"), str) else []
    return own + [name for part in schema.values() for name in names_in(part)]


def literals(schema: Schema) -> list[Any]:
    """The values, if it is a choice of values; else nothing."""
    if "const" in schema:
        return [schema["const"]]
    if "enum" in schema:
        return list(schema["enum"])
    found = [literals(form) for form in schema.get("oneOf", [])]
    return [value for values in found for value in values] if all(found) else []


def word(schema: Any) -> str:
    """The type in Python's words, as an annotation has it."""
    if schema is True or not isinstance(schema, dict):
        return "Any"
    if "$ref" in schema:
        return name_of(schema["$ref"])
    if values := literals(schema):
        return f"Literal[{', '.join(quoted(value) for value in values)}]"
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(word(form) for form in schema["anyOf"]))
    kinds = schema.get("type", [])
    told = [plain(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    return " | ".join(told) or "Any"


def plain(kind: str, schema: Schema) -> str:
    if kind == "array":
        items = schema.get("items", True)
        places = [word(place) for place in schema.get("prefixItems", [])]
        return f"list[{' | '.join(dict.fromkeys(places)) or word(items)}]"
    if kind == "object":
        return f"dict[str, {word(schema.get('additionalProperties', True))}]"
    return {
        "string": "str",
        "integer": "int",
        "number": "float",
        "boolean": "bool",
        "null": "None",
    }[kind]


def quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def doc(text: str) -> str:
    """A description without line ends, Rust's links and signs that look like others."""
    text = re.sub(r"\[(`[^`\]]+`)\](\([^)]*\))?", r"\1", text)
    return " ".join(text.replace("\u2212", "-").split())
