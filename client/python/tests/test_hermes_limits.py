"""How long a turn waits for a daemon that does not answer, and what is sent to it later."""

from __future__ import annotations

import os
import time

import pytest
from conftest import conversation, stopped, wait_for
from hermes_fakes import OVER, WINDOW, said

import herma
from herma.hermes import HermaContextEngine

LIMIT = 0.4
AT_ONCE = 0.1
LONG = conversation(120)
TOOLS = [{"role": "tool", "tool_call_id": "c", "content": "x" * 50_000}] * 40

CALLS = {
    "update_model": lambda engine: engine.update_model("other", 2 * WINDOW),
    "on_session_start": lambda engine: engine.on_session_start("t"),
    "on_session_reset": lambda engine: engine.on_session_reset(),
    "on_session_end": lambda engine: engine.on_session_end("s", LONG),
    "update_from_response": lambda engine: engine.update_from_response({"prompt_tokens": 5}),
    "should_compress": lambda engine: engine.should_compress(OVER),
    "should_compress_preflight": lambda engine: engine.should_compress_preflight(
        conversation(300, words=600)
    ),
    "has_content_to_compress": lambda engine: engine.has_content_to_compress(LONG),
    "compress": lambda engine: engine.compress(LONG, current_tokens=OVER),
    "prune_tool_results_only": lambda engine: engine.prune_tool_results_only(TOOLS),
    "select_context": lambda engine: engine.select_context(LONG, budget_tokens=1),
    "on_turn_complete": lambda engine: engine.on_turn_complete(LONG),
    "pending_compression_operation": lambda engine: engine.pending_compression_operation(LONG * 9),
    "handle_tool_call": lambda engine: engine.handle_tool_call("recall_search", {"query": "x"}),
    "carry_over_new_session_context": lambda engine: engine.carry_over_new_session_context(
        "s", "t"
    ),
    "get_status": lambda engine: engine.get_status(),
}


def seconds(call) -> float:
    began = time.monotonic()
    call()
    return time.monotonic() - began


@pytest.fixture
def engine(home):
    engine = HermaContextEngine(context_length=WINDOW, timeout=LIMIT, select_context=True)
    engine.on_session_start("s")
    engine.on_turn_complete(LONG[:10])
    return engine


@pytest.mark.parametrize("name", CALLS)
def test_no_call_takes_longer_than_the_limit(home, engine, name):
    with stopped(home.pid):
        assert seconds(lambda: CALLS[name](engine)) < 2 * LIMIT


def test_after_the_first_failure_all_calls_answer_at_once(home, engine):
    with stopped(home.pid):
        engine.update_from_response({"prompt_tokens": 5})
        # A compression is worth one more try within the limit; the next ones are not.
        assert seconds(lambda: engine.compress(LONG)) < 2 * LIMIT
        for name, call in CALLS.items():
            assert seconds(lambda call=call: call(engine)) < AT_ONCE, name
    wait_for(lambda: engine.should_compress(2 * OVER), "the daemon")


def test_the_usual_limit_is_a_second_and_a_half(home):
    engine = HermaContextEngine(context_length=WINDOW)
    engine.on_session_start("s")
    with stopped(home.pid):
        assert 1 < seconds(lambda: engine.should_compress(OVER)) < 3


def test_a_daemon_that_was_killed_is_started_within_the_call(home, engine):
    before = home.pid
    home.kill()
    assert engine.should_compress(OVER)
    assert home.pid != before


def test_a_background_thread_starts_a_new_daemon(home, engine, monkeypatch):
    program = os.environ["HERMAD"]
    monkeypatch.setenv("HERMAD", "/nowhere/hermad")
    home.kill()
    assert engine.should_compress(OVER)
    assert not engine.should_compress(OVER)
    monkeypatch.setenv("HERMAD", program)
    wait_for(lambda: engine.should_compress(OVER), "the daemon")


def total(session: str) -> dict:
    with herma.Client() as client:
        return client.session.usage(session=session)["total"]


def test_usage_is_complete_when_the_daemon_is_killed_between_calls(home, engine):
    for at in range(12):
        if at % 3 == 1:
            home.kill()
        engine.update_from_response({"prompt_tokens": 1000, "completion_tokens": 10})
    wait_for(lambda: total("s")["calls"] == 12, "all usage")
    assert total("s")["prompt"] == 12_000


@pytest.mark.parametrize("began", ["with it", "without it"])
def test_usage_that_was_missed_is_sent_when_the_daemon_is_back(home, monkeypatch, began):
    program = os.environ["HERMAD"]
    engine = HermaContextEngine(context_length=WINDOW, timeout=LIMIT)
    if began == "with it":
        engine.on_session_start("s")
        engine.update_from_response({"prompt_tokens": 1000})
        home.kill()
    monkeypatch.setenv("HERMAD", "/nowhere/hermad")
    engine.on_session_start("s")
    sent = 20 if began == "without it" else 19
    for _ in range(sent):
        engine.update_from_response({"prompt_tokens": 1000, "completion_tokens": 10})
    assert engine.last_prompt_tokens == 1000
    monkeypatch.setenv("HERMAD", program)
    wait_for(lambda: total("s")["calls"] == 20, "the usage that was missed")
    assert total("s")["output"] == 10 * sent


def test_usage_of_a_daemon_that_stood_still_is_counted_once(home, engine):
    """Only the call that was under way may be lost: whether it was done is not known."""
    with stopped(home.pid):
        for _ in range(10):
            engine.update_from_response({"prompt_tokens": 1000})
    wait_for(lambda: total("s")["calls"] >= 9, "the usage that was missed")
    engine.update_from_response({"prompt_tokens": 1000})
    wait_for(lambda: total("s")["calls"] >= 10, "what came later")
    assert total("s")["calls"] in (10, 11)


def test_usage_reported_while_the_daemon_comes_back_is_not_forgotten(home, engine):
    """A report that came between the last one sent and the word that it is back waited on."""
    link = engine._link
    found = link._found

    def found_late():
        engine.update_from_response({"prompt_tokens": 1000})
        found()

    link._found = found_late
    with stopped(home.pid):
        engine.should_compress(OVER)
        engine.update_from_response({"prompt_tokens": 1000})
    wait_for(lambda: link.reason is None, "the daemon")
    wait_for(lambda: total("s")["calls"] == 2, "the usage that came last")


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": float("nan")}},
        {"prompt_tokens": 1000, "provider": object()},
        {"prompt_tokens": 1000, "note": "\ud83d"},
        {"prompt_tokens": 1000, "cost": float("inf")},
    ],
)
def test_what_json_can_not_say_beside_the_counts_loses_no_usage(home, engine, usage):
    engine.update_from_response(usage)
    assert total("s")["prompt"] == 1000


def test_what_a_turn_said_while_the_daemon_stood_still_arrives(home, engine):
    with stopped(home.pid):
        messages = LONG[:10] + said("lateword", 4)
        assert seconds(lambda: engine.on_turn_complete(messages)) < AT_ONCE

    def arrived():
        with herma.Client() as client:
            return client.recall.search(query="latewordx3", session="s")["hits"]

    wait_for(arrived, "the turn")
