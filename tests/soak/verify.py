"""The archive, looked at without herma: `verify.py ARCHIVE LEDGER...` prints what is missing.

A session that was closed, or given up when the daemon was killed, may have left the archive as a whole,
by its retention; the last one of each process may not, and none may have left in part.
"""

import json
import sqlite3
import sys
from collections import defaultdict
from pathlib import Path

archive = sqlite3.connect(sys.argv[1])
kept: dict[str, set[str]] = defaultdict(set)
for session, body in archive.execute("SELECT k.id, m.body FROM message m JOIN session_key k ON k.key = m.session"):
    kept[session].add(json.loads(body).get("content"))
known = {row[0] for row in archive.execute("SELECT id FROM session")}
words = archive.execute("PRAGMA integrity_check").fetchone()[0]
if words != "ok":
    print(f"the archive is damaged: {words}")

messages = 0
for ledger in sys.argv[2:]:
    said: dict[str, list[str]] = defaultdict(list)
    frozen: dict[str, set[str]] = defaultdict(set)
    closed = set()
    for line in Path(ledger).read_text(errors="replace").splitlines():
        try:
            (kind, what), *_ = json.loads(line).items()
        except ValueError:
            continue
        if kind == "said":
            said[what["session"]] += what["texts"]
        elif kind == "closed":
            closed.add(what)
        elif kind == "opened":
            frozen[what["session"]].add(what["sha256"])
    last = next(reversed(frozen), None)
    for session, snapshots in frozen.items():
        if len(snapshots) > 1:
            print(f"{session} had {len(snapshots)} snapshots")
        if session not in known and session not in closed and session == last:
            print(f"{session} is gone, and was never closed")
    for session, texts in said.items():
        messages += len(texts)
        if session not in known:
            continue
        if missing := [text for text in texts if text not in kept[session]]:
            print(f"{session}: {len(missing)} of {len(texts)} messages are missing, the first {missing[0][:60]!r}")
print(f"looked at {messages} messages of {len(known)} sessions", file=sys.stderr)
