"""How long the commands of the memory tool take, beside the SDK's own tool on the same disk.

    HERMAD=target/release/hermad python client/python/bench_anthropic.py

Both do the same commands in turn, round by round; needs the SDK (`pip install 'anthropic>=2'`).
The SDK's tool syncs the file that it writes, not its folder, and keeps no history.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

import herma
from herma.anthropic import MemoryTool

ROUNDS = 200
FILES = 50
TEXT = "a line of what a model keeps for itself\n" * 25


def timed(tool, call: dict) -> float:
    """Milliseconds that a command takes."""
    began = time.perf_counter()
    tool.call(call)
    return (time.perf_counter() - began) * 1000


def main() -> None:
    """Measures and prints."""
    home = {"prefix": "h", "dir": "/var/tmp", "ignore_cleanup_errors": True}
    with tempfile.TemporaryDirectory(**home) as folder:
        client = herma.Client(home=Path(folder) / "home")
        tools = {"herma": MemoryTool(client), "SDK": BetaLocalFilesystemMemoryTool(f"{folder}/sdk")}
        for tool in tools.values():
            for at in range(FILES):
                tool.call({"command": "create", "path": f"/memories/n/{at}.md", "file_text": TEXT})
        times: dict[tuple[str, str], list[float]] = {}
        for at in range(ROUNDS):
            path = f"/memories/new {at}.md"
            for call in (
                {"command": "view", "path": "/memories"},
                {"command": "create", "path": path, "file_text": f"begin\n{TEXT}"},
                {"command": "view", "path": path},
                {"command": "str_replace", "path": path, "old_str": "begin", "new_str": "began"},
                {"command": "insert", "path": path, "insert_line": 3, "insert_text": "between"},
                {"command": "rename", "old_path": path, "new_path": f"{path}.old"},
                {"command": "delete", "path": f"{path}.old"},
            ):
                what = "view a folder" if call.get("path") == "/memories" else call["command"]
                for name, tool in tools.items():
                    times.setdefault((what, name), []).append(timed(tool, call))
        client.shutdown()
        while Path(folder, "home", "herma", "hermad.sock").exists():
            time.sleep(0.01)
    print(f"{'milliseconds':16}{'herma p50':>10}{'p99':>8}{'SDK p50':>10}{'p99':>8}")
    for what in dict.fromkeys(what for what, _ in times):
        row = ""
        for name in tools:
            cuts = statistics.quantiles(times[what, name], n=100)
            row += f"{cuts[49]:>10.2f}{cuts[98]:>8.2f}"
        print(f"{what:16}{row}")


if __name__ == "__main__":
    main()
