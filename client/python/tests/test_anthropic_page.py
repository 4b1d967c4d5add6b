"""docs/anthropic.md, followed word by word: its program against a scripted model, then its commands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("anthropic", reason="needs pypi")

from conftest import REPOSITORY, hermad  # noqa: E402
from scripted_model import ScriptedModel  # noqa: E402

PAGE = REPOSITORY / "docs" / "anthropic.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_page_is_true(home, monkeypatch, capfd):
    programs = Path(hermad()).parent
    if not (programs / "herma").is_file():
        pytest.skip("needs herma beside hermad")
    script = [
        [{"command": "view", "path": "/memories"}],
        [{"command": "create", "path": "/memories/notes.md", "file_text": "Releases: Tuesdays.\n"}],
        [{"command": "insert", "path": "/memories/notes.md", "insert_line": 1, "insert_text": "x"}],
    ]
    (program,) = blocks("python")
    with ScriptedModel(script) as model:
        # The page speaks of Anthropic's own endpoint, which keeps the conversation.
        program = program.replace("tools=[MemoryTool()],", "tools=[MemoryTool()], thread=False,")
        environment = {**os.environ, "ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": model.url}
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, "Done.\n"), done.stderr
        assert [is_error for _, is_error in model.results()] == [False] * 3
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    install, commands = blocks("sh")
    assert "client/python[anthropic]" in install
    root = home.path / "herma" / "files" / "default"
    for line in commands.splitlines():
        subprocess.run(["sh", "-euc", line], check=True)
        if "undo" in line:
            assert (root / "notes.md").read_text() == "Releases: Tuesdays.\n"
    told = capfd.readouterr().out
    assert "/memories/notes.md" in told and "+x" in told
    assert shutil.which("herma") is not None
