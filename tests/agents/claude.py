"""Claude Code without a terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from streamed import Streamed


class Claude(Streamed):
    """A process of the client, in a home of its own."""

    def __init__(self, program: str, home: Path, folder: Path, url: str, *arguments: str, **environment: str) -> None:
        home.mkdir(parents=True, exist_ok=True)
        command = [program, "-p", "--verbose", "--output-format", "stream-json", "--input-format", "stream-json"]
        command += ["--debug-file", str(home / "debug.log"), *arguments]
        super().__init__(command, folder, home / "stderr.log", claude_environment(home, url, **environment))

    def __enter__(self) -> "Claude":
        return self

    def compactions(self) -> list[dict[str, Any]]:
        """The boundaries that compactions made."""
        return [event for event in self.events if event.get("subtype") == "compact_boundary"]


def claude_environment(home: Path, url: str, **more: str) -> dict[str, str]:
    """What a process of it is started with: nothing of this machine, and no other endpoint than ours."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-ant-no-key-at-all",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        **more,
    }
