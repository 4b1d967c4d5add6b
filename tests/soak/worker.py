"""One of the processes of the soak, in Python: `worker.py KIND NAME SEED HOME OUT`.

The same kinds as in `worker.rs`, and `hermes`, which writes MEMORY.md as Hermes does: under its lock,
with a temporary file that is renamed. The package `herma` must be importable.
"""

import fcntl
import hashlib
import json
import os
import random
import sys
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Any

import herma

KIND, NAME, SEED, HOME, OUT = sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]), Path(sys.argv[5])
LEDGER = OUT / "ledgers" / f"{NAME}.jsonl"
FOR_GOOD = ("not_found", "conflict", "invalid_params", "invalid_request")
# Calls without an answer that may still take effect.
LATE = 10

# It does not outlive who started it.
parent = os.getppid()
chance = random.Random(SEED)
file = os.open(LEDGER, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
client = herma.Client(home=HOME, start=False, timeout=40)


class Stopped(Exception):
    """The soak is over."""


def note(kind: str, what: Any) -> None:
    os.write(file, (json.dumps({kind: what}) + "\n").encode())


def lines() -> list[tuple[str, Any]]:
    found = []
    for line in LEDGER.read_text(errors="replace").splitlines():
        try:
            found += json.loads(line).items()
        except ValueError:
            pass
    return found


def go_on() -> None:
    if (OUT / "stop").exists() or os.getppid() != parent:
        raise Stopped


def pace() -> None:
    go_on()
    time.sleep(chance.random() * 0.03)


def until(method: str, **params: Any) -> Any:
    """Calls until there is an answer other than that it can't be done now."""
    while True:
        go_on()
        try:
            return client.call(method, **params)
        except herma.HermaError as error:
            note("error", error.kind)
            if error.kind in FOR_GOOD:
                raise
        time.sleep(0.1)


class Model:
    """What the store must hold of one writer."""

    def __init__(self) -> None:
        self.own: set[str] = set()
        self.open: list[dict[str, list[str]]] = []
        for kind, what in lines():
            if kind == "try":
                self.begin(what)
            elif kind == "done":
                self.open.pop() if self.open else None
                self.own = set(what)
            elif kind == "seen":
                self.own = set(what)

    def begin(self, change: dict[str, list[str]]) -> None:
        self.open = [*self.open, change][-LATE:]

    def compare(self, entries: list[str]) -> None:
        found = {entry for entry in entries if entry.startswith(f"{NAME}:")}
        taken = {text for change in self.open for text in change["remove"]}
        put = {text for change in self.open for text in change["add"]}
        missing, extra = self.own - found - taken, found - self.own - put
        if missing or extra:
            note("loss", f"missing {sorted(missing)}, too many {sorted(extra)}")
        self.own = found

    def change(self) -> dict[str, list[str]]:
        present = sorted(self.own)
        new = f"{NAME}: note {chance.getrandbits(40):x} of what was learnt"
        choices = [1, 2] if len(present) >= 3 else [0, 1, 2]
        choice = 0 if not present else chance.choice(choices)
        return {
            "add": [new] if choice < 2 else [],
            "remove": [chance.choice(present)] if choice > 0 else [],
        }

    def done(self, change: dict[str, list[str]]) -> None:
        self.open.pop()
        self.own = (self.own - set(change["remove"])) | set(change["add"])
        note("done", sorted(self.own))


def memory() -> None:
    model = Model()

    def look() -> None:
        model.compare(until("memory.list", target="memory", raw=True)["memory"]["entries"])
        note("seen", sorted(model.own))

    look()
    while True:
        change = model.change()
        note("try", change)
        model.begin(change)
        new, old = "".join(change["add"]), "".join(change["remove"])
        try:
            if new and old:
                result = client.call("memory.replace", target="memory", old_text=old, content=new)
            elif new:
                result = client.call("memory.add", target="memory", content=new)
            else:
                result = client.call("memory.remove", target="memory", old_text=old)
        except herma.HermaError as error:
            note("error", error.kind)
            look()
        else:
            if result["success"]:
                model.done(change)
                model.compare(result["entries"])
            else:
                model.done({"add": [], "remove": []})
                note("error", "refused")
        pace()


def hermes() -> None:
    """Writes the file as Hermes does."""
    path = HOME / "memories" / "MEMORY.md"

    def entries() -> list[str]:
        text = path.read_text() if path.exists() else ""
        return [piece.strip() for piece in text.split("\n§\n") if piece.strip()]

    model = Model()
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(f"{path}.lock", "a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                present = entries()
                model.compare(present)
                note("seen", sorted(model.own))
                change = model.change()
                note("try", change)
                model.begin(change)
                after = [entry for entry in present if entry not in change["remove"]] + change["add"]
                handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".mem_", suffix=".tmp")
                try:
                    with os.fdopen(handle, "w") as out:
                        out.write("\n§\n".join(after))
                        out.flush()
                        os.fsync(out.fileno())
                    os.replace(temporary, path)
                except BaseException:
                    Path(temporary).unlink(missing_ok=True)
                    raise
                model.done(change)
        except OSError as error:
            note("error", f"file: {error.strerror}")
        pace()
        time.sleep(0.2)


def sessions() -> None:
    number = sum(kind == "opened" for kind, _ in lines())
    while True:
        number += 1
        try:
            session(f"{NAME}-{number}")
        except herma.HermaError as error:
            note("loss", f"{NAME}-{number}: {error}")


def opened(session: str) -> str:
    sha256 = until("session.open", session=session, agent=NAME, context_length=64_000)["snapshot"]["sha256"]
    note("opened", {"session": session, "sha256": sha256})
    return str(sha256)


def session(session: str) -> None:
    sha256 = opened(session)
    generation = position = turn = 0
    rounds = chance.randrange(4)
    for at in range(rounds + 1):
        for _ in range(chance.randrange(40)):
            turn += 1
            texts = [f"{session} asks {turn}: " + "look there. " * chance.randrange(25), f"{session} answers {turn}: " + "it was so. " * chance.randrange(200)]
            messages = [{"role": role, "content": text} for role, text in zip(("user", "assistant"), texts)]
            until("session.append", session=session, generation=generation, position=position, messages=messages)
            note("said", {"session": session, "texts": texts})
            position += 2
            pace()
        if (again := opened(session)) != sha256:
            note("loss", f"the snapshot of {session} was {sha256} and is {again}")
        if at == rounds:
            break
        try:
            position = len(client.call("context.compress", session=session, force=True)["messages"])
        except herma.HermaError as error:
            # Whether it was done is not known, nor the list that came of it.
            note("error", error.kind)
            return
        generation = until("session.show", session=session)["generation"]
        note("compressed", session)
    if chance.random() < 0.7:
        until("session.close", session=session)
        note("closed", session)


def outputs() -> None:
    kept: deque[dict[str, str]] = deque()
    for kind, what in lines():
        if kind == "kept":
            kept.append(what)
        elif kind == "removing":
            kept = deque(one for one in kept if one["handle"] != what)
    while True:
        try:
            if len(kept) < 20:
                name = f"{chance.getrandbits(64):x}"
                text = f"{NAME} said {name}\n" * chance.randrange(100, 4_000)
                params = {"session": f"{NAME}-outputs", "tool": "terminal", "id": name, "content": text, "threshold": 0}
                result = client.call("output.admit", **params)
                if handle := result.get("handle"):
                    kept.append({"handle": handle, "sha256": hashlib.sha256(text.encode()).hexdigest()})
                    note("kept", kept[-1])
            else:
                gone = kept.popleft()["handle"]
                note("removing", gone)
                client.call("output.remove", handle=gone)
                note("removed", gone)
            if kept:
                one, text, offset = chance.choice(kept), "", 0
                while offset is not None:
                    page = client.call("output.read", handle=one["handle"], offset=offset, limit=1_000_000)
                    text, offset = text + page["text"], (page["next"] or {}).get("offset")
                if hashlib.sha256(text.encode()).hexdigest() != one["sha256"]:
                    note("loss", f"{one['handle']} has another text")
                note("read", one["handle"])
        except herma.HermaError as error:
            note("error", error.kind)
            if error.kind == "not_found":
                note("loss", f"an output is gone: {error}")
        pace()


try:
    {"memory": memory, "hermes": hermes, "session": sessions, "output": outputs}[KIND]()
except Stopped:
    pass
