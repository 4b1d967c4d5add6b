"""Asks a running daemon for its name: ten lines, any language.

    python3 examples/programs/ping.py [SOCKET]
"""

import json
import os
import socket
import sys

home = os.environ.get("HERMA_HOME") or os.environ.get("HERMES_HOME") or os.path.expanduser("~/.hermes")
path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(home, "herma", "hermad.sock")
with socket.socket(socket.AF_UNIX) as herma:
    herma.connect(path)
    herma.sendall(b'{"jsonrpc":"2.0","id":1,"method":"hello","params":{}}\n')
    answer = json.loads(herma.makefile().readline())
print(answer["result"]["server"], "serves", answer["result"]["home"])
