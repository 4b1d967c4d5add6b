"""The table of methods agrees with the docs, the golden files and the daemon."""

from __future__ import annotations

import json
import keyword
import re
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest
from conftest import REPOSITORY, needs

import herma
from herma import types
from herma.effect import Effect
from herma.errors import ANSWERED
from herma.methods import EFFECTS

ROOT = Path(__file__).resolve().parents[1]
PROTOCOL = REPOSITORY / "docs" / "protocol.md"
HEADER = {"profile", "deadline_ms", "idempotency_key"}

needs_repository = needs("repository")


def table():
    """Params and the name of the result of each method, as the package has them."""
    client = herma.Client(start=False)
    parts = {name: signature(function(client, name)) for name in EFFECTS}
    return {
        name: (set(part.parameters) - {"options"}, part.return_annotation.removeprefix("t."))
        for name, part in parts.items()
    }


def function(client, name):
    space, _, own = name.rpartition(".")
    own += "_" if keyword.iskeyword(own) else ""
    return getattr(getattr(client, space) if space else client, own)


@needs_repository
def test_the_made_files_are_current():
    subprocess.run([sys.executable, ROOT / "generate", "--check"], check=True, timeout=60)


@needs_repository
def test_the_table_has_the_methods_of_the_docs():
    documented = set(re.findall(r"^### `([a-z_.]+)`", PROTOCOL.read_text(), re.M))
    # Subscribing takes a connection of its own, and is written by hand.
    assert set(EFFECTS) | {"subscribe"} == documented


def test_the_table_has_the_methods_of_the_daemon(client):
    assert set(EFFECTS) | {"subscribe"} == set(client.hello()["methods"])


@needs_repository
def test_what_writes_here_writes_there():
    rows = re.findall(
        r'"([a-z_.]+)" (read|write) ', (REPOSITORY / "protocol/src/method.rs").read_text()
    )
    assert {name: effect.keyed for name, effect in EFFECTS.items()} == {
        name: effect == "write" for name, effect in rows if name != "subscribe"
    }


def test_a_write_is_either_repeatable_or_not():
    assert EFFECTS["memory.undo"] is Effect.WRITE
    assert EFFECTS["memory.add"] is Effect.SAME
    assert EFFECTS["shutdown"] is Effect.ONCE


@needs_repository
@pytest.mark.parametrize("name", EFFECTS)
def test_params_and_results_are_those_of_the_golden_files(name):
    request, answer = (REPOSITORY / f"tests/golden/v2/{name}.json").read_text().splitlines()[:2]
    params, result = table()[name]
    # The golden files stay as they are while methods get more params.
    assert params >= set(json.loads(request)["params"]) - HEADER
    fields = getattr(getattr(types, result), "__annotations__", {})
    assert set(json.loads(answer)["result"]) <= set(fields)


@needs_repository
def test_params_are_those_of_the_schema():
    schema = json.loads((REPOSITORY / "protocol/schema.json").read_text())
    told = {row["name"]: set(row["params"].get("properties", {})) for row in schema["methods"]}
    assert {name: params for name, (params, _) in table().items()} | {
        "subscribe": {"topics"}
    } == told


def test_both_clients_have_the_same_functions(home):
    clients = herma.Client(start=False), herma.AsyncClient(start=False)
    for name in EFFECTS:
        here, there = (signature(function(client, name)) for client in clients)
        assert here == there, name


@needs_repository
def test_there_is_one_version():
    plugin = (ROOT / "src/herma/hermes/plugin/plugin.yaml").read_text()
    workspace = (REPOSITORY / "Cargo.toml").read_text()
    assert f"\nversion: {herma.__version__}\n" in plugin
    assert f'\nversion = "{herma.__version__}"\n' in workspace


@needs_repository
def test_the_errors_are_those_of_the_docs():
    rows = re.findall(r"^\| (-32\d+) \| `(\w+)` \|", PROTOCOL.read_text(), re.M)
    assert {(int(code), kind) for code, kind in rows} == {
        (error.code, kind) for kind, error in ANSWERED.items()
    }
    assert all(issubclass(getattr(herma, e.__name__), herma.HermaError) for e in ANSWERED.values())
