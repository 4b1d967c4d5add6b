"""One client, many threads and processes."""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import conversation, needs, wait_for

import herma


def test_threads_share_a_client(client):
    def write(number):
        return client.memory.add(target="user", content=f"n{number}")["success"]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(write, range(200)))
    assert len(client.memory.list(target="user")["user"]["entries"]) == 200


def test_a_slow_call_holds_up_nobody(client):
    client.context.configure(session="s", context_length=64_000)
    messages = conversation(1500)
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(client.context.compress, session="s", messages=messages)
        meanwhile = 0
        while not slow.done():
            client.ping()
            meanwhile += 1
        assert slow.result()["report"]["compressed"]
    assert meanwhile > 10


def test_one_thread_uses_one_connection(client):
    for _ in range(5):
        client.ping()
    assert client.status()["connections"] == 1


needs_fork = needs("fork")


def in_child(work) -> int:
    """Does the work in a forked child; its exit code, 0 for a true answer."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        signal.alarm(15)
        code = 1
        try:
            code = 0 if work() else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@needs_fork
def test_a_child_connects_anew(client):
    client.ping()

    def work():
        # The parent's connection is there still, and another one.
        both = client.status()["connections"] == 2
        return both and client.memory.add(target="user", content="child")["success"]

    assert in_child(work) == 0
    assert client.memory.add(target="user", content="parent")["entries"] == ["child", "parent"]
    wait_for(lambda: client.status()["connections"] == 1, "the child's end")


@needs_fork
def test_a_child_does_not_wait_for_a_lock_of_the_parents(client):
    client.ping()
    with client._pool._lock:
        assert in_child(lambda: client.ping() == {}) == 0
    assert client.ping() == {}


@needs_fork
def test_parent_and_children_write_at_the_same_time(home):
    client = herma.Client()
    client.ping()
    children = []
    for child in range(4):
        pid = os.fork()
        if pid == 0:
            signal.alarm(30)
            code = 1
            try:
                for number in range(20):
                    client.memory.add(target="memory", content=f"{child}.{number}")
                code = 0
            finally:
                os._exit(code)
        children.append(pid)
    for number in range(20):
        client.memory.add(target="memory", content=f"p.{number}")
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    assert codes == [0] * 4
    assert len(client.memory.list(target="memory")["memory"]["entries"]) == 100
    client.close()
