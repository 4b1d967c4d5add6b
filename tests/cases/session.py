"""A session of Claude Code: its transcript, and the rows that its hooks get."""

import json
import os

from case import U, herma

SID = "11111111-1111-4111-8111-111111111111"
path = U + "/.claude/projects/-w/" + SID + ".jsonl"
big, recs = "word " * 1500, []


def add(record):
    """Adds a record to the transcript."""
    record["uuid"] = "u%04d" % (len(recs) + 1)
    record["parentUuid"] = "u%04d" % len(recs) if recs else None
    recs.append(record)


def say(kind, content):
    """Adds a message."""
    message = {"role": kind, "content": content}
    more = {"cwd": "/w", "sessionId": SID, "version": "2.1.332", "timestamp": "2026-03-01T10:00:00.000Z"}
    add({"type": kind, "message": message, "isSidechain": False, "userType": "external", **more})


def step(name, command, result):
    """Adds a call and its result."""
    say("assistant", [{"type": "tool_use", "id": name, "name": "Bash", "input": {"command": command}}])
    say("user", [{"type": "tool_result", "tool_use_id": name, "content": result}])


def begin():
    """Adds six earlier questions with their answers."""
    for at in range(6):
        say("user", "earlier question %d %s" % (at, big))
        say("assistant", [{"type": "text", "text": "earlier answer %d" % at}])


def work():
    """Adds forty steps with large results."""
    for at in range(40):
        step("t%d" % at, "step %d" % at, "result %d %s" % (at, big))


def write():
    """Writes the transcript."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        for record in recs:
            file.write(json.dumps(record) + "\n")


def row(record):
    """Returns a record as a compaction hook gets it."""
    content = record["message"]["content"]
    shown = {"role": record["type"], "handle": record["uuid"], "toolUses": [], "text": ""}
    if isinstance(content, str):
        shown["text"] = content
        return shown
    shown["text"] = "\n".join(block.get("text", "") for block in content if block["type"] == "text")
    uses = [block for block in content if block["type"] == "tool_use"]
    shown["toolUses"] = [{"tool_use_id": block["id"], "name": block["name"]} for block in uses]
    results = [{"tool_use_id": block["tool_use_id"]} for block in content if block["type"] == "tool_result"]
    if results:
        shown["toolResults"] = results
    return shown


def hook(event, **params):
    """Sends an event and returns the answer."""
    params.update(session_id=SID, transcript_path=path, cwd="/w")
    return herma("hook", "claude-code", event, stdin=json.dumps(params)).stdout
