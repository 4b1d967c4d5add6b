"""Ways of real hosts that an engine and a provider have to know."""

from __future__ import annotations

import logging
import time

import pytest
from conftest import conversation, stopped, wait_for
from hermes_fakes import WINDOW, Agent, OddDaemon, found, greets, line, said

import herma
from herma.hermes import HermaContextEngine
from herma.hermes.background import worker
from herma.hermes.provider import HermaMemoryProvider
from herma.hermes.settings import PluginSettings

LIMIT = 0.4


def settle() -> None:
    wait_for(lambda: worker.settle(1), "the background")


def begun(session: str) -> Agent:
    agent = Agent(session, HermaContextEngine(context_length=WINDOW, timeout=LIMIT))
    agent.begins()
    return agent


def test_an_agent_that_reviews_a_session_leaves_it_alone(home, client):
    """It borrows the session's id, and ends it when it is done."""
    agent, reviewer = begun("live"), begun("review")
    agent.calls("update_from_response", {"prompt_tokens": 100})
    reviewer._memory_write_origin = "background_review"
    reviewer.session_id = "live"
    reviewer.calls("update_from_response", {"prompt_tokens": 7})
    reviewer.calls("on_session_end", "live", [])
    settle()
    assert client.session.usage(session="live")["total"]["prompt"] == 100
    assert client.session.show(session="live")["ended_at"] is None
    assert client.session.usage(session="review")["total"]["prompt"] == 7


def test_a_model_has_nothing_of_the_one_before():
    engine = HermaContextEngine()
    engine.update_model("big", WINDOW, "https://a.example", "key-1", "a", "anthropic_messages")
    assert (engine.model, engine.api_mode, engine.api_key) == ("big", "anthropic_messages", "key-1")
    engine.update_model("small", WINDOW, "https://b.example", engine.api_key, "b", "")
    assert engine._runtime() == {
        "model": "small",
        "provider": "b",
        "base_url": "https://b.example",
        "api_mode": "",
        "api_key": "key-1",
    }


def test_a_threshold_that_was_lowered_for_one_model_is_not_the_next_ones(home):
    engine = HermaContextEngine()
    engine.update_model("a", 200_000)
    engine.threshold_tokens = 80_000
    engine.update_model("b", 200_000)
    assert engine.threshold_tokens == 100_000


def test_the_last_words_are_kept_where_the_users_first_went_into_a_handoff(home, client):
    engine = HermaContextEngine(context_length=WINDOW, protect_first_n=0)
    engine.on_session_start("s")
    shorter = engine.compress(conversation(120))
    assert len(shorter) < 121
    engine.on_session_start("s", boundary_reason="compression", old_session_id="s")
    engine.on_session_end("s", [*shorter, {"role": "user", "content": "the last marker word"}])
    settle()
    assert found(client, '"last marker word"', "s")


def test_words_that_are_said_again_after_a_rewind_are_kept(home, client):
    engine = HermaContextEngine(context_length=WINDOW)
    engine.on_session_start("s")
    first = [
        *said("alpha", 4),
        {"role": "user", "content": "yes please"},
        {"role": "assistant", "content": "Done that."},
    ]
    engine.on_turn_complete(first)
    settle()
    again = first[:2] + said("beta", 2) + [dict(message) for message in first[-2:]]
    engine.on_turn_complete(again)
    settle()
    for words in ('"yes please"', '"Done that"'):
        assert len(found(client, words, "s")) == 2
    assert len(found(client, '"alphax1"', "s")) == 1


def test_conversations_that_ended_do_not_stay(home):
    engine = HermaContextEngine(context_length=WINDOW)
    for at in range(40):
        engine.on_session_start(f"s{at}")
        engine.on_session_end(f"s{at}", said("alpha", 2))
    settle()
    kept = {one.id: one for one in engine._conversations._by_name.values()}
    assert len(kept) < 12
    assert not any(one.transcript._seen for one in kept.values())


def test_an_error_of_the_engine_is_logged_without_its_words(home, caplog):
    engine = HermaContextEngine(context_length=WINDOW)
    with caplog.at_level(logging.DEBUG, "herma.hermes"):
        engine._note_failure("compress", ValueError("SECRET words of a message"))
    assert "SECRET" not in caplog.text


def provider(**about) -> HermaMemoryProvider:
    made = HermaMemoryProvider(PluginSettings(timeout=LIMIT))
    made.initialize("s", **about)
    return made


def test_a_checkpoint_waits_no_longer_than_a_turn(home):
    made = provider()
    settle()
    made.on_pre_compress(said("alpha", 2))
    with stopped(home.pid):
        started = time.monotonic()
        with pytest.raises(herma.HermaError):
            made.on_pre_compress(said("alpha", 4))
        assert time.monotonic() - started < 3 * LIMIT


def test_a_write_that_the_host_refused_is_not_made(home, client):
    """Some hosts tell of every call of their memory tool."""
    agent = begun("s")
    made = agent.runs(provider, hermes_home=str(home.path))
    agent.runs(made.on_memory_write, "add", "user", "Refused by the host.")
    settle()
    assert client.memory.list(target="user", raw=True)["user"]["entries"] == []


def test_what_stands_in_the_list_is_not_recalled_by_a_new_process(home, client):
    words = "The harbour lighthouse keeper repaired seventeen lanterns yesterday evening."
    client.session.open(session="s")
    one = {"role": "user", "content": words}
    client.session.append(session="s", generation=0, position=0, messages=[one])
    made = provider()
    assert made.prefetch("Which lanterns did the lighthouse keeper repair?") == ""
    made.on_session_switch("other", reset=True)
    recalled = wait_for(
        lambda: made.prefetch("Which lanterns did the lighthouse keeper repair?"), "the recall"
    )
    assert "seventeen lanterns" in recalled


def test_slow_answers_have_the_limit_of_a_turn_together(home):
    """Each of them came in time, and all of them held the turn for several limits."""

    def slow(request):
        time.sleep(0.9 * LIMIT)
        return line(request, result={})

    (home.path / "herma").mkdir()
    odd = OddDaemon(home.socket, greets(slow))
    engine = HermaContextEngine(context_length=WINDOW, timeout=LIMIT)
    started = time.monotonic()
    engine.on_session_start("s")
    assert time.monotonic() - started < 1.5 * LIMIT
    odd.close()
