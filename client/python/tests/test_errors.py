"""Errors of the daemon as exceptions."""

from __future__ import annotations

import json
import pickle

import pytest
from conftest import conversation

import herma
from herma.errors import ANSWERED, from_wire
from herma.wire import read_line

SECRET = "sk-" + "s3cr3t" * 8


@pytest.mark.parametrize(
    ("kind", "method", "params"),
    [
        (herma.UnknownMethod, "memory.ad", {}),
        (herma.InvalidParams, "memory.add", {"target": "user"}),
        (herma.InvalidParams, "memory.add", {"target": "user", "contents": "x"}),
        (herma.TooLarge, "memory.add", {"target": "user", "content": "x" * (1 << 20) + "x"}),
        (herma.NotFound, "session.snapshot", {"session": "nobody"}),
        (herma.NotFound, "memory.list", {"profile": "nobody"}),
        (herma.Conflict, "memory.add", {"target": "user", "content": "x", "expected_revision": 9}),
        (
            herma.Conflict,
            "session.append",
            {"session": "s", "generation": 0, "position": 4, "messages": []},
        ),
    ],
)
def test_kinds(client, kind, method, params):
    with pytest.raises(kind) as error:
        client.call(method, **params)
    assert (error.value.kind, error.value.fault) == (kind.kind, "caller")
    assert error.value.code == kind.code
    assert not error.value.retry


def test_a_conflict_says_how_it_is_now(client):
    client.memory.add(target="user", content="x")
    with pytest.raises(herma.Conflict) as error:
        client.memory.add(target="user", content="y", expected_revision=0)
    assert error.value.details["revision"] == 1
    assert error.value.details["entries"] == ["x"]


def test_a_store_that_cannot_be_read(client, home):
    (home.path / "memories").mkdir()
    (home.path / "memories" / "USER.md").write_bytes(b"\xff\xfe")
    with pytest.raises(herma.Unreadable) as error:
        client.memory.add(target="user", content="x")
    assert error.value.details["path"].endswith("USER.md")
    assert error.value.fault == "disk"


def test_a_session_that_is_busy(client):
    client.context.configure(session="s", context_length=64_000)
    deadline = 0.001
    with pytest.raises(herma.DeadlineExceeded):
        client.context.compress(session="s", messages=conversation(400), timeout=deadline)


@pytest.mark.parametrize("kind", ANSWERED)
def test_every_kind_has_a_class(kind):
    wire = {"code": -1, "message": "m", "data": {"kind": kind, "retry": True, "fault": "herma"}}
    error = from_wire(wire)
    assert type(error) is ANSWERED[kind]
    assert (error.kind, error.message, error.retry, error.code) == (kind, "m", True, -1)


def test_a_kind_of_a_later_version_is_a_plain_error():
    error = from_wire({"code": -32099, "message": "m", "data": {"kind": "tired"}})
    assert type(error) is herma.HermaError
    assert (error.kind, error.code) == ("tired", -32099)


def test_errors_travel_between_processes():
    error = from_wire({"code": -32006, "message": "m", "data": {"kind": "conflict", "revision": 3}})
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is herma.Conflict
    assert (copy.message, copy.details, copy.code) == ("m", {"revision": 3}, -32006)


@pytest.mark.parametrize(
    "wrong", [{SECRET}, float("nan"), SECRET + "\ud800", {"deep": {SECRET: object()}}]
)
def test_what_json_cannot_say_is_refused_without_repeating_it(client, wrong):
    with pytest.raises(herma.InvalidParams) as error:
        client.memory.add(target="user", content=wrong)
    assert SECRET not in str(error.value)
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__


@pytest.mark.parametrize("line", [b"", b"[]", b"{", b'{"id":1}', b"[" * 100_000])
def test_an_answer_that_is_none(line):
    with pytest.raises(herma.BadAnswer):
        read_line(line)


def test_a_request_over_the_daemons_limit_stays_here(home):
    home.configure('[limits]\nframe = "1MiB"\n')
    with herma.Client() as client:
        with pytest.raises(herma.TooLarge, match="over 1,048,576"):
            client.guard.redact(text="x" * (1 << 20))
        assert client.guard.redact(text="x" * 1_000_000)["count"] == 0


def test_an_answer_may_be_longer_than_a_request(home):
    home.configure('[limits]\nframe = "1MiB"\n')
    messages = [{"role": "user", "content": "\\" * 3000} for _ in range(150)]
    with herma.Client() as client:
        client.context.configure(session="s", context_length=64_000)
        plan = client.context.plan(session="s", messages=messages)
    assert len(json.dumps(plan)) > 1 << 20


def test_an_answer_over_the_limit_is_refused(client, monkeypatch):
    monkeypatch.setattr("herma.lines.LONGEST", 200)
    with pytest.raises(herma.BadAnswer, match="more than 200 bytes"):
        client.ping()
