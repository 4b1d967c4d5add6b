"""What cases share: commands, requests, and the verdict."""

import json
import os
import socket
import subprocess
import sys
import time

HOME, U, HERE = os.environ["HERMA_HOME"], os.environ["HOME"], os.environ["HERE"]
_streams = []


def herma(*arguments, stdin=None, env=None):
    """Runs a command."""
    return subprocess.run(
        ["herma", *arguments], input=stdin, capture_output=True, text=True, env={**os.environ, **(env or {})}, timeout=120
    )


def rpc(method, **params):
    """Sends a request; returns the result, or the error as ``error_``."""
    if not _streams:
        herma("status")
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(HOME + "/herma/hermad.sock")
        connection.settimeout(120)
        _streams.append(connection.makefile("rwb"))
    stream = _streams[0]
    stream.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
    stream.flush()
    reply = json.loads(stream.readline())
    return reply["result"] if "result" in reply else {"error_": reply["error"]}


def found(words, **params):
    """Returns the hits of a search, as soon as there are any."""
    for _ in range(20):
        hits = rpc("recall.search", query=words, **params).get("hits", [])
        if hits:
            return hits
        time.sleep(0.1)
    return []


def verdict(is_right, line):
    """Prints the line and ends the case."""
    print(("right: " if is_right else "WRONG: ") + line)
    sys.exit(0 if is_right else 1)
