"""Oh My Pi without a terminal: one process that gets its commands in JSON lines, as pi does."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pi import Pi


class Omp(Pi):
    """A process of the client, in a home of its own."""

    def begin(self, home: Path, url: str, arguments: tuple[str, ...], environment: dict[str, str]) -> tuple[list[str], dict[str, str]]:
        """Its command and its environment. Tools of MCP servers are ordinary ones."""
        configure(home, url)
        command = ["omp", "--mode", "rpc", "--model", "fake/scripted", "--no-title", "--auto-approve", *arguments]
        return command, {"PATH": os.environ["PATH"], "HOME": str(home), **environment}

    def take(self, event: dict[str, Any] | None) -> None:
        """Notes an answer, or the end of a turn."""
        super().take(event)
        if event and event.get("type") == "agent_end" and not event.get("willContinue"):
            self.settle(event)


def configure(home: Path, url: str) -> None:
    """Names the scripted model, with a window of 100,000 tokens."""
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    model = {"id": "scripted", "name": "scripted", "contextWindow": 100_000, "maxTokens": 4_000, "reasoning": False, "input": ["text"], "cost": cost}
    provider = {"baseUrl": f"{url}/v1", "apiKey": "no-key-at-all", "api": "openai-completions", "models": [model]}
    folder = home / ".omp" / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    # JSON is YAML.
    (folder / "models.yml").write_text(json.dumps({"providers": {"fake": provider}}))
    (folder / "config.yml").write_text(json.dumps({"compaction": {"keepRecentTokens": 100}}))
