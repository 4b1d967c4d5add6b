"""What the plugin reads: the host's settings, its sessions, and messages of any kind."""

from __future__ import annotations

import json
import sqlite3

import pytest
from conftest import conversation
from hermes_fakes import WINDOW

from herma.hermes import HermaContextEngine
from herma.hermes.counting import estimate
from herma.hermes.lineage import STEPS, Origin, origin
from herma.hermes.plain import DEEPEST, digest, plain
from herma.hermes.register import make_engine
from herma.hermes.settings import PluginSettings

USUAL = PluginSettings()


@pytest.mark.parametrize(
    ("name", "written", "read"),
    [
        ("timeout", 3, 3.0),
        ("timeout", 0.05, 0.05),
        ("timeout", 0, 1.5),
        ("timeout", 61, 1.5),
        ("timeout", "3", 1.5),
        ("timeout", True, 1.5),
        ("timeout", float("nan"), 1.5),
        ("timeout", None, 1.5),
        ("summarizer", "daemon", "daemon"),
        ("summarizer", "host", "host"),
        ("summarizer", "Daemon", "host"),
        ("summarizer", ["daemon"], "host"),
        ("summarizer", {}, "host"),
        ("memory", True, True),
        ("memory", "on", True),
        ("memory", " Yes ", True),
        ("memory", "off", False),
        ("memory", 1, False),
        ("memory", "perhaps", False),
        ("memory", [], False),
        ("results", True, True),
        ("select_context", "true", True),
        ("prefetch", False, False),
        ("prefetch", "no", False),
        ("prefetch", 0, True),
        ("prefetch", None, True),
        ("prefetch_chars", 500, 500),
        ("prefetch_chars", 99, 2000),
        ("prefetch_chars", 10**9, 2000),
        ("prefetch_chars", "500", 2000),
    ],
)
def test_the_section_of_herma(name, written, read):
    found = PluginSettings.read({"herma": {name: written}})
    assert getattr(found, name) == read
    assert type(getattr(found, name)) is type(read)


@pytest.mark.parametrize(
    ("name", "written", "read"),
    [
        ("threshold", 0.7, 0.7),
        ("threshold", 1, 1),
        ("threshold", 0, None),
        ("threshold", 2.0, None),
        ("threshold", True, None),
        ("threshold", "0.7", None),
        ("threshold", float("nan"), None),
        ("target_ratio", 0.3, 0.3),
        ("target_ratio", -1, None),
        ("target_ratio", [0.3], None),
        ("protect_first_n", 5, 5),
        ("protect_first_n", 0, 0),
        ("protect_first_n", -1, None),
        ("protect_first_n", 2.5, None),
        ("protect_first_n", True, None),
        ("protect_last_n", 10, 10),
        ("protect_last_n", "10", None),
        ("abort_on_summary_failure", True, True),
        ("abort_on_summary_failure", False, False),
        ("abort_on_summary_failure", 1, None),
        ("abort_on_summary_failure", "yes", None),
        ("something_else", 1, None),
    ],
)
def test_the_hosts_section_for_compressions(home, name, written, read):
    """What the daemon would refuse was passed on, and no compression worked any more."""
    settings = PluginSettings.read({"compression": {name: written}})
    assert settings.engine == ({} if read is None else {name: read})
    engine = make_engine(settings)
    engine.update_model("m", WINDOW)
    engine.on_session_start("s")
    assert len(engine.compress(conversation(120), current_tokens=60_000, force=True)) < 120
    assert engine._last_summary_error is None


@pytest.mark.parametrize(
    "config", [{}, {"herma": None}, {"herma": []}, {"herma": "on"}, {"compression": 7}, {7: 8}]
)
def test_a_configuration_of_another_shape_is_the_usual_one(config):
    assert PluginSettings.read(config) == USUAL


@pytest.mark.parametrize(
    ("thresholds", "model", "share"),
    [
        ({"big": 0.3, "bigger-model": 0.6}, "a/Bigger-Model-2", 0.6),
        ({"big": 0.3}, "a/BIG", 0.3),
        ({"big": 0.3}, "small", None),
        ({"big": True, "small": 2, "m": "0.5"}, "big small m", None),
        (["big"], "big", None),
        (None, "big", None),
        ({7: 0.4}, "model-7", 0.4),
    ],
)
def test_thresholds_of_models(thresholds, model, share):
    found = PluginSettings.read({"compression": {"model_thresholds": thresholds}})
    assert found.threshold_of(model) == share


def test_a_models_own_threshold_goes_with_it(home, client):
    """The next model, which has none of its own, kept it."""
    thresholds = {"big": 0.9}.get
    engine = HermaContextEngine(thresholds=thresholds, threshold=0.6)
    shares = []
    engine.on_session_start("s")
    for model in ("other", "big", "other"):
        engine.update_model(model, 200_000)
        shares.append((engine.threshold_percent, client.context.status(session="s")["threshold"]))
    assert shares == [(0.6, 0.6), (0.9, 0.9), (0.6, 0.6)]


def rows(path, *made) -> None:
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE TABLE sessions (id, parent_session_id, started_at, ended_at, end_reason)"
    )
    connection.executemany("INSERT INTO sessions VALUES (?, ?, ?, ?, ?)", made)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("session", "found"),
    [
        ("a", Origin("a")),
        ("b", Origin("a")),
        ("c", Origin("a")),
        ("branch", Origin("branch", "c")),
        ("delegate", Origin("delegate", "a")),
        ("orphan", Origin("orphan", "nobody")),
        ("unknown", Origin("unknown")),
        ("of a branch", Origin("branch", "c")),
    ],
)
def test_where_a_session_of_the_host_comes_from(tmp_path, session, found):
    rows(
        tmp_path / "state.db",
        ("a", None, 1.0, 10.0, "compression"),
        ("b", "a", 10.0, 20.0, "compression"),
        ("c", "b", 20.5, 30.0, "user_exit"),
        ("branch", "c", 31.0, 40.0, "compression"),
        ("of a branch", "branch", 41.0, None, None),
        ("delegate", "a", 5.0, None, None),
        ("orphan", "nobody", 5.0, None, None),
    )
    assert origin(tmp_path / "state.db", session) == found


def test_a_ring_of_sessions_and_a_long_chain_end(tmp_path):
    rows(
        tmp_path / "state.db",
        ("x", "y", 1.0, 1.0, "compression"),
        ("y", "x", 1.0, 1.0, "compression"),
        *((f"n{at}", f"n{at - 1}", at, at, "compression") for at in range(1, 3 * STEPS)),
        ("n0", None, 0, 0, "compression"),
    )
    assert origin(tmp_path / "state.db", "x").first in ("x", "y")
    assert origin(tmp_path / "state.db", f"n{STEPS - 1}") == Origin("n0")
    assert isinstance(origin(tmp_path / "state.db", f"n{3 * STEPS - 1}"), Origin)


@pytest.mark.parametrize("content", [None, b"", b"no database", b"SQLite format 3\0 broken"])
def test_a_database_that_can_not_be_read_says_nothing(tmp_path, content):
    if content is not None:
        (tmp_path / "state.db").write_bytes(content)
    assert origin(tmp_path / "state.db", "s") == Origin("s")
    assert (tmp_path / "state.db").exists() == (content is not None)


@pytest.mark.parametrize(
    ("value", "made"),
    [
        ("half \ud83d", "half \ufffd"),
        (float("nan"), None),
        (float("inf"), None),
        ({1: "a", None: "b"}, {1: "a", None: "b"}),
        ({(1,): float("nan")}, {"(1,)": None}),
        ((1, {2}), [1, "{2}"]),
        (b"x", "b'x'"),
        ({"a": ["\udc00", 1.5]}, {"a": ["\ufffd", 1.5]}),
    ],
)
def test_what_json_can_not_say_is_replaced(value, made):
    assert plain(value) == made
    json.dumps(plain(value), allow_nan=False).encode()


def test_what_json_can_say_is_the_very_same():
    for value in ({"a": [1, "😀", None, 1.5, True]}, "text", [], {"ключ": "значение"}):
        assert plain(value) is value


def test_deep_values_are_cut():
    value: list = []
    for _ in range(100_000):
        value = [value]
    depth, inner = 0, plain(value)
    while inner:
        depth, inner = depth + 1, inner[0]
    assert depth <= DEEPEST


def test_digests_are_equal_for_equal_messages_only():
    one = {"role": "user", "content": "x"}
    assert digest(one) == digest(dict(one))
    assert len({digest(value) for value in (one, {**one, "content": "y"}, {**one, "n": 1})}) == 3


@pytest.mark.parametrize(
    "messages",
    [
        conversation(40),
        [{"role": "user", "content": "語" * 4000}],
        [{"role": "user", "content": [{"type": "text", "text": "word " * 800}]}],
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x" * 9000}}]}]
        * 3,
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c",
                        "type": "function",
                        "function": {"name": "t", "arguments": "a" * 6000},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c", "content": "row\n" * 2000},
        ],
    ],
    ids=["turns", "signs", "parts", "images", "tools"],
)
def test_the_engine_counts_roughly_as_the_daemon(client, messages):
    told = client.context.estimate(messages=messages)["tokens"]
    assert 0.7 * told <= estimate(messages) <= 1.4 * told
