"""A socket before the daemon's that can cut a connection at a chosen moment."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from pathlib import Path


class Relay:
    """Passes lines on, both ways.

    ``cut(method, then)`` lets the next call of that method reach the daemon, waits
    for its answer, does ``then``, and hangs up instead of passing the answer on.
    """

    def __init__(self, path: Path, daemon: Path) -> None:
        self.path = path
        self.calls: list[dict] = []
        self._daemon = daemon
        self._cuts: dict[str, object] = {}
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, method: str, then=lambda: None) -> None:
        self._cuts[method] = then

    def keys(self, method: str) -> list[str]:
        """The idempotency keys that the calls of a method carried."""
        sent = (call["params"] for call in self.calls if call["method"] == method)
        return [params.get("idempotency_key") for params in sent]

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        daemon = socket.socket(socket.AF_UNIX)
        files = client.makefile("rb"), daemon.makefile("rb")
        with client, daemon, files[0] as asked, files[1] as said, suppress(OSError):
            daemon.connect(str(self._daemon))
            for line in asked:
                call = json.loads(line)
                self.calls.append(call)
                daemon.sendall(line)
                answer = said.readline()
                then = self._cuts.pop(call["method"], None)
                if then is not None:
                    then()
                    return
                client.sendall(answer)
