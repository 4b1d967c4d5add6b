"""What a model says it is done with, through the engine of a host."""

from __future__ import annotations

import json

import pytest
from conftest import conversation

from herma.hermes import model_tools
from herma.hermes.engine import HermaContextEngine

WINDOW = 40_000


@pytest.fixture
def engine(home):
    made = HermaContextEngine(context_length=WINDOW, model_tools=True)
    made.on_session_start("s")
    return made


def tool_call(call_id, name, arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": call_id, "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def asked(engine, name, arguments, messages):
    """What a host's loop does: the call stands in the list when the tool is asked."""
    call = tool_call(f"call_{len(messages)}", name, arguments)
    answer = engine.handle_tool_call(name, arguments, messages=[*messages, call])
    result = {"role": "tool", "tool_call_id": call["tool_calls"][0]["id"], "content": answer}
    messages += [call, result]
    return json.loads(answer)


def work(at, path):
    call = tool_call(f"read_{at}", "read_file", {"path": path})
    return [call, {"role": "tool", "tool_call_id": f"read_{at}", "content": f"line of {path}\n" * 300}]


def test_the_functions_are_those_of_the_daemon(client):
    assert model_tools.schemas() == client.context.schema()["tools"]
    assert [tool["name"] for tool in model_tools.schemas()] == list(model_tools.METHODS)


def test_they_are_offered_where_it_was_said(engine, home):
    offered = [tool["name"] for tool in engine.get_tool_schemas()]
    assert offered[-2:] == ["context_discard", "context_episode"]
    usual = HermaContextEngine(context_length=WINDOW)
    usual.on_session_start("t")
    assert not set(model_tools.METHODS) & {tool["name"] for tool in usual.get_tool_schemas()}
    assert "context_discard" in json.loads(usual.handle_tool_call("context_discard", {}))["error"]


def test_a_sub_task_of_one_turn_leaves_the_list(engine):
    messages = conversation(60)
    messages.append({"role": "user", "content": "find the leak, then tag the release"})
    opened = asked(engine, "context_episode", {"action": "open", "title": "find the leak"}, messages)
    assert opened["open"] == ["find the leak"]
    for at in range(6):
        messages += work(at, f"src/pool_{at}.rs")
    close = {"action": "close", "title": "find the leak", "outcome": "pool 3 keeps its connections"}
    closed = asked(engine, "context_episode", close, messages)
    assert closed["open"] == [] and closed["messages"] >= 12, closed
    messages += [*work(7, "RELEASE.md"), {"role": "assistant", "content": "It is tagged."}]
    shorter = engine.compress(messages, force=True)
    text = json.dumps(shorter)
    assert "find the leak (" in text and "pool 3 keeps its connections" in text
    assert "line of src/pool_3.rs" not in text and "line of RELEASE.md" in text
    assert {"role": "user", "content": "find the leak, then tag the release"} in shorter


def test_outputs_are_discarded_by_what_their_calls_were_about(engine):
    messages = conversation(60)
    messages.append({"role": "user", "content": "look at both"})
    messages += work(1, "src/a.rs") + work(2, "src/b.rs")
    done = asked(engine, "context_discard", {"calls": ["src/a.rs"], "reason": "read"}, messages)
    assert done["outputs"] == 1, done
    messages += [{"role": "assistant", "content": "Both are fine."}]
    text = json.dumps(engine.compress(messages, force=True))
    assert "line of src/a.rs" not in text and "[discarded: read]" in text and "line of src/b.rs" in text


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("context_discard", {"calls": ["src/nowhere.rs"], "reason": "x"}, "src/nowhere.rs"),
        ("context_discard", {"reason": "x"}, "give positions"),
        ("context_discard", {"session": "other", "reason": "x"}, "session"),
        ("context_episode", {"action": "end", "title": "x"}, "open"),
        ("context_episode", {"action": "close", "title": "x"}, "no episode"),
        ("context_episode", [], "object"),
    ],
)
def test_what_a_model_gets_wrong_is_an_error_in_json(engine, name, arguments, words):
    answer = json.loads(engine.handle_tool_call(name, arguments, messages=conversation(20)))
    assert words in answer["error"]


def test_without_a_daemon_the_model_is_told(home, monkeypatch):
    monkeypatch.setenv("HERMAD", "/nowhere/hermad")
    engine = HermaContextEngine(context_length=WINDOW, model_tools=True)
    engine.on_session_start("s")
    answer = engine.handle_tool_call(
        "context_episode", {"action": "open", "title": "x"}, messages=conversation(20)
    )
    assert json.loads(answer)["error"]
