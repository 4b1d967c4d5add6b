"""What the daemon tells unasked."""

from __future__ import annotations

import threading

import pytest
from conftest import conversation

import herma
from herma.call import Deadline


def test_changes_are_told_in_their_order(client):
    with client.subscribe(["memory.changed"]) as events:
        for text in ("a", "b"):
            client.memory.add(target="user", content=text, session="s")
        told = [next(events) for _ in range(2)]
    assert [event.topic for event in told] == ["memory.changed"] * 2
    assert told[1].params == {
        "profile": "default",
        "target": "user",
        "revision": 2,
        "cause": "write",
        "session": "s",
    }


def test_a_compression_is_told(client):
    client.context.configure(session="s", context_length=64_000)
    with client.subscribe(["compression.progress", "compression.done"]) as events:
        client.context.compress(session="s", messages=conversation(120))
        seen = []
        for event in events:
            seen.append(event.topic)
            if event.topic == "compression.done":
                assert event.params["report"]["compressed"]
                break
    assert "compression.progress" in seen


def test_what_is_told_while_an_answer_is_awaited_is_kept(client):
    with client.subscribe(["memory.changed"]) as events:
        for number in range(20):
            add = {"target": "user", "content": f"n{number}"}
            events._connection.ask("memory.add", add, Deadline(10))
            events._connection.ask("ping", {}, Deadline(10))
        revisions = [next(events).params["revision"] for _ in range(20)]
    assert revisions == list(range(1, 21))


def test_an_unknown_topic(client):
    with pytest.raises(herma.InvalidParams):
        client.subscribe(["memory.chnged"])


def test_waiting_has_an_end(client):
    with client.subscribe(["memory.changed"]) as events:
        with pytest.raises(herma.DeadlineExceeded):
            events.next(timeout=0.05)
        client.memory.add(target="user", content="x")
        assert events.next(timeout=10).params["revision"] == 1


def test_closing_ends_the_iteration_of_another_thread(client):
    events = client.subscribe(["memory.changed"])
    seen = []
    reader = threading.Thread(target=lambda: seen.extend(events))
    reader.start()
    client.memory.add(target="user", content="x")
    events.close()
    reader.join(timeout=10)
    assert not reader.is_alive()


def test_a_daemon_that_goes_is_told_of(home, client):
    with client.subscribe(["memory.changed"]) as events:
        home.kill()
        with pytest.raises(herma.DaemonUnavailable):
            next(events)
        assert list(events) == []
