"""Makes the functions of both clients: a module for each namespace."""

from __future__ import annotations

import keyword
import re
from pathlib import Path

from . import schema as s
from .text import MADE, WIDTH, docstring, text_of


def make(protocol: s.Protocol) -> dict[Path, str]:
    spaces: dict[str, list[s.Method]] = {}
    for method in protocol.methods:
        spaces.setdefault(method.space, []).append(method)
    made = {s.PACKAGE / "methods.py": effects(protocol.methods)}
    for folder, wait, caller in (("blocking", "", "Caller"), ("aio", "await ", "AsyncCaller")):
        room = s.PACKAGE / folder / "methods"
        made[room / "__init__.py"] = root(spaces, wait, caller)
        made[room / "call.py"] = caller_type(wait, caller)
        for space in filter(None, spaces):
            made[room / f"{space}.py"] = namespace(space, spaces[space], wait, caller)
    return made


def typed(word: str) -> str:
    """The type as the made files name it: ours live in the module `t`.

    Lists are `List` there, for some namespaces have a method that is called `list`.
    """
    word = re.sub(r"\b(?!(?:Any|Literal|None)\b)[A-Z]\w+", r"t.\g<0>", word)
    return re.sub(r"\blist\b", "List", word)


def function(method: s.Method, wait: str) -> list[str]:
    """`wait` is `await` for coroutines, else empty."""
    kind = "async def" if wait else "def"
    options = "WriteOptions" if method.keyed else "Options"
    params = [
        f"{param.name}: {optional(typed(param.type))} = None"
        if param.optional
        else f"{param.name}: {typed(param.type)}"
        for param in sorted(method.params, key=lambda param: param.optional)
    ]
    result = typed(method.result)
    sent = ", ".join(f'"{param.name}": {param.name}' for param in method.params)
    star = ["*"] if params else []
    signature = ["self", *star, *params, f"**options: Unpack[t.{options}]"]
    own = called(method.name.rpartition(".")[2])
    return [
        *call_lines(f"    {kind} {own}", signature, f" -> {result}:"),
        *docstring(method.doc, "        "),
        *assigned("params: Mapping[str, Any]", sent),
        f'        result: {result} = {wait}self._call("{method.name}", params, options)',
        "        return result",
        "",
    ]


def called(name: str) -> str:
    """A name that is a word of the language has a line behind it, as PEP 8 says."""
    return f"{name}_" if keyword.iskeyword(name) else name


def optional(word: str) -> str:
    return word if word.endswith("| None") else f"{word} | None"


def call_lines(begin: str, arguments: list[str], end: str) -> list[str]:
    line = f"{begin}({', '.join(arguments)}){end}"
    if len(line) <= WIDTH:
        return [line]
    return [f"{begin}(", *(f"        {argument}," for argument in arguments), f"    ){end}"]


def assigned(name: str, sent: str) -> list[str]:
    line = f"        {name} = {{{sent}}}"
    if len(line) <= WIDTH:
        return [line]
    pairs = (f"            {pair}," for pair in sent.split(", "))
    return [f"        {name} = {{", *pairs, "        }"]


def imports(more: str, body: list[str]) -> str:
    lists = (
        "    from builtins import list as List\n" if any("List[" in line for line in body) else ""
    )
    return (
        "from __future__ import annotations\n\nfrom typing import TYPE_CHECKING, Any\n\n"
        f"{more}if TYPE_CHECKING:\n{lists}    from collections.abc import Mapping\n\n"
        "    from typing_extensions import Unpack\n\n    from ... import types as t\n"
    )


def namespace(space: str, methods: list[s.Method], wait: str, caller: str) -> str:
    body = [line for method in methods for line in function(method, wait)]
    lines = [
        MADE.format(doc=f"The methods of `{space}`."),
        imports(f"from .call import {caller}\n\n", body),
        f"\nclass {space.title()}:",
        f'    """The methods of `{space}`."""\n',
        f"    def __init__(self, call: {caller}) -> None:\n        self._call = call\n",
    ]
    return text_of([*lines, *body])


def root(spaces: dict[str, list[s.Method]], wait: str, caller: str) -> str:
    names = sorted(space for space in spaces if space)
    more = "".join(f"from .{name} import {name.title()}\n" for name in names) + "\n"
    kind = "async def" if wait else "def"
    signature = ["self", "method: str", "params: Mapping[str, Any]", "options: Mapping[str, Any]"]
    body = [line for method in spaces[""] for line in function(method, wait)]
    lines = [
        MADE.format(doc="Every method of the wire."),
        imports(more, body),
        '\nclass Methods:\n    """Every method of the wire."""\n\n    def __init__(self) -> None:',
        *(f"        self.{name} = {name.title()}(self._call)" for name in names),
        "",
        *call_lines(f"    {kind} _call", signature, " -> Any:"),
        "        raise NotImplementedError\n",
    ]
    return text_of([*lines, *body])


def caller_type(wait: str, caller: str) -> str:
    result = "Awaitable[Any]" if wait else "Any"
    names = "Awaitable, Callable, Mapping" if wait else "Callable, Mapping"
    return text_of(
        [
            MADE.format(doc="How the functions reach the client."),
            f"from collections.abc import {names}\nfrom typing import Any\n",
            f"{caller} = Callable[[str, Mapping[str, Any], Mapping[str, Any]], {result}]",
            '"""Takes a method, its params, and the options of the call."""',
        ]
    )


def effects(methods: list[s.Method]) -> str:
    rows = (f'    "{method.name}": Effect.{method.effect.upper()},' for method in methods)
    return text_of(
        [
            MADE.format(doc="What each method does, as far as repeating it goes."),
            "from .effect import Effect\n",
            "EFFECTS: dict[str, Effect] = {",
            *rows,
            "}",
            '"""By the name on the wire."""',
        ]
    )
