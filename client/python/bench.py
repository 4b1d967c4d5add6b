"""How long a call takes from Python, beside a bare socket echo in Python.

    HERMAD=target/release/hermad python3 client/python/bench.py

Both send one JSON line and read one back; the echo's server does nothing with it. They are
measured in turn, round by round; printed is the round with the median ratio.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

import herma

CALLS = 2_000
ROUNDS = 9


def echo(path: str) -> int:
    """A process that sends every line back; its pid."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    pid = os.fork()
    if pid == 0:
        connection, _ = listener.accept()
        for line in connection.makefile("rb"):
            connection.sendall(line)
        os._exit(0)
    return pid


def median(call: Callable[[], object]) -> float:
    """Microseconds of a call: half of them take longer."""
    times = []
    for _ in range(CALLS):
        started = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - started)
    return statistics.median(times) / 1_000


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hb") as home:
        pid = echo(f"{home}/echo")
        bare = socket.socket(socket.AF_UNIX)
        bare.connect(f"{home}/echo")
        lines = bare.makefile("rb")
        request = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}

        def floor() -> object:
            bare.sendall(json.dumps(request).encode() + b"\n")
            return json.loads(lines.readline())

        with herma.Client(home=home) as client:
            client.ping()
            rounds = [(median(floor), median(client.ping)) for _ in range(ROUNDS)]
            client.shutdown()
        bare.close()
        lines.close()
        os.waitpid(pid, 0)
    floor_us, herma_us = sorted(rounds, key=lambda pair: pair[1] / pair[0])[ROUNDS // 2]
    print(f"echo {floor_us:.1f} us, ping {herma_us:.1f} us, {herma_us / floor_us:.2f}x")


if __name__ == "__main__":
    main()
