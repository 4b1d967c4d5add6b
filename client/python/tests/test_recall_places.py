"""Hits as places, on sessions that agents recorded: each is compared as a whole with what stands around it."""

from __future__ import annotations

import gzip
import json

from conftest import REPOSITORY

SESSIONS = REPOSITORY / "tests" / "later" / "data" / "agents.jsonl.gz"

# Sessions, and the messages of each whose beginnings are the questions.
COUNT, EACH = 6, 6


def test_a_place_is_what_stands_around_its_hit(client):
    lines = gzip.decompress(SESSIONS.read_bytes()).decode().splitlines()
    questions = []
    for line in lines[:COUNT]:
        recorded = json.loads(line)
        name, messages = str(recorded["id"]), recorded["messages"]
        client.session.open(session=name)
        client.session.append(session=name, generation=0, position=0, messages=messages)
        texts = [one["content"] for one in messages if isinstance(one.get("content"), str)]
        questions += [text[:200] for text in texts[:: max(1, len(texts) // EACH)] if text.strip()]
    compared = 0
    for question in questions:
        for around in (0, 1, 3):
            hits = client.recall.search(
                query=question, kinds=["message"], around=around, limit=20
            )["hits"]
            shown: set[str] = set()
            for hit in hits:
                assert hit["handle"] not in shown, f"{hit['handle']} is in the place of a better hit"
                sides = [hit.get("before", []), hit.get("after", [])]
                wide = client.recall.expand(handle=hit["handle"], before=20, after=20)["items"]
                at = next(at for at, item in enumerate(wide) if item["handle"] == hit["handle"])
                found = [item for item in wide if is_found(item)]
                before = [item for item in found if item in wide[:at]][-around:] if around else []
                after = [item for item in found if item in wide[at + 1 :]][:around]
                for side, items in zip(sides, (before, after)):
                    assert [(one["handle"], one["role"]) for one in side] == [
                        (item["handle"], item["role"]) for item in items
                    ], hit["handle"]
                    for one, item in zip(side, items):
                        words = one["snippet"].strip("…").split()
                        assert all(word in item["text"] for word in words[1:-1]), one
                shown |= {one["handle"] for side in sides for one in side}
                compared += 1
    assert compared > 250, compared


def is_found(item):
    """Whether a message has words that a search may find."""
    return item["role"] != "system" and bool(item["text"].strip())
