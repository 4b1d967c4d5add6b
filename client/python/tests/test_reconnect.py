"""Connections that break, and daemons that go."""

from __future__ import annotations

import threading

import pytest
from conftest import stopped, wait_for
from relay import Relay

import herma


@pytest.fixture
def relay(home):
    home.start()
    relay = Relay(home.path / "r.sock", home.socket)
    yield relay
    relay.close()


@pytest.fixture
def client(home, relay):
    with herma.Client(socket=relay.path, start=False) as client:
        client.memory.add(target="user", content="one")
        yield client


def log(home):
    with herma.Client() as client:
        return [row["action"] for row in client.memory.log(target="user")["rows"]]


def test_a_broken_connection_is_repeated_with_its_key(home, relay, client):
    relay.cut("memory.undo")
    assert client.memory.undo(target="user")["entries"] == []
    first, second = relay.keys("memory.undo")
    assert first == second
    assert log(home) == ["undo", "add"]


def test_a_key_of_the_callers_own_is_sent(home, relay, client):
    for _ in range(2):
        client.memory.undo(target="user", idempotency_key="mine")
    assert log(home) == ["undo", "add"]


def test_what_looks_carries_no_key(relay, client):
    client.memory.list()
    assert relay.keys("memory.list") == [None]


def test_what_is_none_is_left_out(relay, client):
    client.memory.list(target=None, raw=None)
    client.call("memory.list", target=None, raw=True)
    sent = [call["params"] for call in relay.calls if call["method"] == "memory.list"]
    assert [set(params) for params in sent] == [{"deadline_ms"}, {"deadline_ms", "raw"}]


def restart(home):
    def again():
        home.kill()
        home.start()

    return again


def test_a_write_that_a_restart_may_have_lost_is_not_repeated(home, relay, client):
    relay.cut("memory.undo", restart(home))
    with pytest.raises(herma.OutcomeUnknown, match=r"memory\.undo"):
        client.memory.undo(target="user")
    assert len(relay.keys("memory.undo")) == 1
    assert log(home) == ["undo", "add"]
    assert client.ping() == {}


def test_a_write_that_comes_to_the_same_is_repeated_after_a_restart(home, relay, client):
    relay.cut("memory.add", restart(home))
    assert client.memory.add(target="user", content="two")["entries"] == ["one", "two"]
    assert len(relay.keys("memory.add")) == 3
    assert log(home) == ["add", "add"]


def test_a_write_without_an_answer_and_without_a_daemon(home, relay, client):
    def end():
        home.kill()
        relay.path.unlink()

    relay.cut("memory.add", end)
    with pytest.raises(herma.OutcomeUnknown, match=r"memory\.add"):
        client.memory.add(target="user", content="two")
    with pytest.raises(herma.DaemonUnavailable) as error:
        client.memory.add(target="user", content="three")
    assert not isinstance(error.value, herma.OutcomeUnknown)


def test_a_question_is_repeated_after_a_restart(home, relay, client):
    relay.cut("memory.list", restart(home))
    assert client.memory.list(target="user")["user"]["entries"] == ["one"]


def test_a_connection_that_always_breaks_is_given_up(relay, client):
    def cut():
        relay.cut("ping", cut)

    cut()
    with pytest.raises(herma.DaemonUnavailable) as error:
        client.ping()
    assert not isinstance(error.value, herma.OutcomeUnknown)
    assert len([call for call in relay.calls if call["method"] == "ping"]) == 4


def test_a_daemon_that_was_killed_between_calls_is_started_again(home):
    with herma.Client() as client:
        client.memory.add(target="user", content="one")
        first = home.pid
        home.kill()
        assert client.memory.replace(target="user", old_text="one", content="two")["success"]
        assert home.pid != first


def test_a_daemon_that_is_killed_while_it_is_asked(home):
    """Whatever became of each write, none is done twice and none that was told is lost."""
    told, stop = [], threading.Event()

    def write():
        with herma.Client() as client:
            for number in range(1000):
                if stop.is_set():
                    return
                text = f"entry {number}"
                client.memory.add(target="user", content=text)
                told.append(text)
                client.memory.remove(target="user", old_text=text)
                told.append(text)

    def risky():
        try:
            write()
        except herma.OutcomeUnknown:
            told.append("unknown")
            risky()

    writer = threading.Thread(target=risky)
    writer.start()
    for _ in range(3):
        seen = len(told)
        wait_for(lambda seen=seen: len(told) > seen + 3, "writes")
        home.kill()
    seen = len(told)
    wait_for(lambda: len(told) > seen + 3, "writes after the last kill")
    stop.set()
    writer.join()
    with herma.Client() as client:
        rows = client.memory.log(target="user", limit=1000)["rows"]
    for row in rows:
        assert len(set(row["before"]) ^ set(row["after"])) == 1, row


def test_a_daemon_that_does_not_answer_is_given_up_in_time(home):
    pid = home.start()
    with herma.Client() as client:
        client.ping()
        with stopped(pid), pytest.raises(herma.DeadlineExceeded, match="did not answer"):
            client.ping(timeout=0.1)
        assert client.ping() == {}


def test_a_deadline_is_told_to_the_daemon(relay, client):
    client.ping(timeout=5)
    assert 4000 < relay.calls[-1]["params"]["deadline_ms"] <= 5000
    client.ping(timeout=90_000)
    assert relay.calls[-1]["params"]["deadline_ms"] == 3_600_000


def test_a_closed_client_says_so(client):
    client.close()
    client.close()
    with pytest.raises(herma.DaemonUnavailable, match="closed"):
        client.ping()
