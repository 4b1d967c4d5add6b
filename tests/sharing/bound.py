"""Entries that are for one host: each has its own while everything breaks, whatever the database does, and none of them
is ever anywhere else."""

import threading
import time

from parts import Connection

MARK = "[host-bound] "


class Binder(threading.Thread):
    """An agent that keeps entries of its host. What it was promised of each text is in `texts`: there, gone or unknown."""

    def __init__(self, host, random_, until, texts):
        super().__init__(daemon=True)
        self.host, self.random, self.until, self.texts = host, random_, until, texts
        self.count, self.connection = 0, None

    def run(self):
        at = 0
        while time.monotonic() < self.until:
            own = [text for text, state in self.texts.items() if state == "there"]
            at += 1
            text = f"{MARK}{self.host.name} {self.until:.0f}.{at}"
            if len(own) > 4 or (own and self.random.random() < 0.4):
                old = self.random.choice(own)
                if self.random.random() < 0.5:
                    self.write("memory.remove", old, None, old_text=old)
                else:
                    # Without its mark, for it keeps that.
                    self.write("memory.replace", old, text, old_text=old, content=text.removeprefix(MARK))
            else:
                self.write("memory.add", None, text, content=text)
            time.sleep(self.random.random() * 0.03)

    def write(self, method, old, new, **params):
        try:
            self.connection = self.connection or Connection(self.host.home)
            result = self.connection.ask(method, target="user", **params)
            done = bool(result["success"] and result.get("host_bound"))
            self.count += done
        except (OSError, ValueError, RuntimeError):
            self.connection, done = None, False
            time.sleep(0.02)
        for text, state in ((old, "gone"), (new, "there")):
            if text:
                self.texts[text] = state if done else "unknown"


def shared(text):
    """What of a file all hosts have."""
    return "\n§\n".join(entry for entry in text.split("\n§\n") if not entry.startswith(MARK))


def check(hosts, server, books):
    """Each host has what it was promised, and nothing of the others; the database has nothing of it. Gives how many there are."""
    faults, count = [], 0
    for host, texts in zip(hosts, books):
        entries = [entry for entry in host.file().split("\n§\n") if entry.startswith(MARK)]
        faults += [f"lost at {host.name}: {text}" for text, state in texts.items() if state == "there" and text not in entries]
        faults += [f"came back at {host.name}: {text}" for text, state in texts.items() if state == "gone" and text in entries]
        faults += [f"not of {host.name}: {text}" for text in entries if text not in texts]
        faults += [f"twice at {host.name}: {text}" for text in set(entries) if entries.count(text) > 1]
        texts.clear()
        texts.update(dict.fromkeys(entries, "there"))
        count += len(entries)
    for table in ("store", "journal", "message", "session_part"):
        leaked = server.sql("herma", f"SELECT count(*) FROM herma.{table} AS one WHERE one::text LIKE '%{MARK.strip()}%'")
        faults += [f"{leaked.strip()} rows of {table} have what is for one host"] if leaked.strip() != "0" else []
    assert not faults, "\n".join(faults[:20])
    return count
