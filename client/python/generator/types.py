"""Makes herma.types: a module for each resource."""

from __future__ import annotations

import re
from pathlib import Path

from . import schema as s
from .text import MADE, WIDTH, docstring, field_docstring, text_of

FOLDER = s.PACKAGE / "types"
PART_OF = {"EngineSettings": ("ContextSettings", "summarizer")}
"""Types that are another one without a field: engines have a summarizer of another kind."""

Fields = dict[str, tuple[s.Schema, bool]]
"""The schema of each field, and whether it is always there."""


def make(protocol: s.Protocol) -> dict[Path, str]:
    homes = homes_of(protocol)
    modules: dict[str, list[str]] = {}
    for name, home in homes.items():
        modules.setdefault(home, []).append(name)
    made = {
        FOLDER / f"{home}.py": module(home, names, protocol.defs, homes)
        for home, names in modules.items()
    }
    made[FOLDER / "__init__.py"] = package(sorted(modules))
    return made


def homes_of(protocol: s.Protocol) -> dict[str, str]:
    """The module of each definition: the resource of the first method that uses it."""
    homes: dict[str, str] = {}

    def settle(name: str, home: str) -> None:
        if name in homes or s.is_empty(protocol.defs[name]):
            return
        homes[name] = home
        for other in s.names_in(protocol.defs[name]):
            settle(other, home)

    for method in sorted(protocol.methods, key=lambda method: method.space == ""):
        for name in method.named:
            settle(name, method.space or "daemon")
    for name, (whole, _) in PART_OF.items():
        homes[name] = homes[whole]
    return homes


def module(home: str, names: list[str], defs: dict[str, s.Schema], homes: dict[str, str]) -> str:
    choices: list[str] = []
    classes: list[str] = []
    for name in sorted(names):
        whole, without = PART_OF.get(name, (name, ""))
        fields = fields_of(defs[whole], defs)
        if fields is None:
            choices += choice(name, defs[name])
        else:
            fields.pop(without, None)
            classes += typed_dict(name, defs[whole], fields)
    used = {other for name in names for other in s.names_in(defs.get(name, {})) if other in homes}
    others = sorted({(homes[name], name) for name in used if homes[name] != home})
    body = [*choices, *classes]
    head = MADE.format(doc=f"The types of `{home}`.") + "\nfrom __future__ import annotations\n"
    return text_of([head, *imports("\n".join(body), others), *body])


def imports(body: str, others: list[tuple[str, str]]) -> list[str]:
    """Of a module with this text, which names types of other modules."""
    names = [name for name in ("Any", "Literal", "TypedDict", "Union") if used_in(name, body)]
    later = []
    if used_in("NotRequired", body):
        later.append("    from typing_extensions import NotRequired\n")
    homes = dict.fromkeys(home for home, _ in others)
    lines = (
        f"    from .{home} import {', '.join(name for other, name in others if other == home)}"
        for home in homes
    )
    later += ["\n".join(lines) + "\n"] if others else []
    first = ["TYPE_CHECKING"] if later else []
    found = [f"from typing import {', '.join([*first, *names])}\n"]
    return [*found, "if TYPE_CHECKING:\n" + "\n".join(later)] if later else found


def used_in(name: str, body: str) -> bool:
    return re.search(rf"^[^\"]*\b{name}\b", body, re.MULTILINE) is not None


def fields_of(schema: s.Schema, defs: dict[str, s.Schema]) -> Fields | None:
    """Each field and whether it is always there; nothing for what is no object.

    An object with several forms has the fields of all of them.
    """
    if "$ref" in schema:
        return fields_of(defs[s.name_of(schema["$ref"])], defs)
    if "properties" in schema:
        required = schema.get("required", [])
        return {name: (field, name in required) for name, field in schema["properties"].items()}
    forms = [fields_of(form, defs) for form in schema.get("anyOf", schema.get("oneOf", []))]
    if not forms or None in forms:
        return None
    merged: Fields = {}
    for form in forms:
        for name, (field, _) in (form or {}).items():
            always = all((other or {}).get(name, (None, False))[1] for other in forms)
            merged.setdefault(name, (field, always))
    return merged


def typed_dict(name: str, schema: s.Schema, fields: Fields) -> list[str]:
    lines = [f"\nclass {name}(TypedDict):"]
    if "description" in schema:
        lines += [*docstring(s.doc(schema["description"]), "    "), ""]
    for field, (told, always) in fields.items():
        word = s.word(told)
        lines += annotated(f"    {field}: ", word if always else f"NotRequired[{word}]")
        if "description" in told:
            lines += field_docstring(s.doc(told["description"]), "    ")
    return [*lines, ""]


def annotated(begin: str, word: str) -> list[str]:
    if len(begin + word) <= WIDTH:
        return [begin + word]
    raise SystemExit(f"{begin}{word} is too long for a line: declare a type for it")


def choice(name: str, schema: s.Schema) -> list[str]:
    """Values, or types of which it is one."""
    if values := s.literals(schema):
        told = [s.quoted(value) for value in values]
        word = "Literal"
    else:
        told = [s.word(form) for form in schema["anyOf"]]
        word = "Union"
    line = f"{name} = {word}[{', '.join(told)}]"
    if len(line) > WIDTH:
        line = "\n".join([f"{name} = {word}[", *(f"    {value}," for value in told), "]"])
    doc = [s.doc(schema["description"])] if "description" in schema else []
    return [line, *(text for one in doc for text in field_docstring(one, "")), ""]


def package(homes: list[str]) -> str:
    names = sorted(["base", *homes])
    return text_of(
        [
            '"""The shapes of params and results, one module for each resource.\n',
            "They are plain dicts at run time. ``NotRequired`` fields may be absent, those with",
            "``None`` null; a newer daemon may send more. The result of ``memory.list`` is a",
            "``MemoryList``.\n",
            'Made by `generate` out of protocol/schema.json, but for `base`.\n"""\n',
            *(f"from .{name} import *" for name in names),
        ]
    )
