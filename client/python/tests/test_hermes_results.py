"""Tool results that are too large."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

import herma
from herma.hermes import (
    BudgetConfig,
    enforce_turn_budget,
    generate_preview,
    maybe_persist_tool_result,
)

SMALL = BudgetConfig(default_result_size=100, turn_budget=1000, preview_size=40)
TEXT = "a line of output\n" * 60


class Sandbox:
    """Where an agent's tools run: a shell with a folder for what is temporary."""

    def __init__(self, temp: Path, shape=dict) -> None:
        self.temp = temp
        self.commands: list[str] = []
        self._shape = shape

    def get_temp_dir(self) -> str:
        return f"{self.temp}/"

    def execute(self, command, timeout, stdin_data):
        self.commands.append(command)
        done = subprocess.run(
            ["sh", "-c", command],
            input=stdin_data,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return self._shape(output=done.stdout, returncode=done.returncode)


class Broken:
    """A sandbox that fails, in one of the ways that there are."""

    def __init__(self, answer) -> None:
        self._answer = answer

    def execute(self, command, timeout, stdin_data):
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def place(block: str) -> Path:
    (line,) = [line for line in block.splitlines() if line.startswith("Full output saved to: ")]
    return Path(line.partition(": ")[2])


def test_what_is_small_stays(home):
    assert maybe_persist_tool_result("x" * 100, "shell", "c", config=SMALL) == "x" * 100
    assert maybe_persist_tool_result("", "shell", "c", threshold=0) == ""
    assert maybe_persist_tool_result(TEXT, "shell", "c") == TEXT
    assert maybe_persist_tool_result(TEXT, "shell", "c", threshold=math.inf, config=SMALL) == TEXT


def test_what_is_large_leaves_a_block(home):
    block = maybe_persist_tool_result(TEXT, "shell", "call_1", config=SMALL)
    assert block.startswith(
        "<persisted-output>\nThis tool result was too large (1,020 characters, 1.0 KB).\n"
    )
    assert block.endswith("</persisted-output>")
    assert "Preview (first 34 chars):\na line of output\na line of output\n\n...\n" in block
    assert place(block).name == "call_1.txt"
    assert place(block).read_text() == TEXT


def test_read_file_is_pinned_and_overrides_count(home):
    config = BudgetConfig(
        default_result_size=100, tool_overrides={"grep": math.inf, "read_file": 1}
    )
    for tool, stays in (("read_file", True), ("grep", True), ("shell", False)):
        assert (maybe_persist_tool_result(TEXT, tool, tool, config=config) == TEXT) is stays


def test_a_host_s_own_budget_counts_like_ours(home):
    """0.19 gives its own object; some have only a part of the fields."""
    whole = SimpleNamespace(default_result_size=100, turn_budget=1000, preview_size=40, tool_overrides={})
    for config in (SMALL, whole, SimpleNamespace(default_result_size=100), SimpleNamespace(tool_overrides={"shell": 100})):
        assert maybe_persist_tool_result(TEXT, "shell", "call_1", config=config) != TEXT
    stays = SimpleNamespace(default_result_size=math.inf, tool_overrides=None)
    assert maybe_persist_tool_result(TEXT, "shell", "call_1", config=stays) == TEXT
    turn = [{"role": "tool", "tool_call_id": f"c{at}", "content": TEXT} for at in range(9)]
    enforce_turn_budget(turn, config=SimpleNamespace(turn_budget=2000, preview_size=40))
    assert sum(len(message["content"]) for message in turn) < 9 * len(TEXT)


@pytest.mark.parametrize("shape", [dict, SimpleNamespace])
def test_the_file_goes_where_the_agents_tools_can_read_it(home, shape):
    env = Sandbox(home.path / "it's a box", shape)
    block = maybe_persist_tool_result(TEXT, "shell", "call_1", env, SMALL)
    assert place(block) == env.temp / "hermes-results" / "call_1.txt"
    assert place(block).read_text() == TEXT
    assert not any("a line of output" in command for command in env.commands)


def test_the_daemon_keeps_it_too(home, client):
    env = Sandbox(home.path / "box")
    maybe_persist_tool_result("needle\n" + TEXT, "shell", "call_1", env, SMALL, session="s")
    assert client.recall.search(query="needle", session="s")["hits"][0]["kind"] == "output"


def test_an_id_that_is_no_file_name_becomes_one(home):
    env = Sandbox(home.path / "box")
    block = maybe_persist_tool_result(TEXT, "shell", "../../escape; rm", env, SMALL)
    assert place(block).parent == env.temp / "hermes-results"
    assert place(block).read_text() == TEXT


@pytest.mark.parametrize(
    "answer", [{"returncode": 1}, SimpleNamespace(exit_code=2), {"output": ""}, OSError("no box")]
)
def test_where_the_sandbox_fails_the_beginning_stays(home, answer):
    shown = maybe_persist_tool_result(TEXT, "shell", "call_1", Broken(answer), SMALL)
    assert shown == (
        "a line of output\na line of output\n\n\n[Truncated: tool response was 1,020 chars. "
        "Full output could not be saved to sandbox.]"
    )


def test_exit_codes_of_both_names(home):
    assert place(
        maybe_persist_tool_result(TEXT, "t", "c", Broken(SimpleNamespace(exit_code=0)), SMALL)
    ) == Path("/tmp/hermes-results/c.txt")


def test_parts(home):
    parts = [{"type": "text", "text": TEXT}, {"type": "image_url", "image_url": {"url": "u"}}]
    env = Sandbox(home.path / "box")
    shown = maybe_persist_tool_result(parts, "shell", "call_1", env, SMALL)
    assert [part["type"] for part in shown] == ["text", "image_url"]
    assert place(shown[0]["text"]) == env.temp / "hermes-results" / "call_1.txt"
    assert place(shown[0]["text"]).read_text() == TEXT


def turn(*sizes):
    return [
        {"role": "tool", "tool_call_id": f"call_{at}", "content": "x" * size}
        for at, size in enumerate(sizes)
    ]


def test_a_turn_over_its_budget(home):
    messages = turn(*[42_000] * 6)
    assert enforce_turn_budget(messages) is messages
    spilled = [message for message in messages if "<persisted-output>" in message["content"]]
    assert len(spilled) == 2
    assert sum(len(message["content"]) for message in messages) <= 200_000
    assert place(spilled[0]["content"]).read_text() == "x" * 42_000


def test_a_turn_within_its_budget_is_left_alone(home):
    messages = turn(100, 200)
    assert enforce_turn_budget(messages) == turn(100, 200)


def test_a_turn_in_a_sandbox(home):
    env = Sandbox(home.path / "box")
    messages = enforce_turn_budget(turn(5000, 10), env, SMALL)
    assert place(messages[0]["content"]) == env.temp / "hermes-results" / "call_0.txt"
    cut = enforce_turn_budget(turn(5000, 10), Broken({"returncode": 1}), SMALL)
    assert cut[0]["content"].endswith("Full output could not be saved to sandbox.]")


def test_previews(home):
    assert generate_preview("short") == ("short", False)
    assert generate_preview("abcd\nefgh", 6) == ("abcd\n", True)
    assert generate_preview("a\nbcdefgh", 6) == ("a\nbcde", True)


def test_without_a_daemon_it_is_an_error(home):
    with herma.Client(start=False) as client, pytest.raises(herma.DaemonUnavailable):
        maybe_persist_tool_result(TEXT, "shell", "c", client=client)
