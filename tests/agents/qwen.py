"""Qwen Code without a terminal."""

from __future__ import annotations

import json
import os
from pathlib import Path

from streamed import Streamed

SETTINGS = {"memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False, "enableAutoSkill": False}}
"""What keeps it from requests that no turn needs."""


class Qwen(Streamed):
    """A process of the client, in a home of its own."""

    def __init__(self, home: Path, folder: Path, url: str, *arguments: str, **environment: str) -> None:
        settings = home / ".qwen" / "settings.json"
        if not settings.exists():
            settings.parent.mkdir(parents=True, exist_ok=True)
            settings.write_text(json.dumps(SETTINGS))
        command = ["qwen", "--auth-type", "openai", "--approval-mode", "yolo"]
        command += ["--output-format", "stream-json", "--input-format", "stream-json", *arguments]
        super().__init__(command, folder, home / "stderr.log", qwen_environment(home, url, **environment))

    def __enter__(self) -> "Qwen":
        return self


def qwen_environment(home: Path, url: str, **more: str) -> dict[str, str]:
    """What a process of it is started with: nothing of this machine, and no other endpoint than ours."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "OPENAI_API_KEY": "no-key-at-all",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_MODEL": "scripted",
        "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
        **more,
    }
