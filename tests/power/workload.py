"""What a few agents ask for at the same time, and what has to hold of it after any cut."""

import hashlib
import json
import random
import socket
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class Failed(Exception):
    """The daemon says no."""


class Client:
    """JSON lines on a socket of one's own."""

    def __init__(self, path: Path, first: int = 1) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile("rb")
        self.number = first

    def call(self, method: str, **params: Any) -> Json:
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.socket.sendall((json.dumps(request) + "\n").encode())
        line = self.lines.readline()
        if not line:
            raise Failed("the connection broke")
        answer = json.loads(line)
        if "error" in answer:
            raise Failed(f"{method}: {answer['error']['message']}")
        return dict(answer["result"])


@dataclass
class Step:
    """A request, and what has to hold once it was answered."""

    number: int
    state: Any
    answered: bool = False


@dataclass
class Actor:
    """One after the other; what was answered is a beginning of its steps."""

    kind: str
    steps: list[Step] = field(default_factory=list)

    def states(self, answered: set[int]) -> tuple[Any, Any]:
        """What held after the last answer, and after the request that may have been under way."""
        count = 0
        while count < len(self.steps) and self.steps[count].number in answered:
            count += 1
        before = self.steps[count - 1].state if count else None
        return before, self.steps[min(count, len(self.steps) - 1)].state


def run(path: Path, rounds: int, tolerant: bool = False) -> list[Actor]:
    """Asks with several clients at once. With `tolerant` a refusal ends a client, and is kept out."""
    actors = []
    threads = []
    for at, (kind, work) in enumerate([("memory", memory), ("memory", memory), ("user", user), ("session", session), ("output", output)]):
        actor = Actor(kind)
        client = Client(path, first=(at + 1) * 100_000)

        def go(actor: Actor = actor, client: Client = client, at: int = at, work: Any = work) -> None:
            try:
                work(client, actor, at, rounds)
            except (Failed, OSError):
                if not tolerant:
                    raise

        threads.append(threading.Thread(target=go))
        actors.append(actor)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return actors


def memory(client: Client, actor: Actor, at: int, rounds: int) -> None:
    chance, own = random.Random(at), [f"w{at}: begin"]
    ask(client, actor, list(own), "memory.add", target="memory", content=own[0])
    for number in range(rounds):
        new = f"w{at}: {number} was learnt"
        match chance.randrange(4) if 1 < len(own) < 4 else (0 if len(own) < 2 else 2):
            case 0:
                own = [*own, new]
                ask(client, actor, list(own), "memory.add", target="memory", content=new)
            case 1:
                old, own = own[0], [new, *own[1:]]
                ask(client, actor, list(own), "memory.replace", target="memory", old_text=old, content=new)
            case 2:
                old, own = own[0], own[1:]
                ask(client, actor, list(own), "memory.remove", target="memory", old_text=old)
            case _:
                operations = [{"action": "remove", "old_text": own[0]}, {"action": "add", "content": new}]
                own = [*own[1:], new]
                ask(client, actor, list(own), "memory.batch", target="memory", operations=operations)


def ask(client: Client, actor: Actor, state: Any, method: str, **params: Any) -> Json:
    step = Step(client.number + 1, state)
    actor.steps.append(step)
    result = client.call(method, **params)
    if result.get("success") is False:
        raise Failed(result.get("error"))
    step.answered = True
    return result


def user(client: Client, actor: Actor, at: int, rounds: int) -> None:
    texts = [[]]
    for number in range(rounds // 2):
        if number % 5 == 4:
            texts.append(texts[-2])
            ask(client, actor, texts[-1], "memory.undo", target="user")
        else:
            texts.append([*texts[-1][-3:], f"u{at}: {number}"])
            operations = [{"action": "remove", "old_text": old} for old in texts[-2] if old not in texts[-1]]
            operations.append({"action": "add", "content": texts[-1][-1]})
            ask(client, actor, texts[-1], "memory.batch", target="user", operations=operations)


def session(client: Client, actor: Actor, at: int, rounds: int) -> None:
    # `own` is what was said behind the list that a compression gave, whose bytes are the daemon's.
    state: Json = {"session": f"s{at}", "generation": 0, "given": 0, "own": [], "sha256": None, "compressions": 0}
    opened = ask(client, actor, dict(state), "session.open", session=state["session"], context_length=64_000)
    state["sha256"] = opened["snapshot"]["sha256"]
    for number in range(rounds):
        said = [{"role": role, "content": f"{role} {number} " + "so it was. " * 30} for role in ("user", "assistant")]
        params = {"session": state["session"], "generation": state["generation"], "position": state["given"] + len(state["own"])}
        state = {**state, "own": [*state["own"], *said]}
        ask(client, actor, state, "session.append", messages=said, **params)
        if number % 12 == 11:
            state = {**state, "generation": state["generation"] + 1, "compressions": state["compressions"] + 1}
            step = len(actor.steps)
            done = ask(client, actor, None, "context.compress", session=state["session"], force=True)
            state = {**state, "given": len(done["messages"]), "own": []}
            actor.steps[step].state = state


def output(client: Client, actor: Actor, at: int, rounds: int) -> None:
    kept: dict[str, str] = {}
    for number in range(rounds):
        if len(kept) > 3:
            gone = next(iter(kept))
            kept = {handle: sha for handle, sha in kept.items() if handle != gone}
            ask(client, actor, dict(kept), "output.remove", handle=gone)
        text = f"line {number}\n" * (50 + number * 7)
        step = len(actor.steps)
        params = {"session": "o", "tool": "t", "id": f"c{number}", "content": text, "threshold": 0}
        done = ask(client, actor, dict(kept), "output.admit", **params)
        if not done.get("handle"):
            raise Failed("it was not kept")
        kept = {**kept, done["handle"]: hashlib.sha256(text.encode()).hexdigest()}
        actor.steps[step].state = dict(kept)


def check(path: Path, actors: list[Actor], answered: set[int], torn: bool = False) -> list[str]:
    """What a daemon that was started after the cut does not have. Where a write may be `torn` the last
    line of a journal may be damaged; nobody was told of it."""
    client, wrong = Client(path), []
    listed = client.call("memory.list", raw=True)
    for at, actor in enumerate(actors):
        before, after = actor.states(answered)
        match actor.kind:
            case "memory":
                own = [entry for entry in listed["memory"]["entries"] if entry.startswith(f"w{at}:")]
                if sorted(own) not in [sorted(before or []), sorted(after or [])]:
                    wrong.append(f"w{at} has {own}, and not {before} or {after}")
            case "user":
                if listed["user"]["entries"] not in [before or [], after or []]:
                    wrong.append(f"user has {listed['user']['entries']}, and not {before} or {after}")
            case "output":
                for handle, sha in (before or {}).items():
                    if after is not None and handle not in after:
                        continue
                    try:
                        text = client.call("output.read", handle=handle, offset=0, limit=1_000_000)["text"]
                    except Failed as error:
                        wrong.append(str(error))
                        continue
                    if hashlib.sha256(text.encode()).hexdigest() != sha:
                        wrong.append(f"{handle} has another text")
            case "session" if before:
                wrong += check_session(client, before, after)
    for target in ("memory", "user"):
        damaged = client.call("memory.log", target=target)["damaged"]
        if damaged > int(torn):
            wrong.append(f"{damaged} lines of the journal of {target} are damaged")
    return wrong


def check_session(client: Client, before: Json, after: Json | None) -> list[str]:
    session, wrong = before["session"], []
    opened = client.call("session.open", session=session)
    if not opened["resumed"] or before["sha256"] not in (None, opened["snapshot"]["sha256"]):
        wrong.append(f"the snapshot of {session} is another one")
    generations = [state["generation"] for state in (before, after) if state]
    if opened["generation"] not in generations:
        return [*wrong, f"{session} is at generation {opened['generation']}, not {generations}"]
    state = before if opened["generation"] == before["generation"] else after
    try:
        if state and state["own"]:
            place = {"session": session, "generation": state["generation"], "position": state["given"]}
            client.call("session.append", messages=state["own"], **place)
    except Failed as error:
        wrong.append(str(error))
    compressions = client.call("recall.describe", session=session)["compressions"]
    if len(compressions) < before["compressions"]:
        wrong.append(f"{session} has {len(compressions)} compressions, not {before['compressions']}")
    for one in compressions:
        if not client.call("recall.expand", handle=one["handle"])["items"]:
            wrong.append(f"{one['handle']} is empty")
    return wrong
