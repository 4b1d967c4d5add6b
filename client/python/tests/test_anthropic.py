"""The memory tool of Anthropic's SDK on the daemon: beside the SDK's own, and in its runner."""

from __future__ import annotations

import asyncio
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

anthropic = pytest.importorskip("anthropic", reason="needs pypi")

from anthropic.tools.memory import BetaLocalFilesystemMemoryTool  # noqa: E402
from scripted_model import ScriptedModel  # noqa: E402

import herma  # noqa: E402
from herma.anthropic import AsyncMemoryTool, MemoryTool, ToolError  # noqa: E402

LINES = ["one", "two", "three", "ä ☕", "", "  indented\t"]
FILES = ["a", "b.md", "d/a", "d/e/x", "f/g/h/i", "names with spaces.txt"]
FOLDERS = ["d", "d/e", "f", "f/g", "n", "n/m"]


@pytest.fixture
def tool(home):
    made = MemoryTool()
    yield made
    made.close()


CREATE = {"command": "create", "path": "/memories/notes.md", "file_text": "one\ntwo\n"}


def told(tool, call: dict) -> tuple[str, bool]:
    try:
        return tool.call(call), False
    except ToolError as error:
        return str(error.content), True


def asked(rng: random.Random, there: list[str]) -> dict:
    """A command that a model may give; `there` are paths that exist."""
    anywhere = rng.choice(FILES + FOLDERS)
    path = f"/memories/{rng.choice(there) if there and rng.random() < 0.7 else anywhere}"
    text = "\n".join(rng.choices(LINES, k=rng.randrange(6)))
    command = rng.choice(
        ["view", "view", "create", "create", "str_replace", "insert", "delete", "rename"]
    )
    if command == "view":
        path = rng.choice([path, "/memories", path.rsplit("/", 1)[0]])
        first = rng.randrange(1, 4)
        span = {} if rng.random() < 0.5 else {"view_range": [1, rng.choice([-1, first])]}
        return {"command": command, "path": path, **span}
    if command == "create":
        return {"command": command, "path": f"/memories/{anywhere}", "file_text": text}
    if command == "str_replace":
        old = rng.choice([*LINES[:4], "one\ntwo", "not there"])
        return {"command": command, "path": path, "old_str": old, "new_str": text}
    if command == "insert":
        line = rng.randrange(-1, 8)
        return {"command": command, "path": path, "insert_line": line, "insert_text": text}
    if command == "delete":
        return {"command": command, "path": rng.choice([path, "/memories"])}
    into_itself = f"/memories/{anywhere}".startswith(f"{path}/")
    if into_itself or path.removeprefix("/memories/") not in there:
        anywhere = "at the root"  # The SDK's own tool makes folders for what it then refuses.
    return {"command": command, "old_path": path, "new_path": f"/memories/{anywhere}"}


def sizeless(text: str) -> str:
    """A listing without the sizes of folders, which the file system decides."""
    return re.sub(r"^\S+\t(/.*/)$", r"\1", text, flags=re.MULTILINE)


def tree(root: Path) -> dict[str, str]:
    files = (path for path in root.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_text() for path in files}


@pytest.mark.parametrize("seed", range(12))
def test_it_does_what_the_tool_of_the_sdk_does(home, tool, tmp_path, seed):
    ours, theirs = tool, BetaLocalFilesystemMemoryTool(str(tmp_path))
    rng = random.Random(seed)
    root = home.path / "herma" / "files" / "default"
    refusals = 0
    for _ in range(120):
        there = [
            str(path.relative_to(tmp_path / "memories"))
            for path in (tmp_path / "memories").rglob("*")
        ]
        call = asked(rng, sorted(there))
        mine = told(ours, call)
        try:
            expected = told(theirs, call)
        except Exception:  # What it has no words for, it leaves to the system.
            assert mine[1], call
            refusals += 1
            continue
        folder = call["path"] if call["command"] == "view" else None
        if folder is not None and (tmp_path / folder[1:]).is_dir():
            mine, expected = (
                (sizeless(text).splitlines()[2:], is_error) for text, is_error in (mine, expected)
            )
        assert mine == expected, call
    assert tree(root) == tree(tmp_path / "memories")
    assert refusals < 30


def test_the_runner_of_the_sdk_drives_it(home, client):
    path = CREATE["path"]
    script = [
        [{"command": "view", "path": "/memories"}],
        [CREATE],
        [
            {"command": "str_replace", "path": path, "old_str": "two", "new_str": "2"},
            {"command": "insert", "path": path, "insert_line": 2, "insert_text": "three"},
        ],
        [{"command": "view", "path": path}],
        [{"command": "rename", "old_path": path, "new_path": "/memories/old/notes.md"}],
        [{"command": "str_replace", "path": path, "new_str": "two"}, {"command": "forget"}],
        [{"command": "view", "path": "/memories/../../etc/passwd"}],
        [{"command": "delete", "path": "/memories/old"}],
    ]
    with ScriptedModel(script) as model:
        run(model, MemoryTool(client, session="s", agent="tester"))
        assert model.requests[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
        results = model.results()
    assert [is_error for _, is_error in results] == [False] * 6 + [True] * 3 + [False]
    texts = [text for text, _ in results]
    assert texts[1] == "File created successfully at: /memories/notes.md"
    assert texts[4].splitlines()[1:] == ["     1\tone", "     2\t2", "     3\tthree", "     4\t"]
    assert texts[6:9] == [
        "`old_str` is missing; str_replace needs it",
        "There is no command `forget`; known are view, create, str_replace, insert, delete and rename",
        "Path /memories/../../etc/passwd would escape /memories directory",
    ]
    rows = client.files.log()["rows"]
    actions = [row["action"] for row in rows]
    assert actions == ["delete", "rename", "insert", "str_replace", "create"]
    assert {(row["session"], row["agent"]) for row in rows} == {("s", "tester")}
    client.files.undo()
    assert client.files.read(path="/memories/old/notes.md")["text"] == "one\n2\nthree\n"


def test_asyncio_has_the_same(home):
    script = [[CREATE], [{"command": "view", "path": CREATE["path"]}], [{"command": "view"}]]

    async def drive(url: str) -> None:
        tool = AsyncMemoryTool()
        async with anthropic.AsyncAnthropic(api_key="none", base_url=url, max_retries=0) as api:
            runner = api.beta.messages.tool_runner(
                model="claude-sonnet-5-5",
                max_tokens=100,
                messages=[{"role": "user", "content": "go"}],
                tools=[tool],
                thread=False,
            )
            await runner.until_done()
        assert await tool.clear_all_memory() == "All memory cleared"
        await tool.close()

    with ScriptedModel(script) as model:
        asyncio.run(drive(model.url))
        assert [is_error for _, is_error in model.results()] == [False, False, True]
    assert tree(home.path / "herma" / "files" / "default") == {}


def run(model: ScriptedModel, tool) -> None:
    with anthropic.Anthropic(api_key="none", base_url=model.url, max_retries=0) as api:
        runner = api.beta.messages.tool_runner(
            model="claude-sonnet-5-5",
            max_tokens=100,
            messages=[{"role": "user", "content": "go"}],
            tools=[tool],
            thread=False,
        )
        runner.until_done()


def test_two_processes_at_once_lose_nothing(home, client, tool):
    tool.call({**CREATE, "file_text": "begin\n"})
    count = 25
    program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from scripted_model import ScriptedModel
from test_anthropic import CREATE, run
from herma.anthropic import MemoryTool
name = sys.argv[1]
path = CREATE["path"]
script = [
    [{{"command": "insert", "path": path, "insert_line": 1, "insert_text": f"{{name}} {{at}}"}},
     {{"command": "create", "path": f"/memories/{{name}}/{{at}}", "file_text": str(at)}}]
    for at in range({count})
]
with ScriptedModel(script) as model:
    tool = MemoryTool(agent=name)
    run(model, tool)
    tool.close()
    assert not any(is_error for _, is_error in model.results()), model.results()
"""
    names = ("left", "right")
    processes = [subprocess.Popen([sys.executable, "-c", program, name]) for name in names]
    assert [process.wait(120) for process in processes] == [0, 0]
    lines = client.files.read(path=CREATE["path"])["text"].splitlines()
    assert sorted(lines) == sorted(["begin", *(f"{n} {at}" for n in names for at in range(count))])
    listed = client.files.list()
    assert (listed["usage"]["files"], listed["revision"]) == (1 + 2 * count, 1 + 4 * count)


@pytest.mark.parametrize(
    "call",
    [
        None,
        [],
        "view",
        {},
        {"command": None},
        {"command": ["view"]},
        {"command": "view", "path": 7},
        {"command": "view", "path": CREATE["path"], "view_range": "all"},
        {"command": "insert", "path": CREATE["path"], "insert_line": "x", "insert_text": "y"},
        {"command": "create", "path": CREATE["path"], "file_text": None},
        {"command": "create", "path": "/memories/\u202e", "file_text": "x"},
        {"command": "create", "path": "/memories/half\ud83c", "file_text": "\ud83c"},
        {"command": "create", "path": "/memories/half", "file_text": "\ud83c"},
        {"command": "view", "path": "/memories/none", 7: None},
    ],
)
def test_whatever_a_model_gives_is_answered_in_words(tool, call):
    tool.call(CREATE)
    try:
        text, is_error = tool.call(call), False
    except ToolError as error:
        text, is_error = str(error.content), True
    assert is_error or "half" in str(call)
    assert not re.search(r"Error\(|Traceback|object at 0x|\bNone\b", text), text


def test_a_daemon_that_can_t_be_reached_is_told_in_words(home, monkeypatch):
    monkeypatch.setenv("HERMAD", "/nonexistent/hermad")
    with pytest.raises(ToolError) as failed:
        MemoryTool(herma.Client(start=False)).call(CREATE)
    assert str(failed.value.content) == (
        "The memory can't be used: the program that keeps it can't be reached. "
        "If need be, go on without it."
    )
    assert str(home.path) not in str(failed.value.content)


def test_a_killed_daemon_is_started_again_and_files_are_per_profile(home, client):
    tool = MemoryTool(client)
    tool.call(CREATE)
    home.kill()
    assert "one" in tool.call({"command": "view", "path": CREATE["path"]})
    client.profile.create(name="work")
    work = MemoryTool(client, profile="work")
    with pytest.raises(ToolError):
        work.call({"command": "view", "path": CREATE["path"]})
    work.call(CREATE)
    assert tool.clear_all_memory() == "All memory cleared"
    assert "one" in work.call({"command": "view", "path": CREATE["path"]})
