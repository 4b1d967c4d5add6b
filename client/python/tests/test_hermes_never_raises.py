"""No method of the engine raises, whatever the daemon and the host do."""

from __future__ import annotations

import copy
import json
import os

import pytest
from conftest import conversation, stopped, wait_for
from hermes_fakes import ODD, OVER, WINDOW, OddDaemon, gives

from herma.hermes import HermaContextEngine
from herma.hermes.compressing import TAKEN

LONG = conversation(120)


def deep(levels: int):
    value: list = []
    for _ in range(levels):
        value = [value]
    return value


def ring():
    value: dict = {}
    value["self"] = value
    return value


LISTS = {
    "None": None,
    "a text": "text",
    "a number": 7,
    "empty": [],
    "no dicts": [None, 7, "text", ["list"], object()],
    "no roles": [{}, {"content": "x"}, {"role": None, "content": None}],
    "odd contents": [
        {"role": "user", "content": value}
        for value in (7, 7.5, None, float("nan"), {"a": 1}, [1, None], object(), b"bytes", {1, 2})
    ],
    "half surrogates": [
        {"role": role, "content": "\ud83d half " + "x " * 2000} for role in ("user", "assistant")
    ]
    * 60,
    "deep": [{"role": "user", "content": deep(50_000)}],
    "a ring": [{"role": "user", "content": ring()}],
    "odd keys": [{"role": "user", 7: "x", None: "y", ("a",): "z"}],
    "tool calls": [{"role": "assistant", "tool_calls": object()}],
    "tools without a call": [{"role": "tool", "content": "x" * 5000}] * 80,
    "long": LONG,
}

USAGES = [
    None,
    7,
    "text",
    [],
    {},
    {"prompt_tokens": "7"},
    {"prompt_tokens": float("nan"), "completion_tokens": float("inf")},
    {"prompt_tokens": float("-inf"), "total_tokens": float("-inf")},
    {"prompt_tokens": -5, "completion_tokens": -(2**80)},
    {"prompt_tokens": 2**80},
    {"prompt_tokens": True, "completion_tokens": None},
    {"prompt_tokens": {"nested": {"deep": 1}}},
    {"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": object()}},
    {"prompt_tokens": 5, "extra": deep(50_000)},
    {"input_tokens": 5, "output_tokens": "\ud83d"},
    {7: 8, None: 9},
]

TOKENS = [None, -1, 0, "7", float("nan"), float("inf"), 2**80, True, [], {}, OVER]


def calls():
    """Every method, with what a host gives and with what it should not."""
    for odd in (None, 7, "", "s", "\ud83d", [], {}, object(), "x" * 3000):
        yield "on_session_start", (odd,), {}
        yield "on_session_start", ("s",), {"old_session_id": odd, "boundary_reason": "compression"}
        yield "on_session_start", ("s",), {"model": odd, "context_length": odd}
        yield "on_session_end", (odd,), {}
        yield "on_session_end", ("s", odd), {}
        yield "bind_session_state", (odd, odd), {}
        yield "bind_session_state", (), {"session_db": odd, "session_id": odd}
        yield "carry_over_new_session_context", (odd, odd), {}
        yield "update_model", (odd, odd), {}
        yield "update_model", ("m", WINDOW), dict.fromkeys(("base_url", "api_key", "more"), odd)
        yield "handle_tool_call", (odd, odd), {"messages": odd}
        yield "handle_tool_call", ("recall_search", {"query": odd}), {}
        yield "get_active_compression_failure_cooldown", (), {"session_id": odd}
        message = {"default_message": "d", "approx_tokens": odd, "threshold_tokens": odd}
        yield "get_automatic_compaction_status_message", (), {"phase": odd, **message}
    yield "get_automatic_compaction_status_message", (), {}
    for usage in USAGES:
        yield "update_from_response", (usage,), {}
        yield "on_turn_complete", ([], usage), {"more": usage}
    for tokens in TOKENS:
        yield "should_compress", (tokens,), {}
        yield "should_compress_info", (tokens,), {}
        yield "should_defer_preflight_to_real_usage", (tokens,), {}
        yield "prune_tool_results_only", (LISTS["tools without a call"], tokens), {}
    for messages in LISTS.values():
        yield "should_compress_preflight", (messages,), {}
        yield "has_content_to_compress", (messages,), {}
        yield "prune_tool_results_only", (messages,), {}
        yield "select_context", (messages,), {"budget_tokens": 1}
        yield "pending_compression_operation", (messages,), {}
        yield "on_turn_complete", (messages,), {}
        yield "on_session_end", ("s", messages), {}
        yield "compress", (messages,), {"current_tokens": float("nan"), "focus_topic": 7}
    for name in ("on_session_reset", "get_tool_schemas", "get_status", "is_available"):
        yield name, (), {}


def do_everything(engine) -> None:
    for method, args, named in calls():
        answer = getattr(engine, method)(*args, **named)
        if method == "compress":
            assert answer is args[0] or (isinstance(answer, list) and answer)
        elif method in ("get_tool_schemas",):
            assert [tool["name"] for tool in answer]
        elif method == "handle_tool_call":
            json.loads(answer)
        elif method.startswith("should_compress_info"):
            assert isinstance(answer[0], bool)
        elif method.startswith(("should", "has", "is")):
            assert answer in (True, False, None), (method, args)  # None where nothing fits.
        elif method == "get_status":
            assert answer["context_length"] is not None
        elif method == "prune_tool_results_only":
            assert answer == (args[0], 0) or answer[1] > 0
        # A session and a window, whatever the call before made of them.
        if method in ("update_model", "on_session_start", "on_session_end", "on_session_reset"):
            engine.update_model("m", WINDOW)
            engine.on_session_start("s")
    engine.update_model("m", WINDOW, "http://x", "key", "p", "chat")
    for made in (copy.copy(engine), copy.deepcopy(engine)):
        assert made.name == "herma"
        made.get_status()


def aborts(engine) -> None:
    """A compression gives back the very list, and says why."""
    engine.update_model("m", WINDOW)
    engine.on_session_start("another")
    messages = conversation(120)
    assert engine.compress(messages, current_tokens=OVER) is messages
    assert engine._last_compress_aborted is True
    assert isinstance(engine._last_summary_error, str)
    assert engine._last_summary_error


def test_with_a_daemon(home):
    engine = HermaContextEngine(context_length=WINDOW, select_context=True)
    do_everything(engine)
    engine.on_session_start("fresh")
    assert len(engine.compress(LONG, current_tokens=OVER)) < len(LONG)


@pytest.mark.parametrize("name", ["", None, "x" * 2000, "\ud83d", 7])
def test_a_session_without_a_proper_name_is_one_all_the_same(home, name):
    engine = HermaContextEngine(context_length=WINDOW)
    engine.on_session_start(name)
    assert len(engine.compress(LONG, current_tokens=OVER)) < len(LONG)


@pytest.mark.parametrize("kind", ["half surrogates", "deep", "a ring", "odd contents", "odd keys"])
def test_what_json_can_not_say_is_compressed_all_the_same(home, kind):
    engine = HermaContextEngine(context_length=WINDOW)
    engine.on_session_start("s")
    messages = LONG[:60] + LISTS[kind] + LONG[60:]
    assert len(engine.compress(messages, current_tokens=OVER)) < len(messages), (
        engine._last_summary_error
    )
    engine.on_turn_complete(messages)


@pytest.mark.parametrize(
    "named", [{"memory_context": "half \ud83d"}, {"focus_topic": "\ud83d"}, {"focus_topic": 7}]
)
def test_odd_words_beside_the_list_stop_no_compression(home, named):
    engine = HermaContextEngine(context_length=WINDOW)
    engine.on_session_start("s")
    assert len(engine.compress(LONG, **named)) < len(LONG)


def test_without_a_program_for_the_daemon(home, monkeypatch):
    monkeypatch.setenv("HERMAD", "/nowhere/hermad")
    engine = HermaContextEngine(context_length=WINDOW, select_context=True, timeout=0.2)
    do_everything(engine)
    aborts(engine)


def test_with_a_daemon_that_was_killed_and_can_not_be_started(home, monkeypatch):
    home.start()
    engine = HermaContextEngine(context_length=WINDOW, timeout=0.2)
    engine.on_session_start("s")
    monkeypatch.setenv("HERMAD", "/nowhere/hermad")
    home.kill()
    do_everything(engine)
    aborts(engine)


def test_with_a_daemon_that_stands_still(home):
    pid = home.start()
    engine = HermaContextEngine(context_length=WINDOW, timeout=0.2)
    engine.on_session_start("s")
    with stopped(pid):
        do_everything(engine)
        aborts(engine)


@pytest.mark.parametrize("kind", ODD)
def test_with_a_daemon_that_answers_wrongly(home, monkeypatch, kind):
    monkeypatch.setenv("HERMAD", "/nowhere/hermad")
    odd = OddDaemon(home.socket, ODD[kind])
    engine = HermaContextEngine(context_length=WINDOW, select_context=True, timeout=0.2)
    try:
        do_everything(engine)
        aborts(engine)
    finally:
        odd.close()


WRONG = (None, "text", -1, [], {}, True, 1e300)


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_numbers_of_a_wrong_kind_in_the_daemons_status_are_not_taken(home, monkeypatch, wrong):
    """They stood in the engine's fields, and the host's own sums with them failed."""
    monkeypatch.setenv("HERMAD", "/nowhere/hermad")
    odd = OddDaemon(home.socket, gives(dict.fromkeys((*TAKEN, "generation"), wrong)))
    engine = HermaContextEngine(context_length=WINDOW, timeout=0.2)
    try:
        engine.on_session_start("s")
        engine.update_from_response({"prompt_tokens": OVER})
        engine.get_status()
        do_everything(engine)
    finally:
        odd.close()


def test_where_no_home_can_be_found(home, monkeypatch):
    monkeypatch.setenv("HERMAD", "/nowhere/hermad")
    for name in ("HERMA_HOME", "HERMES_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    engine = HermaContextEngine(context_length=WINDOW)
    do_everything(engine)
    aborts(engine)


def test_in_a_folder_that_is_gone(home, monkeypatch):
    gone = home.path / "gone"
    gone.mkdir()
    before = os.getcwd()
    os.chdir(gone)
    gone.rmdir()
    try:
        monkeypatch.setenv("HERMA_HOME", "relative")
        do_everything(HermaContextEngine(context_length=WINDOW, timeout=0.2))
    finally:
        os.chdir(before)


def test_over_the_threshold_it_says_yes_once_and_then_no_until_the_daemon_is_back(
    home, monkeypatch
):
    program = os.environ["HERMAD"]
    monkeypatch.setenv("HERMAD", "/nowhere/hermad")
    engine = HermaContextEngine(context_length=WINDOW, timeout=0.2)
    engine.on_session_start("s")
    engine.update_from_response({"prompt_tokens": OVER})
    assert [engine.should_compress() for _ in range(4)] == [True, False, False, False]
    monkeypatch.setenv("HERMAD", program)
    home.start()
    wait_for(engine.should_compress, "the daemon")
    assert engine.should_compress()
    assert len(engine.compress(LONG)) < len(LONG)
    assert not engine._last_compress_aborted
    assert engine._last_summary_error is None
