"""The client for asyncio."""

from __future__ import annotations

import asyncio

import pytest
from conftest import conversation, stopped
from relay import Relay
from test_reconnect import restart
from test_threads import in_child, needs_fork

import herma


@pytest.fixture
def run(home):
    """Runs a coroutine with a client."""

    def run(work, **options):
        async def main():
            async with herma.AsyncClient(**options) as client:
                return await asyncio.wait_for(work(client), 30)

        return asyncio.run(main())

    return run


def test_many_calls_at_once_on_one_connection(run):
    async def work(client):
        writes = (client.memory.add(target="user", content=f"n{at}") for at in range(150))
        assert all(result["success"] for result in await asyncio.gather(*writes))
        status = await client.status()
        assert status["connections"] == 1
        assert status["stores"][1]["entries"] == 150

    run(work)


def test_a_slow_call_holds_up_nobody(run):
    async def work(client):
        await client.context.configure(session="s", context_length=64_000)
        slow = asyncio.create_task(
            client.context.compress(session="s", messages=conversation(1500))
        )
        await asyncio.sleep(0)
        assert await client.ping() == {}
        first = not slow.done()
        assert (await slow)["report"]["compressed"]
        return first

    assert run(work)


def test_errors_and_generic_calls(run):
    async def work(client):
        with pytest.raises(herma.NotFound):
            await client.session.show(session="nobody")
        with pytest.raises(herma.InvalidParams):
            await client.call("memory.add", target="user", content="\ud800")
        assert await client.call("session.tip", session="s") == {"session": "s"}

    run(work)


def test_a_cancelled_call_leaves_the_others(run):
    async def work(client):
        calls = [asyncio.create_task(client.ping()) for _ in range(10)]
        await asyncio.sleep(0)
        calls[3].cancel()
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(answer) for answer in answers].count(dict) == 9
        assert client._line()._connection._waiting == {}
        assert await client.ping() == {}

    run(work)


def test_a_killed_daemon_is_started_again(home, run):
    async def work(client):
        await client.memory.add(target="user", content="one")
        home.kill()
        entries = [client.memory.list(target="user") for _ in range(5)]
        assert all(view["user"]["entries"] == ["one"] for view in await asyncio.gather(*entries))

    run(work)


def test_nothing_is_done_twice(home, run):
    home.start()
    relay = Relay(home.path / "r.sock", home.socket)

    async def work(client):
        await client.memory.add(target="user", content="one")
        relay.cut("memory.undo")
        assert (await client.memory.undo(target="user"))["entries"] == []
        relay.cut("memory.restore", restart(home))
        with pytest.raises(herma.OutcomeUnknown):
            await client.memory.restore(target="user", revision=1)
        log = await client.memory.log(target="user")
        assert [row["action"] for row in log["rows"]] == ["restore", "undo", "add"]
        relay.cut("memory.add", lambda: (home.kill(), relay.path.unlink()))
        with pytest.raises(herma.OutcomeUnknown):
            await client.memory.add(target="user", content="two")

    run(work, socket=relay.path, start=False)
    relay.close()


def test_a_daemon_that_does_not_answer_is_given_up_in_time(home, run):
    pid = home.start()

    async def work(client):
        await client.ping()
        with stopped(pid), pytest.raises(herma.DeadlineExceeded):
            await client.ping(timeout=0.1)
        assert await client.ping() == {}

    run(work)


def test_without_leave_nothing_is_started(home, run):
    async def work(client):
        with pytest.raises(herma.DaemonUnavailable):
            await client.ping()

    run(work, start=False)
    assert home.pid is None


def test_an_answer_over_the_limit_is_refused(run, monkeypatch):
    monkeypatch.setattr("herma.lines.LONGEST", 200)

    async def work(client):
        with pytest.raises(herma.BadAnswer, match="more than 200 bytes"):
            await client.ping()

    run(work)


def test_events(home, run):
    async def work(client):
        async with client.subscribe(["memory.changed"]) as events:
            await client.memory.add(target="user", content="x")
            assert (await events.__anext__()).params["revision"] == 1
            home.kill()
            with pytest.raises(herma.DaemonUnavailable):
                await events.__anext__()
            assert [event async for event in events] == []
        with pytest.raises(herma.InvalidParams):
            await client.subscribe(["nothing"]).open()

    run(work)


def test_each_loop_has_its_own_connection(home):
    client = herma.AsyncClient()

    async def work():
        assert await client.ping() == {}
        await client._line().close()

    asyncio.run(work())
    asyncio.run(work())


@needs_fork
def test_a_child_connects_anew(run):
    async def work(client):
        await client.ping()

        def child():
            async def ask():
                status, lines = await client.status(), len(client._lines)
                await client.close()
                return status["connections"] == 2 and lines == 1

            asyncio._set_running_loop(None)
            return asyncio.run(ask())

        assert in_child(child) == 0
        assert await client.ping() == {}

    run(work)
