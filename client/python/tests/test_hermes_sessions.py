"""Conversations that share an engine, and what is filed under which."""

from __future__ import annotations

import copy
import random
import threading

import pytest
from conftest import wait_for
from hermes_fakes import OVER, WINDOW, found, said

from herma.hermes import HermaContextEngine
from herma.hermes.background import worker


@pytest.fixture
def engine(home):
    return HermaContextEngine(context_length=WINDOW)


def settle() -> None:
    wait_for(lambda: worker.settle(1), "the background")


def sessions_of(client, marker: str) -> set[str]:
    """The sessions that have a message with this marker, those beside a session as it."""
    hits = client.recall.search(query=marker, limit=100)["hits"]
    return {hit["session"].split("~")[0] for hit in hits}


def markers(name: str, count: int) -> list[str]:
    return [f"{name}x{at}" for at in range(count)]


def test_a_second_session_gets_its_own_and_leaves_the_first_alone(engine, client):
    first, second = said("alpha", 120), said("beta", 120)
    engine.on_session_start("one")
    engine.on_turn_complete(first)
    engine.on_session_start("two")
    engine.on_turn_complete(second)
    assert engine.session_id == "two"
    engine.on_session_end("two", second)
    engine.on_turn_complete(first)
    assert engine.session_id == "one"
    assert len(engine.compress(first, current_tokens=OVER)) < 120
    settle()
    for name, marker in (("one", "alpha"), ("two", "beta")):
        assert len(found(client, f'"{marker}x3"', name)) == 1
        assert sessions_of(client, f'"{marker}x3"') == {name}
    assert client.session.show(session="one")["ended_at"] is None
    assert client.context.status(session="one")["compression_count"] == 1


@pytest.mark.parametrize("order", ["one two", "two one"])
def test_lists_of_either_are_compressed_in_their_own_session(engine, client, order):
    lists = {"one": said("alpha", 120), "two": said("beta", 120)}
    for name, messages in lists.items():
        engine.on_session_start(name)
        engine.on_turn_complete(messages[:40])
    for name in order.split():
        assert len(engine.compress(lists[name], current_tokens=OVER)) < 120
    for name in lists:
        assert client.context.status(session=name)["compression_count"] == 1
        marker = {"one": "alpha", "two": "beta"}[name]
        for at in (0, 30, 60):
            assert sessions_of(client, f'"{marker}x{at}"') <= {name}
        assert sessions_of(client, f'"{marker}x30"') == {name}


def test_a_list_that_is_known_is_not_filed_under_a_session_that_has_none_yet(engine, client):
    """The second session had said nothing, and took the first one's list for its own."""
    first = said("alpha", 6)
    engine.on_session_start("one")
    engine.on_turn_complete(first[:4])
    engine.on_session_start("two")
    engine.on_turn_complete(first)
    engine.on_turn_complete(said("beta", 4))
    settle()
    for marker in markers("alpha", 6):
        assert sessions_of(client, f'"{marker}"') == {"one"}
    for marker in markers("beta", 4):
        assert sessions_of(client, f'"{marker}"') == {"two"}


def test_two_sessions_that_begin_with_the_same_words_stay_two(engine, client):
    hello = [{"role": "user", "content": "hello"}]
    engine.on_session_start("one")
    engine.on_turn_complete(hello + said("alpha", 3))
    engine.on_session_start("two")
    engine.on_turn_complete(hello + said("beta", 3))
    engine.on_turn_complete(hello + said("beta", 5))
    settle()
    assert sessions_of(client, '"alphax2"') == {"one"}
    assert sessions_of(client, '"betax2"') == sessions_of(client, '"betax4"') == {"two"}


def test_an_end_of_a_session_that_is_not_known_ends_no_other(engine, client):
    """The current one was ended, and the stranger's list was filed under it."""
    engine.on_session_start("one")
    engine.update_from_response({"prompt_tokens": 10})
    engine.on_session_end("stranger", said("gamma", 4))
    engine.on_turn_complete(said("alpha", 4))
    settle()
    assert engine.session_id == "one"
    assert client.session.show(session="one")["ended_at"] is None
    assert "one" not in sessions_of(client, '"gammax1"')


def test_an_end_under_the_hosts_id_closes_a_session_that_began_without_one(engine, client):
    engine.update_from_response({"prompt_tokens": 10})
    session = engine.session_id
    engine.on_session_end("of-the-host", said("alpha", 4))
    settle()
    assert client.session.show(session=session)["ended_at"] is not None
    assert sessions_of(client, '"alphax1"') == {session}


def test_a_session_that_ended_can_go_on(engine, client):
    messages = said("alpha", 8)
    engine.on_session_start("one")
    engine.on_turn_complete(messages[:4])
    engine.on_session_end("one", messages[:4])
    engine.on_session_start("one")
    engine.on_turn_complete(messages)
    settle()
    for marker in markers("alpha", 8):
        assert len(found(client, f'"{marker}"', "one")) == 1


def test_an_end_right_after_a_compression_closes_nothing(engine, client):
    messages = said("alpha", 120)
    engine.on_session_start("one")
    shorter = engine.compress(messages, current_tokens=OVER)
    engine.on_session_end("one", messages)
    engine.on_session_start("one-b", boundary_reason="compression", old_session_id="one")
    engine.on_turn_complete(shorter + said("later", 2))
    settle()
    assert engine.session_id == "one"
    assert client.session.show(session="one")["ended_at"] is None
    assert sessions_of(client, '"laterx1"') == {"one"}
    engine.on_session_end("one-b", shorter)
    settle()
    assert client.session.show(session="one")["ended_at"] is not None


@pytest.mark.parametrize("seed", range(6))
def test_whatever_the_order_nothing_is_filed_under_another(engine, client, seed):
    chance = random.Random(seed)
    lists = {"one": said("alpha", 4), "two": said("beta", 4)}
    names = {"one": "alpha", "two": "beta"}
    for name in lists:
        engine.on_session_start(name)
        engine.on_turn_complete(lists[name])
    for _ in range(30):
        name = chance.choice(list(lists))
        step = chance.choice(["turn", "turn", "turn", "start", "compress", "usage", "check"])
        if step == "turn":
            grown = said(names[name], 200)[-2:]
            for message in grown:
                message["content"] = f"{names[name]}y{chance.random()} " + message["content"]
            lists[name] = lists[name] + grown
            engine.on_turn_complete(lists[name])
        elif step == "start":
            engine.on_session_start(name)
        elif step == "compress":
            lists[name] = engine.compress(lists[name], current_tokens=OVER, force=True)
        elif step == "usage":
            engine.update_from_response({"prompt_tokens": 100})
        else:
            engine.should_compress_preflight(lists[name])
    settle()
    for name, marker in names.items():
        other = "two" if name == "one" else "one"
        assert not found(client, f"{marker}*", other)
        for at in range(4):
            assert sessions_of(client, f'"{marker}x{at}"') == {name}


@pytest.mark.parametrize("seed", range(3))
def test_two_engines_in_two_threads_never_mix(home, client, seed):
    def run(name: str, marker: str) -> None:
        chance = random.Random(f"{name}{seed}")
        engine = HermaContextEngine(context_length=WINDOW)
        engine.on_session_start(name)
        messages = said(marker, 2)
        for at in range(40):
            messages = [*messages, {"role": "user", "content": f"{marker}z{at} " + "word " * 300}]
            engine.on_turn_complete(messages)
            if chance.random() < 0.2:
                messages = engine.compress(messages, current_tokens=OVER, force=True)

    threads = [
        threading.Thread(target=run, args=pair) for pair in (("one", "alpha"), ("two", "beta"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    settle()
    for at in range(40):
        assert sessions_of(client, f'"alphaz{at}"') == {"one"}
        assert sessions_of(client, f'"betaz{at}"') == {"two"}


class Unpicklable:
    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __call__(self, request) -> str:
        return "## Goal\nnothing is left"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_has_no_session_and_changes_nothing_of_the_original(home, client, copied):
    writes = Unpicklable()
    engine = HermaContextEngine(
        writes, context_length=WINDOW, thresholds=lambda model: None, timeout=3.0
    )
    engine.on_session_start("one")
    engine.update_from_response({"prompt_tokens": 1234})
    before = engine.get_status()
    other = copied(engine)
    assert other.session_id is None
    assert other.last_prompt_tokens == 0
    assert other.context_length == WINDOW
    other.update_model("other", 4 * WINDOW)
    other.on_session_start("two")
    assert len(other.compress(said("beta", 120), current_tokens=OVER, force=True)) < 120
    assert other.last_report["summarizer"] == "client"
    other.on_session_end("two")
    assert engine.get_status() == before
    assert engine.session_id == "one"
    assert engine.last_report is None
    settle()
    assert client.context.status(session="one")["context_length"] == WINDOW
    assert client.session.show(session="one")["ended_at"] is None
