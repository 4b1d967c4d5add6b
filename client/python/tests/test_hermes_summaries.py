"""Who writes a summary, and what becomes of one that is not written."""

from __future__ import annotations

import sys
import threading
import types
from types import SimpleNamespace

import pytest
from conftest import conversation, wait_for
from hermes_fakes import OVER, WINDOW, Agent

from herma.hermes import HermaContextEngine

WORDS = "## Goal\nThe words were lorem ipsum, and nothing is left to do."
KEY = "sk-" + "verysecret" * 4
LONG = conversation(120)


def text_of(messages) -> str:
    return "\n".join(str(message["content"]) for message in messages)


def kept(home) -> bytes:
    files = (path for path in home.path.rglob("*") if path.is_file())
    return b"".join(path.read_bytes() for path in files)


def fails(error):
    def summarizer(request):
        raise error

    return summarizer


class Refused(Exception):
    status_code = 401


@pytest.mark.parametrize(
    "summarizer",
    [
        fails(RuntimeError("boom")),
        fails(Refused("no key")),
        fails(TimeoutError()),
        fails(KeyError("choices")),
        lambda request: "",
        lambda request: " \n ",
        lambda request: None,
        lambda request: 7,
        lambda request: b"bytes",
        lambda request: ["text"],
        lambda: "takes no request",
        7,
    ],
    ids=range(12),
)
def test_without_a_summary_the_list_gets_shorter_all_the_same(home, summarizer):
    engine = HermaContextEngine(summarizer, context_length=WINDOW)
    engine.on_session_start("s")
    shorter = engine.compress(LONG, current_tokens=OVER)
    assert len(shorter) < len(LONG)
    assert engine._last_summary_fallback_used
    assert engine._last_summary_dropped_count > 0
    assert isinstance(engine._last_summary_error, str)
    assert engine.get_active_compression_failure_cooldown()["remaining_seconds"] > 0


def test_half_a_surrogate_in_a_summary_is_replaced(home):
    engine = HermaContextEngine(lambda request: WORDS + "\ud83d", context_length=WINDOW)
    engine.on_session_start("s")
    shorter = engine.compress(LONG, current_tokens=OVER)
    assert "nothing is left to do" in text_of(shorter)
    assert engine._last_summary_error is None


def test_a_slow_model_is_waited_for_as_long_as_the_daemon_lives(home):
    # Long enough for a busy machine.
    limit = 1.0

    def slow(request):
        threading.Event().wait(2 * limit)
        return WORDS

    engine = HermaContextEngine(slow, context_length=WINDOW, timeout=limit)
    engine.on_session_start("s")
    assert "nothing is left to do" in text_of(engine.compress(LONG, current_tokens=OVER))


def test_a_daemon_that_dies_while_the_model_writes_loses_nothing(home):
    def dies(request):
        home.kill()
        return WORDS

    engine = HermaContextEngine(dies, context_length=WINDOW)
    engine.on_session_start("s")
    assert engine.compress(LONG, current_tokens=OVER) is LONG
    assert engine._last_compress_aborted
    assert engine._last_summary_error
    engine._summarizer = lambda request: WORDS
    wait_for(lambda: engine._link.reason is None, "the daemon")
    assert "nothing is left" in text_of(engine.compress(LONG, current_tokens=OVER, force=True))


@pytest.fixture
def host(monkeypatch):
    """A host's module that asks models; ``asked`` has what it was called with."""
    module = types.ModuleType("agent.auxiliary_client")
    module.asked = []
    module.answer = SimpleNamespace(choices=[SimpleNamespace(message={"content": WORDS})])

    def call_llm(task=None, *, messages=None, main_runtime=None, model=None):
        module.asked.append(
            {"task": task, "messages": messages, "runtime": main_runtime, "model": model}
        )
        return module.answer

    module.call_llm = call_llm
    package = types.ModuleType("agent")
    package.auxiliary_client = module
    monkeypatch.setitem(sys.modules, "agent", package)
    monkeypatch.setitem(sys.modules, "agent.auxiliary_client", module)
    return module


def asking(**settings) -> HermaContextEngine:
    engine = HermaContextEngine(context_length=WINDOW, **settings)
    engine.ask_host()
    engine.update_model(
        "big", WINDOW, "http://127.0.0.1:1/v1", KEY, provider="openai", api_mode="chat"
    )
    engine.on_session_start("s")
    return engine


def test_the_hosts_own_model_writes_where_it_was_asked_for(home, host):
    engine = asking()
    shorter = engine.compress(LONG, current_tokens=OVER)
    assert "nothing is left to do" in text_of(shorter)
    assert engine.last_report["summarizer"] == "client"
    (asked,) = host.asked
    assert asked["task"] == "compression"
    assert asked["messages"][0]["role"] == "user"
    assert asked["runtime"] == {
        "model": "big",
        "provider": "openai",
        "base_url": "http://127.0.0.1:1/v1",
        "api_mode": "chat",
        "api_key": KEY,
    }
    assert KEY.encode() not in kept(home)


def test_it_is_not_asked_otherwise(home, host):
    engine = HermaContextEngine(context_length=WINDOW)
    engine.on_session_start("s")
    engine.compress(LONG, current_tokens=OVER)
    assert not host.asked
    assert engine.last_report["summarizer"] == "extractive"


def test_a_key_in_its_error_reaches_no_file(home, host):
    def refuses(task, messages, main_runtime):
        raise RuntimeError(f"401 for {main_runtime['api_key']}")

    host.call_llm = refuses
    engine = asking()
    assert len(engine.compress(LONG, current_tokens=OVER)) < len(LONG)
    assert engine._last_summary_fallback_used
    assert KEY.encode() not in kept(home)
    assert KEY not in engine._last_summary_error


@pytest.mark.parametrize(
    ("message", "is_text"),
    [
        (SimpleNamespace(content=WORDS), True),
        ({"content": WORDS}, True),
        ({"content": [{"type": "text", "text": WORDS}]}, True),
        (WORDS, True),
        (SimpleNamespace(content=None), False),
        ({"content": []}, False),
        ({"content": "  "}, False),
        (None, False),
    ],
)
def test_the_shapes_of_its_answers(home, host, message, is_text):
    host.answer = SimpleNamespace(choices=[SimpleNamespace(message=message)])
    engine = asking()
    shorter = engine.compress(LONG, current_tokens=OVER)
    assert len(shorter) < len(LONG)
    assert ("nothing is left to do" in text_of(shorter)) == is_text
    assert engine._last_summary_fallback_used != is_text


def test_outside_of_a_host_the_daemon_writes(home):
    engine = asking()
    assert len(engine.compress(LONG, current_tokens=OVER)) < len(LONG)
    assert engine.last_report["summarizer"] == "extractive"


def test_each_copy_asks_with_its_own_model_and_key(home, host):
    first = Agent("one", asking())
    first.calls("update_model", "big", WINDOW, api_key=KEY)
    first.calls("compress", LONG, current_tokens=OVER)
    second = Agent("two", first.context_compressor)
    second.calls("update_model", "small", WINDOW, api_key="another")
    second.calls("on_session_start", "two")
    second.calls("compress", LONG, current_tokens=OVER)
    asked = [(one["runtime"]["model"], one["runtime"]["api_key"]) for one in host.asked]
    assert asked == [("big", KEY), ("small", "another")]
