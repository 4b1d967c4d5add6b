"""The transcript that grows beside the list, so that a compression need not send it."""

from __future__ import annotations

import copy
import random
import threading

import pytest
from conftest import wait_for
from hermes_fakes import OVER, WINDOW, found, said
from relay import Relay

import herma
from herma.hermes import HermaContextEngine
from herma.hermes.background import worker
from herma.hermes.link import Offline, shared_link
from herma.hermes.transcript import CHUNK, Transcript


def settle() -> None:
    wait_for(lambda: worker.settle(1), "the background")


def begun(session: str = "s", **settings) -> HermaContextEngine:
    engine = HermaContextEngine(context_length=WINDOW, **settings)
    engine.on_session_start(session)
    return engine


@pytest.fixture
def relay(home, tmp_path):
    home.start()
    relay = Relay(home.path / "relay.sock", home.socket)
    yield relay
    relay.close()


def through(home, relay) -> dict:
    return {"place": herma.Place(home.path, relay.path), "timeout": 5.0}


def sent(relay, method: str) -> list[dict]:
    return [call["params"] for call in relay.calls if call["method"] == method]


def texts(client, marker: str, count: int) -> list[int]:
    """How often each message is in the archive; a summary may name it in its middle as well."""

    def times(at: int) -> int:
        return sum(hit["start"] == 0 for hit in found(client, f'"{marker}x{at}"', "s"))

    return [times(at) for at in range(count)]


def without_handles(messages, session: str):
    return [
        {**message, "content": message["content"].replace(session, "SESSION")}
        for message in copy.deepcopy(messages)
        if "_compressed_summary" not in message
    ]


def test_after_finished_turns_a_compression_sends_no_messages(home, relay):
    engine = begun(**through(home, relay))
    messages = said("alpha", 120)
    for turn in (40, 80, 120):
        engine.on_turn_complete(messages[:turn])
        settle()
    shorter = engine.compress(messages, current_tokens=OVER)
    assert len(shorter) < 120
    (asked,) = sent(relay, "context.compress")
    assert "messages" not in asked
    assert sum(len(call["messages"]) for call in sent(relay, "session.append")) == 120
    # And again, after what followed.
    grown = shorter + said("beta", 100)
    engine.on_turn_complete(grown)
    assert len(engine.compress(grown, current_tokens=OVER, force=True)) < len(grown)
    assert "messages" not in sent(relay, "context.compress")[-1]


def test_a_compression_sends_what_is_new_since_the_last_turn(home, relay):
    engine = begun(**through(home, relay))
    messages = said("alpha", 120)
    engine.on_turn_complete(messages[:100])
    engine.compress(messages, current_tokens=OVER)
    assert "messages" not in sent(relay, "context.compress")[-1]
    assert sum(len(call["messages"]) for call in sent(relay, "session.append")) == 120


def test_it_makes_no_difference_whether_the_daemon_had_the_list(home):
    messages = said("alpha", 120)
    followed, alone = begun("followed"), begun("alone")
    followed.on_turn_complete(messages)
    settle()
    made = [engine.compress(messages, current_tokens=OVER) for engine in (followed, alone)]
    assert without_handles(made[0], "followed") == without_handles(made[1], "alone")
    reports = [
        {name: engine.last_report[name] for name in ("tokens_before", "tokens_after", "dropped")}
        for engine in (followed, alone)
    ]
    assert reports[0] == reports[1]


def test_more_messages_than_one_call_carries(home, client):
    engine = begun()
    count = CHUNK * 2 + 7
    engine.on_turn_complete(said("alpha", count, words=2))
    settle()
    assert client.session.show(session="s")["messages"] == count


@pytest.mark.parametrize("cut", [2, 6, 9])
def test_a_rewind_loses_nothing_and_files_nothing_twice(home, client, cut):
    engine = begun()
    first, second = said("alpha", 10), said("beta", 6)
    engine.on_turn_complete(first)
    settle()
    rewound = first[:cut] + second
    engine.on_turn_complete(rewound[: cut + 2])
    settle()
    engine.on_turn_complete(rewound)
    settle()
    assert texts(client, "alpha", 10) == [1] * 10
    assert texts(client, "beta", 6) == [1] * 6
    grown = rewound + said("gamma", 120)
    shorter = engine.compress(grown, current_tokens=OVER, force=True)
    assert len(shorter) < len(grown)
    assert shorter[-1] is grown[-1]
    grown = shorter + said("delta", 4)
    engine.on_turn_complete(grown)
    settle()
    assert [len(found(client, f'"deltax{at}"', "s")) for at in range(4)] == [1] * 4


@pytest.mark.parametrize("then", ["kill", "hang up"])
def test_a_rewind_whose_answer_is_lost_files_nothing_twice(home, client, relay, then):
    """What was known already was filed again with the second attempt."""
    engine = begun(**through(home, relay))
    first = said("alpha", 10)
    engine.on_turn_complete(first)
    settle()
    rewound = first[:4] + said("beta", 6)
    was_cut = threading.Event()

    def cut():
        if then == "kill":
            home.kill()
        was_cut.set()

    relay.cut("session.append", cut)
    engine.on_turn_complete(rewound)
    assert was_cut.wait(20)
    home.start()
    wait_for(lambda: worker.settle(1) and engine._link.reason is None, "the daemon")
    engine.on_turn_complete([*rewound, *said("gamma", 2)])
    settle()
    assert texts(client, "alpha", 10) == [1] * 10
    assert texts(client, "beta", 6) == [1] * 6
    assert texts(client, "gamma", 2) == [1] * 2


class Flaky:
    """A link whose calls fail now and then, before or after the daemon did what was asked."""

    def __init__(self, link, chance) -> None:
        self._link = link
        self._chance = chance
        self.limit = link.limit

    def call(self, method, **params):
        if self._chance.random() < 0.25:
            raise Offline("not sent")
        answer = self._link.call(method, **params)
        if self._chance.random() < 0.25:
            raise Offline("the answer was lost")
        return answer


@pytest.mark.parametrize("seed", range(12))
def test_calls_that_fail_lose_nothing_and_file_nothing_twice(home, client, seed):
    chance = random.Random(seed)
    transcript = Transcript(Flaky(shared_link(herma.Place.find(), 5.0), chance), "s")
    messages: list[dict] = []
    told: list[str] = []
    for at in range(12):
        if messages and chance.random() < 0.3:
            messages = messages[: chance.randrange(len(messages))]
        fresh = [f"w{at}n{number}" for number in range(chance.choice([1, 2, CHUNK + 3]))]
        told += fresh
        messages = [*messages, *({"role": "user", "content": word} for word in fresh)]
        while True:
            try:
                transcript.add(messages)
                break
            except Offline:
                continue
    rows = client.session.list(raw=True)["sessions"]
    kept = sum(row["messages"] for row in rows)
    for word in random.Random(1).sample(told, min(40, len(told))):
        assert len(found(client, f'"{word}"', "s")) == 1, word
    assert kept == len(told)


@pytest.mark.parametrize("reloaded", ["the same", "with marks of the host's own"])
def test_a_new_process_does_not_archive_the_history_again(home, client, reloaded):
    messages = said("alpha", 120)
    engine = begun()
    engine.on_turn_complete(messages)
    shorter = engine.compress(messages, current_tokens=OVER)
    grown = shorter + said("beta", 2)
    engine.on_turn_complete(grown)
    settle()
    if reloaded != "the same":
        grown = [{**message, "timestamp": at} for at, message in enumerate(grown)]
    later = grown + said("gamma", 2)
    restarted = begun()
    restarted.on_turn_complete(later)
    settle()
    again = [*later, *said("gamma", 4)[2:]]
    restarted.on_turn_complete(again)
    settle()
    assert texts(client, "alpha", 120) == [1] * 120
    assert texts(client, "gamma", 4) == [1] * 4
    assert texts(client, "beta", 2) == [1] * 2
    longer = again + said("delta", 120)
    assert len(restarted.compress(longer, current_tokens=OVER, force=True)) < len(longer)


def test_what_the_host_changed_in_place_is_seen_by_a_compression(home, client):
    engine = begun()
    messages = said("alpha", 120)
    engine.on_turn_complete(messages)
    settle()
    messages[60]["content"] = "changedword " + messages[60]["content"]
    shorter = engine.compress(messages, current_tokens=OVER)
    assert len(shorter) < 120
    assert found(client, "changedword", "s")


def test_the_newest_list_is_kept_when_many_turns_end_at_once(home, client):
    engine = begun()
    messages = said("alpha", 60, words=2)
    for count in range(2, 62, 2):
        engine.on_turn_complete(messages[:count])
    settle()
    assert client.session.show(session="s")["messages"] == 60
