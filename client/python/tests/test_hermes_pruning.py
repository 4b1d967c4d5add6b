"""Old tool results that are taken out of a list before it has to be compressed."""

from __future__ import annotations

import copy
import random
import re
from pathlib import Path

import pytest
from conftest import conversation
from hermes_fakes import WINDOW

from herma.hermes import HermaContextEngine
from herma.hermes.counting import CHARS, estimate
from herma.hermes.pruning import (
    BLOCK_CHARS,
    CALLS,
    LEAST_CHARS,
    READ_PRICE,
    SPILLED,
    WRITE_PRICE,
    worth_pruning,
)


def tool(chars: int, at: int = 0, letter: str = "x") -> dict:
    text = f"result {at} " + letter * chars
    return {"role": "tool", "tool_call_id": f"c{at}", "content": text[:chars]}


def call(at: int) -> dict:
    function = {"name": "t", "arguments": "{}"}
    asked = {"id": f"c{at}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [asked]}


def text(chars: int) -> dict:
    return {"role": "user", "content": "w" * chars}


@pytest.mark.parametrize(
    ("messages", "protected", "chosen"),
    [
        ([], 3, []),
        ([tool(50_000)], 0, [0]),
        ([tool(50_000)], 1, []),
        ([tool(50_000)], 5, []),
        ([tool(LEAST_CHARS - 1)], 0, []),
        ([tool(50_000), text(10)], 1, [0]),
        ([tool(3_000), text(400_000)], 1, []),
        ([tool(50_000), text(40_000), tool(50_000)], 0, [0, 2]),
        ([tool(50_000), text(400_000), tool(50_000)], 0, [2]),
        ([tool(3_000), text(400_000), tool(50_000)], 0, [2]),
        ([{"role": "user", "content": "x" * 50_000}], 0, []),
        ([{**tool(50_000), "content": [{"type": "text", "text": "x" * 50_000}]}], 0, []),
        ([{**tool(50_000), "content": SPILLED + "x" * 50_000}], 0, []),
        ([None, 7, "text", tool(50_000)], 0, [3]),
    ],
)
def test_what_is_worth_taking_out(messages, protected, chosen):
    assert worth_pruning(messages, protected) == chosen


def gain(messages, chosen) -> float:
    """By the module's own prices: what the calls to come save, less the cache written anew."""
    shorter = list(messages)
    for at in chosen:
        shorter[at] = {**messages[at], "content": "b" * BLOCK_CHARS}
    saved = (estimate(messages) - estimate(shorter)) * READ_PRICE * CALLS
    return saved - estimate(shorter[chosen[0] :]) * (WRITE_PRICE - READ_PRICE)


@pytest.mark.parametrize("seed", range(200))
def test_never_is_anything_lost_by_it(seed):
    chance = random.Random(seed)
    messages = [
        chance.choice([tool, text])(int(10 ** chance.uniform(1, 5)))
        for _ in range(chance.randrange(1, 40))
    ]
    protected = chance.randrange(6)
    chosen = worth_pruning(messages, protected)
    assert chosen == sorted(set(chosen))
    if chosen:
        rounding = len(messages) * CHARS
        assert gain(messages, chosen) > -rounding
        assert chosen[-1] < len(messages) - protected
        assert all(len(messages[at]["content"]) >= LEAST_CHARS for at in chosen)


@pytest.fixture
def engine(home):
    engine = HermaContextEngine(context_length=WINDOW)
    engine.on_session_start("s")
    return engine


def work(*results: str) -> list[dict]:
    messages = conversation(4)
    for at, content in enumerate(results):
        messages += [call(at), {**tool(0, at), "content": content}]
    return messages + conversation(22)[1:]


ODD = "é😀\r\n\t\0 ünïcödé\u2028 </persisted output> line\n" * 200


def test_results_come_back_byte_for_byte(engine, client):
    messages = work(ODD, "y" * 30_000, "short")
    given = copy.deepcopy(messages)
    pruned, count = engine.prune_tool_results_only(messages)
    assert count == 2
    assert messages == given
    for at, (old, new) in enumerate(zip(messages, pruned)):
        if old == new:
            assert old is new, at
            continue
        assert {**new, "content": None} == {**old, "content": None}
        path = re.search(r"saved to: (.+)", new["content"]).group(1)
        assert client.output.read(path=path, offset=0, limit=10**6)["text"] == old["content"]
        assert Path(path).read_bytes() == old["content"].encode()
        assert len(new["content"]) <= BLOCK_CHARS, "the prices are of another block"


def test_it_is_done_once(engine):
    pruned, count = engine.prune_tool_results_only(work("y" * 30_000, "z" * 30_000))
    assert count == 2
    again, none = engine.prune_tool_results_only(pruned)
    assert (none, again is pruned) == (0, True)


def test_what_does_not_pay_stays_the_very_same_list(engine):
    messages = work("short")
    assert engine.prune_tool_results_only(messages) == (messages, 0)
    assert engine.prune_tool_results_only(messages)[0] is messages


def test_without_the_daemon_the_list_stays(engine, home, monkeypatch):
    monkeypatch.setenv("HERMAD", "/nowhere/hermad")
    home.kill()
    messages = work("y" * 30_000)
    assert engine.prune_tool_results_only(messages)[0] is messages


def test_a_request_is_left_alone_unless_that_was_switched_on(engine):
    assert engine.select_context(work("y" * 300_000), budget_tokens=1000) is None


def test_a_request_over_its_budget_shows_less_and_keeps_the_rest(home):
    engine = HermaContextEngine(context_length=WINDOW, select_context=True)
    engine.on_session_start("s")
    messages = work("y" * 300_000) + conversation(100)[1:]
    assert engine.select_context(messages, budget_tokens=10**7) is None
    given = copy.deepcopy(messages)
    selected = engine.select_context(messages, budget_tokens=10_000)
    assert messages == given
    assert len(selected) == len(messages)
    assert estimate(selected) < estimate(messages)
    changed = [at for at, (old, new) in enumerate(zip(messages, selected)) if old is not new]
    assert all(selected[at] != messages[at] for at in changed)
    assert 0 < len(changed) < len(messages) // 2
