"""Agents of a host that call their engine from their own methods."""

from __future__ import annotations

import os
import sqlite3

import pytest
from conftest import conversation, stopped, wait_for
from hermes_fakes import OVER, WINDOW, Agent, found, said

from herma.hermes import HermaContextEngine
from herma.hermes.background import worker

LIMIT = 0.3


def settle() -> None:
    wait_for(lambda: worker.settle(1), "the background")


def begun(session: str, **settings) -> Agent:
    agent = Agent(session, HermaContextEngine(context_length=WINDOW, timeout=LIMIT, **settings))
    agent.begins()
    return agent


def test_two_agents_on_one_object_get_one_each(home, client):
    first = begun("one")
    shared = first.context_compressor
    second = Agent("two", shared)
    second.begins()
    assert second.context_compressor is not shared
    assert first.context_compressor is shared
    first.calls("on_turn_complete", said("alpha", 4))
    second.calls("on_turn_complete", said("beta", 4))
    first.calls("update_from_response", {"prompt_tokens": 100})
    second.calls("update_from_response", {"prompt_tokens": 7})
    first.calls("on_session_end", "one", said("alpha", 6))
    second.calls("on_turn_complete", said("beta", 6))
    settle()
    assert (shared.session_id, second.context_compressor.session_id) == (None, "two")
    assert len(found(client, '"alphax5"', "one")) == len(found(client, '"betax5"', "two")) == 1
    assert not found(client, '"betax1"', "one")
    assert not found(client, '"alphax1"', "two")
    assert client.session.usage(session="one")["total"]["prompt"] == 100
    assert client.session.usage(session="two")["total"]["prompt"] == 7
    assert client.session.show(session="two")["ended_at"] is None


def test_an_agent_that_is_gone_leaves_its_engine_to_the_next(home):
    first = begun("one")
    engine = first.context_compressor
    del first
    second = Agent("two", engine)
    second.begins()
    assert second.context_compressor is engine
    assert engine.session_id == "two"


def test_each_loss_of_the_daemon_is_told_once(home, monkeypatch):
    agent = begun("one")
    engine = agent.context_compressor
    program = os.environ["HERMAD"]
    for losses in (1, 2):
        monkeypatch.setenv("HERMAD", "/nowhere/hermad")
        home.kill()
        for _ in range(5):
            agent.calls("update_from_response", {"prompt_tokens": OVER})
            agent.calls("should_compress")
            agent.calls("compress", conversation(120))
            agent.calls("on_turn_complete", conversation(4))
        assert len(agent.warned) == losses, agent.warned
        assert "herma" in agent.warned[-1]
        monkeypatch.setenv("HERMAD", program)
        wait_for(lambda: engine._link.reason is None, "the daemon")
        assert agent.calls("should_compress")


def test_a_daemon_that_stands_still_is_told_once(home):
    agent = begun("one")
    with stopped(home.pid):
        for _ in range(5):
            agent.calls("should_compress", OVER)
            agent.calls("handle_tool_call", "recall_search", {"query": "x"})
    assert len(agent.warned) == 1


def test_a_rate_limit_is_told_once(home):
    agent = begun("one")
    messages = conversation(120)
    for _ in range(30):
        if not agent.calls("should_compress", OVER):
            break
        agent.calls("compress", messages, current_tokens=OVER)
    before = len(agent.warned)
    for _ in range(5):
        assert not agent.calls("should_compress", OVER)
    held = [words for words in agent.warned if "no compression for now" in words]
    assert len(held) == 1
    assert len(agent.warned) == before


def test_an_open_breaker_is_told_once_whatever_the_seconds(home):
    """The words hold the seconds to wait, which differ from call to call."""
    agent = begun("one")
    engine = agent.context_compressor
    call = engine._conversation().link.call
    waits = iter(range(600, 0, -1))

    def check(method, **params):
        if method == "context.check":
            wait = next(waits)
            return {"compress": False, "reason": "breaker_open", "wait_s": wait, "pressure": 1}
        return call(method, **params)

    engine._conversation().link.call = check
    try:
        for _ in range(5):
            assert not agent.calls("should_compress", OVER)
    finally:
        del engine._conversation().link.call
    assert len(agent.warned) == 1
    assert "hardly" in agent.warned[0]


@pytest.mark.parametrize("ends", [True, False])
def test_new_begins_a_fresh_session(home, client, ends):
    agent = begun("one")
    agent.calls("on_turn_complete", said("alpha", 4))
    agent.calls("update_from_response", {"prompt_tokens": OVER})
    agent.session_id = "two"
    if ends:
        agent.calls("on_session_end", "one", said("alpha", 6))
    agent.calls("on_session_reset")
    engine = agent.context_compressor
    assert engine.last_prompt_tokens == 0
    assert not agent.calls("should_compress")
    agent.calls("on_turn_complete", said("beta", 4))
    agent.calls("update_from_response", {"prompt_tokens": 7})
    settle()
    assert engine.session_id == "two"
    assert client.session.usage(session="two")["total"]["prompt"] == 7
    assert not found(client, '"alphax1"', "two")
    assert not found(client, '"betax1"', "one")
    assert len(found(client, '"alphax5"', "one")) == ends
    assert (client.session.show(session="one")["ended_at"] is not None) == ends


@pytest.mark.parametrize("late", [True, False])
def test_an_end_that_comes_after_the_reset_is_that_of_the_old_session(home, client, late):
    agent = begun("one")
    agent.calls("on_turn_complete", said("alpha", 4))
    agent.session_id = "two"
    agent.calls("on_session_reset")
    agent.calls("update_from_response", {"prompt_tokens": 7})
    if late:
        agent.calls("on_turn_complete", said("beta", 2))
    agent.calls("on_session_end", "one", said("alpha", 6))
    agent.calls("on_turn_complete", said("beta", 4))
    settle()
    assert agent.context_compressor.session_id == "two"
    assert client.session.show(session="two")["ended_at"] is None
    assert not found(client, '"alphax1"', "two")
    assert len(found(client, '"betax3"', "two")) == 1


def test_a_reset_under_the_same_id_begins_another_daemon_session(home, client):
    agent = begun("one")
    agent.calls("on_turn_complete", said("alpha", 4))
    agent.calls("on_session_reset")
    agent.calls("on_turn_complete", said("beta", 4))
    settle()
    fresh = agent.context_compressor.session_id
    assert fresh != "one"
    assert len(found(client, '"betax1"', fresh)) == 1
    assert not found(client, '"betax1"', "one")


def database(home, *rows) -> None:
    with sqlite3.connect(home.path / "state.db") as made:
        made.execute(
            "CREATE TABLE sessions (id, parent_session_id, started_at, ended_at, end_reason)"
        )
        made.executemany("INSERT INTO sessions VALUES (?, ?, ?, ?, ?)", rows)
    made.close()


def test_resuming_what_went_on_after_compressions_is_the_first_session(home, client):
    database(
        home,
        ("one", None, 1.0, 10.0, "compression"),
        ("one-b", "one", 10.0, 20.0, "compression"),
        ("one-c", "one-b", 21.0, None, None),
    )
    agent = Agent("one-c", HermaContextEngine(context_length=WINDOW))
    agent.begins(hermes_home=str(home.path))
    assert agent.context_compressor.session_id == "one"
    agent.calls("on_turn_complete", said("alpha", 4))
    settle()
    assert len(found(client, '"alphax1"', "one")) == 1


@pytest.mark.parametrize(
    ("reason", "ended", "started"),
    [("branched", 10.0, 11.0), ("compression", 10.0, 9.0), (None, None, 9.0)],
)
def test_resuming_a_branch_is_a_session_of_its_own(home, client, reason, ended, started):
    database(home, ("one", None, 1.0, ended, reason), ("branch", "one", started, None, None))
    client.session.open(session="one")
    agent = Agent("branch", HermaContextEngine(context_length=WINDOW))
    agent.begins(hermes_home=str(home.path))
    assert agent.context_compressor.session_id == "branch"
    assert client.session.show(session="branch")["parent"] == "one"


def test_resuming_in_the_same_process_goes_on_with_the_known_session(home, client):
    agent = begun("one")
    agent.calls("on_turn_complete", said("alpha", 4))
    agent.session_id = "two"
    agent.calls("on_session_reset")
    agent.calls("on_turn_complete", said("beta", 2))
    agent.session_id = "one"
    agent.calls("on_turn_complete", said("alpha", 6))
    settle()
    assert agent.context_compressor.session_id == "one"
    for at in range(6):
        assert len(found(client, f'"alphax{at}"', "one")) == 1


def test_the_daemon_of_the_environment_is_meant_whatever_home_the_host_names(home, tmp_path):
    """HERMA_HOME is a person's own choice; a host's name for its home took its place."""
    agent = Agent("one", HermaContextEngine(context_length=WINDOW))
    agent.begins(hermes_home=str(tmp_path))
    assert home.pid is not None
    assert not (tmp_path / "herma").exists()
