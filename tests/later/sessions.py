"""Sessions made of recorded conversations."""

import gzip
import json
import re
from pathlib import Path

# Conversations of a day.
DAYS = (10, 20, 40)

# Messages from which on a conversation is a session of its own.
LONG = 40

PERSON = re.compile(r"[a-z]+_[a-z]+_\d{4}")


def sessions(files):
    """Every session that the conversations of the files make. The name of a set begins with its file's."""
    for file in files:
        name = Path(file).name.split(".")[0]
        lines = [json.loads(line) for line in text_of_file(file).splitlines() if line.strip()]
        short = [line for line in lines if is_short(line)]
        for line in lines:
            if not is_short(line) or len(short) < min(DAYS):
                yield {"id": str(line["id"]), "set": name, "messages": line["messages"]}
        for length in DAYS if len(short) >= min(DAYS) else ():
            for start in range(0, len(short) - length + 1, length):
                part = short[start : start + length]
                yield day(f"{name}-day-{length}-{start}", f"{name}, days of {length}", part)
        yield from returning(name, short)


def text_of_file(file):
    data = Path(file).read_bytes()
    return (gzip.decompress(data) if str(file).endswith(".gz") else data).decode()


def is_short(conversation):
    return len(conversation["messages"]) < 2 * LONG


def returning(name, short):
    """A day on which those come back who were there before: their first conversations, then others of
    others, then their next ones."""
    of_person = {}
    for conversation in short:
        found = PERSON.findall(json.dumps(conversation))
        if found:
            of_person.setdefault(max(sorted(set(found)), key=found.count), []).append(conversation)
    several = [all_of_one for all_of_one in of_person.values() if len(all_of_one) > 1]
    for start in range(0, len(several) - 9, 10):
        part = several[start : start + 10]
        chosen = [all_of_one[0] for all_of_one in part] + [all_of_one[1] for all_of_one in part]
        yield day(f"{name}-returning-{start}", f"{name}, returning", chosen)


def day(name, kind, conversations):
    """Conversations in a row, under the system message of the first."""
    messages = []
    for number, conversation in enumerate(conversations):
        for message in conversation["messages"]:
            if message["role"] == "system" and messages:
                continue
            messages.append(renamed(message, number))
    return {"id": name, "set": kind, "messages": messages}


def renamed(message, number):
    """The same with ids of calls that no other conversation has."""
    copy = dict(message)
    if copy.get("tool_calls"):
        copy["tool_calls"] = [{**call, "id": f"{call['id']}-{number}"} for call in copy["tool_calls"]]
    if copy.get("tool_call_id"):
        copy["tool_call_id"] = f"{copy['tool_call_id']}-{number}"
    return copy
