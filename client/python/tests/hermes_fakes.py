"""What stands around an engine in its tests: odd daemons, and agents of a host."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from pathlib import Path

WINDOW = 64_000
OVER = 60_000
"""Tokens over the threshold of that window."""

HELLO = {"pid": 1, "version": "0.0.0", "limits": {"frame": 1 << 24}}


class OddDaemon:
    """Listens where a daemon should, and answers each line with what ``says`` makes of it.

    ``says`` gets the request, and gives bytes; ``None`` hangs up.
    """

    def __init__(self, path: Path, says) -> None:
        path.parent.mkdir(exist_ok=True)
        self._says = says
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, client.makefile("rb") as lines, suppress(OSError, ValueError):
            for line in lines:
                said = self._says(json.loads(line))
                if said is None:
                    return
                client.sendall(said)


def line(request: dict, **answer) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}).encode() + b"\n"


def greets(then):
    """A daemon that says hello as it should, and to all else what ``then`` makes of it."""

    def says(request):
        if request["method"] == "hello":
            return line(request, result=HELLO)
        return then(request)

    return says


def gives(result):
    return greets(lambda request: line(request, result=result))


ERROR = {"code": -32603, "message": "a fault", "data": {"kind": "internal"}}

FULL = {"code": -32008, "message": "the disk is full", "data": {"kind": "storage_full"}}

ODD = {
    "a full disk": greets(lambda request: line(request, error=FULL)),
    "nonsense": lambda request: b"\x00\xff not json\n",
    "a number": lambda request: b"7\n",
    "hangs up": lambda request: None,
    "an odd hello": lambda request: line(request, result={"pid": [], "limits": 3}),
    "errors": greets(lambda request: line(request, error=ERROR)),
    "an odd error": greets(lambda request: line(request, error={"data": 3, "message": None})),
    "neither result nor error": greets(line),
    "nonsense after hello": greets(lambda request: b"{]\n"),
    "hangs up after hello": greets(lambda request: None),
    "null": gives(None),
    "a list": gives([]),
    "an empty object": gives({}),
    "a text": gives("text"),
    "a number as result": gives(7),
    "nulls": gives(dict.fromkeys(("generation", "report", "edits", "compress", "reason"))),
}


class Agent:
    """An agent of a host: it warns its user, and calls its engine out of its own methods."""

    def __init__(self, session_id: str, engine=None) -> None:
        self.session_id = session_id
        self.context_compressor = engine
        self.warned: list[str] = []

    def _emit_warning(self, message: str) -> None:
        self.warned.append(message)

    def begins(self, **about) -> None:
        self.context_compressor.update_model("m", WINDOW)
        self.context_compressor.on_session_start(self.session_id, **about)

    def calls(self, method: str, *args, **named):
        return getattr(self.context_compressor, method)(*args, **named)

    def runs(self, function, *args, **named):
        """Calls something out of this agent's own code."""
        return function(*args, **named)


def said(marker: str, turns: int, words: int = 150) -> list[dict]:
    """A conversation of which each message has the marker and a number of its own."""
    roles = ("user", "assistant")
    return [
        {"role": roles[at % 2], "content": f"{marker}x{at} " + "lorem ipsum " * words}
        for at in range(turns)
    ]


def found(client, query: str, session: str) -> list[dict]:
    """What the archive of a session, and of those beside it, has for a query."""
    hits = client.recall.search(query=query, limit=100)["hits"]
    return [hit for hit in hits if hit["session"].split("~")[0] == session]
