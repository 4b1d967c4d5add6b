"""The context engine."""

from __future__ import annotations

import copy
import json

import pytest
from conftest import conversation, wait_for

import herma
from herma.hermes import HermaContextEngine

WINDOW = 64_000
SUMMARY = "## Goal\nThe words were lorem ipsum, and nothing is left to do."


@pytest.fixture
def engine(home):
    engine = HermaContextEngine(context_length=WINDOW)
    engine.on_session_start("s", platform="cli", model="m")
    return engine


def test_what_the_host_reads(engine):
    assert engine.name == "herma"
    assert engine.get_status() == {
        "last_prompt_tokens": 0,
        "threshold_tokens": 54_400,
        "context_length": WINDOW,
        "usage_percent": 0,
        "compression_count": 0,
    }
    assert (engine.threshold_percent, engine.protect_first_n, engine.protect_last_n) == (0.5, 3, 20)
    engine.update_from_response({"prompt_tokens": 32_000, "completion_tokens": 100})
    assert engine.last_prompt_tokens == 32_000
    assert engine.last_completion_tokens == 100
    assert engine.last_total_tokens == 32_100
    assert engine.get_status()["usage_percent"] == 50


@pytest.mark.parametrize("window", [10_000, 64_000, 100_000, 200_000, 1_000_000])
def test_before_it_is_asked_the_engine_says_what_the_daemon_will_say(home, window):
    engine = HermaContextEngine(context_length=window)
    before = engine.get_status()
    engine.on_session_start("s")
    assert engine.get_status() == before


def test_the_host_names_the_model(home, client):
    engine = HermaContextEngine()
    engine.update_model("big", 200_000, "http://127.0.0.1:1/v1", "sk-secret", provider="openai")
    assert (engine.context_length, engine.threshold_tokens) == (200_000, 100_000)
    engine.on_session_start("s")
    assert client.context.status(session="s")["model"] == "big"
    engine.update_model(model="small", context_length=100_000)
    assert client.context.status(session="s")["context_length"] == 100_000
    assert engine.threshold_tokens == 64_000
    kept = (path.read_bytes() for path in (home.path / "herma").iterdir() if path.is_file())
    assert not any(b"sk-secret" in data for data in kept)


def test_usage_is_counted_by_its_parts(engine, client):
    engine.update_from_response(
        {
            "prompt_tokens": 1000,
            "completion_tokens": 50,
            "total_tokens": 1050,
            "input_tokens": 300,
            "output_tokens": 50,
            "cache_read_tokens": 600,
            "cache_write_tokens": 100,
            "reasoning_tokens": 20,
        }
    )
    total = client.session.usage(session="s")["total"]
    assert (total["input"], total["cache_read"], total["cache_write"]) == (300, 600, 100)
    assert (total["reasoning"], total["prompt"], total["total"]) == (20, 1000, 1050)


def test_when_to_compress(engine):
    assert not engine.should_compress()
    assert not engine.should_compress(54_399)
    assert engine.should_compress(54_400)
    engine.update_from_response({"prompt_tokens": 60_000})
    assert engine.should_compress()
    assert not engine.should_compress_preflight(conversation(10))
    assert engine.should_compress_preflight(conversation(400, words=600))


def test_whether_there_is_anything_to_compress(engine):
    assert engine.has_content_to_compress(conversation(120))
    assert not engine.has_content_to_compress(conversation(3))


def test_compressing(engine):
    messages = conversation(120)
    given = copy.deepcopy(messages)
    shorter = engine.compress(messages, current_tokens=60_000, focus_topic="words")
    assert messages == given
    assert len(shorter) == engine.last_report["messages_after"] < len(messages)
    assert shorter[-1] is messages[-1]
    assert engine.compression_count == 1
    assert engine.last_prompt_tokens == -1
    assert engine.last_report["summarizer"] == "extractive"
    plain = herma.Client()
    status = plain.context.status(session="s")
    assert status["compression_count"] == 1
    plain.close()


def test_edits_give_the_list_that_the_daemon_means(home):
    messages = conversation(150)
    messages.insert(60, {"role": "tool", "tool_call_id": "c", "content": "row\n" * 4000})
    call = {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}
    messages.insert(60, {"role": "assistant", "content": None, "tool_calls": [call]})
    with herma.Client() as client:
        client.context.configure(session="plain", context_length=WINDOW)
        meant = client.context.compress(session="plain", messages=messages)["messages"]
    engine = HermaContextEngine(context_length=WINDOW)
    engine.on_session_start("edits")
    edited = engine.compress(messages)

    def without_handles(made):
        return json.loads(json.dumps(made).replace("plain", "s").replace("edits", "s"))

    assert [m["role"] for m in edited] == [m["role"] for m in meant]
    mine, theirs = without_handles(edited), without_handles(meant)
    assert [m for m in mine if "_compressed_summary" not in m] == [
        m for m in theirs if "_compressed_summary" not in m
    ]


def test_a_list_that_is_too_short_comes_back_as_it_is(engine):
    messages = conversation(3)
    assert engine.compress(messages) is messages
    assert not engine.last_report["compressed"]
    assert engine.last_report["reason"]


def test_the_hosts_model_writes_the_summary(home):
    asked = []

    def summarizer(request):
        asked.append(request)
        return SUMMARY

    engine = HermaContextEngine(summarizer, context_length=WINDOW, summary_model="small")
    engine.on_session_start("s", model="big")
    shorter = engine.compress(conversation(120))
    assert any("nothing is left to do" in str(message) for message in shorter)
    assert engine.last_report["summarizer"] == "client"
    (request,) = asked
    assert (request["task"], request["model"]) == ("compression", "small")
    assert request["max_tokens"] > 0
    assert request["messages"][0]["role"] == "user"


def test_a_summary_model_that_fails_gives_way_to_the_sessions_own(home):
    models = []

    def summarizer(request):
        models.append(request["model"])
        if request["model"] == "small":
            raise RuntimeError("model_not_found")
        return SUMMARY

    engine = HermaContextEngine(summarizer, context_length=WINDOW, summary_model="small")
    engine.on_session_start("s", model="big")
    engine.compress(conversation(120))
    assert models == ["small", None]
    assert engine.last_report["aux_failure"]["model"] == "small"
    assert not engine.last_report["fallback"]


class Overloaded(Exception):
    status_code = 503


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("boom"), "boom"),
        (Overloaded("overloaded"), "overloaded"),
        (TimeoutError(), "TimeoutError"),
        (ConnectionRefusedError("refused"), "refused"),
    ],
)
def test_a_summarizer_that_fails_loses_nothing(home, client, error, words):
    asked = []

    def summarizer(request):
        asked.append(request)
        raise error

    engine = HermaContextEngine(summarizer, context_length=WINDOW)
    engine.on_session_start("s")
    shorter = engine.compress(conversation(120))
    assert len(shorter) < 120
    assert engine.last_report["fallback"]
    assert words in engine.last_report["error"]
    handle = engine.last_report["archived"]["handle"]
    assert client.recall.expand(handle=handle)["items"]
    engine.compress(conversation(140), force=False)
    assert len(asked) == 1, "a model that just failed was asked again"


@pytest.mark.parametrize("nothing", ["", "  ", None, 7])
def test_no_summary_is_a_failure(home, nothing):
    engine = HermaContextEngine(lambda request: nothing, context_length=WINDOW)
    engine.on_session_start("s")
    engine.compress(conversation(120))
    assert engine.last_report["fallback"]


def test_a_failure_can_leave_the_list_as_it_is(home):
    def summarizer(request):
        raise RuntimeError("boom")

    engine = HermaContextEngine(summarizer, context_length=WINDOW, abort_on_summary_failure=True)
    engine.on_session_start("s")
    messages = conversation(120)
    assert engine.compress(messages) is messages
    assert engine.last_report["aborted"]


def test_keys_in_an_error_of_the_hosts_are_not_repeated(home, client):
    secret = "sk-" + "a1b2c3d4" * 6

    def summarizer(request):
        raise RuntimeError(f"401 for Authorization: Bearer {secret}")

    engine = HermaContextEngine(summarizer, context_length=WINDOW)
    engine.on_session_start("s")
    engine.compress(conversation(120))
    assert secret not in json.dumps(client.context.status(session="s"))


def test_recall_by_the_model(engine):
    tools = [tool["name"] for tool in engine.get_tool_schemas()]
    assert tools == ["recall_search", "recall_expand", "recall_describe", "recall_state"]
    engine.compress(conversation(120))
    (one,) = json.loads(engine.handle_tool_call("recall_describe", {}))["compressions"]
    expanded = json.loads(engine.handle_tool_call("recall_expand", {"handle": one["handle"]}))
    assert any(item["text"].startswith("message 4 ") for item in expanded["items"])
    search = {"query": '"message 57"', "limit": 1}
    found = json.loads(engine.handle_tool_call("recall_search", search))
    assert "message 57" in found["hits"][0]["snippet"]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("recall_everything", {}, "recall_everything"),
        ("recall_search", {"query": "x", "profile": "other"}, "profile"),
        ("recall_search", {"query": 7}, "query"),
        ("recall_search", {}, "query"),
        ("recall_search", "query", "object"),
        ("recall_expand", {"handle": "msg_1"}, "msg_1"),
    ],
)
def test_what_a_model_gets_wrong_is_an_error_in_json(engine, name, arguments, words):
    assert words in json.loads(engine.handle_tool_call(name, arguments))["error"]


def test_a_session_switch(engine, client):
    engine.update_from_response({"prompt_tokens": 60_000})
    engine.on_session_end("s", [])
    engine.on_session_reset()
    assert engine.last_prompt_tokens == engine.last_total_tokens == 0
    engine.on_session_start("t", old_session_id="s", platform="cli")
    assert engine.session_id == "t"
    assert not engine.should_compress()
    wait_for(lambda: client.session.show(session="s")["ended_at"] is not None, "the end")


def test_a_session_that_goes_on_under_another_id_keeps_its_state(engine):
    engine.compress(conversation(120))
    engine.on_session_start("s-2", boundary_reason="compression", old_session_id="s")
    assert engine.session_id == "s"
    assert engine.compression_count == 1


def one_turn(calls, chars):
    """One turn with so many calls, whose outputs have so many chars together."""
    messages = [{"role": "system", "content": "be good"}, {"role": "user", "content": "do all the steps"}]
    for at in range(calls):
        call = {"id": f"c{at}", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        output = f"step {at}\n" + "lorem ipsum dolor\n" * (chars // calls // 18)
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": output})
    return messages


def test_a_list_gets_shorter_by_messages_or_comes_back_as_aborted(engine):
    """Hosts begin a new session for a compressed list, and write nothing there that has as many messages."""
    shorter = aborted = 0
    for calls in (1, 2, 3, 4, 5, 8, 13, 21, 34, 55):
        messages = one_turn(calls, 260_000)
        engine.on_session_start(f"s{calls}")
        answer = engine.compress(messages, current_tokens=70_000)
        if answer is messages:
            aborted += 1
            assert engine._last_compress_aborted and engine._last_summary_error, calls
        else:
            # A host may append what is still to do.
            shorter += 1
            assert len(answer) + 1 < len(messages), calls
            assert not engine._last_compress_aborted and engine._last_summary_error is None
    assert shorter and aborted


def test_a_restart_changes_nothing(home, engine):
    engine.update_from_response({"prompt_tokens": 60_000})
    home.kill()
    assert engine.should_compress()
    engine.update_from_response({"prompt_tokens": 50_000})
    assert engine.last_prompt_tokens == 50_000


def test_without_a_session_or_a_window(home):
    engine = HermaContextEngine(context_length=WINDOW)
    assert len(engine.compress(conversation(120))) < 120
    engine, messages = HermaContextEngine(), conversation(120)
    assert engine.compress(messages) is messages
    assert engine._last_compress_aborted
    assert "window" in engine._last_summary_error


def test_while_another_compression_runs_the_list_stays(home):
    def summarizer(request):
        return SUMMARY

    slow = HermaContextEngine(summarizer, context_length=WINDOW)
    slow.on_session_start("s")
    with herma.Client() as client:
        from concurrent.futures import ThreadPoolExecutor

        messages = conversation(3000)
        with ThreadPoolExecutor(2) as pool:
            runs = [pool.submit(HermaContextEngine.compress, slow, messages) for _ in range(2)]
            lists = [run.result() for run in runs]
        assert client.ping() == {}
    assert any(len(made) < len(messages) for made in lists)


def test_a_client_says_which_daemon_is_meant(home, monkeypatch):
    with herma.Client() as client:
        monkeypatch.setenv("HERMA_HOME", "/nowhere")
        engine = HermaContextEngine(client=client, context_length=WINDOW)
        engine.on_session_start("s")
        assert client.session.show(session="s")["agent"] == "hermes"
