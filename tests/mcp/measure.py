"""How long calls take: through `herma mcp`, and as bare JSON lines on the daemon's socket.

Each pair is measured in turn. The daemon runs already. Times are medians of raw lines,
without a client library.
"""

import itertools
import json
import os
import socket
import statistics
import subprocess
import time

from home import Home

ROUNDS = 1000
WARM = 100
STARTS = 50

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "measure", "version": "1"},
}


class Lines:
    """JSON-RPC, one object a line."""

    def __init__(self, read, write):
        self.read, self.write, self.ids = read, write, itertools.count(1)

    def call(self, method, params):
        id = next(self.ids)
        line = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        self.write.write(line.encode() + b"\n")
        self.write.flush()
        while True:
            reply = json.loads(self.read.readline())
            if reply.get("id") == id:
                assert "error" not in reply, reply
                return reply["result"]


def start(home):
    errors = subprocess.DEVNULL
    return subprocess.Popen(
        ["herma", "mcp"], env=home.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
    )


def took(work):
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1e6


def starts(home):
    """Microseconds from the start of the process to the answers of `initialize` and of `tools/list`."""
    first, second = [], []
    for _ in range(STARTS):
        started = time.perf_counter()
        process = start(home)
        lines = Lines(process.stdout, process.stdin)
        lines.call("initialize", INITIALIZE)
        first.append((time.perf_counter() - started) * 1e6)
        lines.call("tools/list", {})
        second.append((time.perf_counter() - started) * 1e6)
        process.stdin.close()
        process.wait()
    return statistics.median(first), statistics.median(second)


def main():
    with Home() as home:
        home.herma("ping")
        process = start(home)
        mcp = Lines(process.stdout, process.stdin)
        mcp.call("initialize", INITIALIZE)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(os.path.join(home.path, "herma/hermad.sock"))
            file = connection.makefile("rwb")
            bare = Lines(file, file)
            text = "".join(f"line {line} of many\n" for line in range(20_000))
            session = {"session": "m", "tool": "t", "id": "c"}
            handle = bare.call("output.admit", {**session, "content": text})["handle"]
            page = {"handle": handle, "line": 10_000, "lines": 50}
            full = {"action": "remove", "target": "user", "old_text": "nothing like it"}
            pairs = [
                ("a page of an output", "output_read", page, "output.read", page),
                ("a search", "recall_search", {"query": "nothing"}, "recall.search", {"query": "nothing"}),
                ("a refused write", "memory", full, "memory.tool", {"arguments": full}),
            ]
            print(f"{'p50, µs':<22}{'mcp':>8}{'bare':>8}{'ratio':>8}")
            for name, tool, arguments, method, params in pairs:
                through = lambda: mcp.call("tools/call", {"name": tool, "arguments": arguments})
                direct = lambda: bare.call(method, params)
                both = [(took(through), took(direct)) for _ in range(WARM + ROUNDS)][WARM:]
                there, here = (statistics.median(times) for times in zip(*both))
                print(f"{name:<22}{there:>8.0f}{here:>8.0f}{there / here:>8.1f}")
            through = lambda: mcp.call("ping", {})
            direct = lambda: bare.call("ping", {})
            both = [(took(through), took(direct)) for _ in range(WARM + ROUNDS)][WARM:]
            there, here = (statistics.median(times) for times in zip(*both))
            print(f"{'ping (no daemon)':<22}{there:>8.0f}{here:>8.0f}{there / here:>8.1f}")
        process.stdin.close()
        process.wait()
        floor = statistics.median(took(lambda: subprocess.run(["/bin/true"])) for _ in range(STARTS))
        first, second = starts(home)
        print(f"start to the first answer {first / 1000:.1f} ms, to the tools {second / 1000:.1f} ms")
        print(f"(/bin/true {floor / 1000:.1f} ms)")


main()
