"""A session that agents take from host to host while everything breaks: whatever was acknowledged is in it, or in one that
parted from it, once; and no two hosts have it at one time."""

import contextlib
import json
import sqlite3
import threading
import time

from parts import Connection

PREFIX = "trip-"
"""How sessions are called."""


class Traveller(threading.Thread):
    """An agent that opens the session on one host after the other, says something there, compresses now and then, and closes it."""

    def __init__(self, hosts, random_, until, said, session):
        super().__init__(daemon=True)
        self.hosts, self.random, self.until, self.said, self.session = hosts, random_, until, said, session
        self.counts = {"moved": 0, "said": 0, "compressed": 0, "refused": 0}
        self.count = 0

    def run(self):
        while time.monotonic() < self.until:
            host = self.random.choice(self.hosts)
            try:
                self.visit(host, Connection(host.home))
            except (OSError, ValueError):
                # It was killed; what was in doubt is not said of anything.
                time.sleep(0.02)

    def visit(self, host, connection):
        opened = ask(connection, "session.open", session=self.session, context_length=8192)
        if "error" in opened:
            self.counts["refused"] += 1
            time.sleep(0.02)
            return
        self.counts["moved"] += "moved_from" in opened["result"]
        generation, position = opened["result"]["generation"], 0
        for _ in range(self.random.randrange(1, 8)):
            texts = [self.text(host) for _ in range(self.random.randrange(1, 4))]
            for _ in range(3):
                answer = ask(connection, "session.append", session=self.session, generation=generation, position=position,
                             messages=[{"role": "user", "content": text} for text in texts])
                if "result" in answer:
                    self.said.update(texts)
                    self.counts["said"] += len(texts)
                    position = answer["result"]["position"]
                    break
                place = answer["error"].get("data", {})
                if "position" not in place:
                    return
                generation, position = place["generation"], place["position"]
            if self.random.random() < 0.1:
                done = ask(connection, "context.compress", session=self.session, force=True).get("result")
                self.counts["compressed"] += bool(done and done["report"]["compressed"])
                generation = done["report"]["generation"] if done else generation
        if self.random.random() < 0.8:
            ask(connection, "session.close", session=self.session)

    def text(self, host):
        self.count += 1
        return f"{self.session} {host.name} {self.count}: " + "and so on " * self.random.randrange(40)


def ask(connection, method, **params):
    connection.send(method, **params)
    return connection.read()


def a_minute_passes(server):
    """Nobody was heard of for as long as a lease lasts."""
    with contextlib.suppress(Exception):
        server.sql("herma", "UPDATE herma.session SET lease = now() - interval '1 second'")


def settled(hosts, patience):
    """Waits until every host told what it has, and parted what others don't know of."""
    until, why = time.monotonic() + patience, ""
    while time.monotonic() < until:
        waits = []
        for host in hosts:
            connection = host.wait()
            # What waits in a log of its own goes to the archive.
            connection.ask("recall.search", query="settled")
            status = connection.ask("shared.status")
            waits += [status[what]["waiting"] for what in ("messages", "sessions")]
            waits += rows(host, "SELECT count(*) FROM held WHERE holder IS NOT NULL AND mattered > sent")[0]
        if not any(waits):
            return
        why = str(waits)
        time.sleep(0.1)
    raise AssertionError(f"sessions don't settle: {why}")


def rows(host, statement):
    with contextlib.closing(sqlite3.connect(f"file:{host.home}/herma/archive.db?mode=ro", uri=True, timeout=30)) as archive:
        return archive.execute(statement).fetchall()


def check(hosts, server, said):
    """What holds of the sessions and those that parted from them; how many of these there are. Who closed one hears only when it is
    opened again that another host has it."""
    there, faults, forks = set(), [], set()
    for host in hosts:
        own = {}
        for session, body in rows(host, "SELECT session_key.id, body FROM message JOIN session_key ON key = session "
                                        f"WHERE session_key.id LIKE '{PREFIX}%'"):
            content = json.loads(body).get("content")
            if isinstance(content, str) and content.startswith(PREFIX):
                own.setdefault(session, []).append(content)
        for session, texts in own.items():
            there.update(texts)
            if "-on-" in session:
                forks.add((host.name, session))
            twice = {text[:40] for text in texts if texts.count(text) > 1} if len(texts) != len(set(texts)) else set()
            faults += [f"{host.name} has twice in {session}: {text}" for text in twice]
    faults += [f"lost: {text[:40]}" for text in said - there]
    holders = {}
    for host in hosts:
        for birth, in rows(host, "SELECT birth FROM held JOIN session ON session.id = held.session "
                                 f"WHERE held.session LIKE '{PREFIX}%' AND holder IS NULL AND ended_at IS NULL"):
            holders.setdefault(birth, []).append(host.name)
    faults += [f"{birth} is with {names}" for birth, names in holders.items() if len(names) > 1]
    told = dict(line.split("|") for line in
                server.sql("herma", f"SELECT birth, host FROM herma.session WHERE session LIKE '{PREFIX}%'").split())
    for birth, names in holders.items():
        if told.get(birth) != names[0]:
            faults.append(f"{birth} is with {names}, and the database says {told.get(birth)}")
    if faults:
        raise AssertionError("\n".join(faults[:20]))
    return len(forks)
