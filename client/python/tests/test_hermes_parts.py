"""The small parts of the engine that need no daemon."""

from __future__ import annotations

import json

import pytest

from herma.hermes.edits import apply
from herma.hermes.summary import failure


def message(letter):
    return {"role": "user", "content": letter}


def messages(text):
    return [message(letter) for letter in text]


@pytest.mark.parametrize(
    ("keep", "replace", "insert", "made"),
    [
        ([[0, 5]], {}, [], "abcde"),
        ([], {}, [], ""),
        ([[0, 1], [4, 5]], {}, [(1, "X")], "aXe"),
        ([[0, 1], [4, 5]], {}, [(4, "X"), (4, "Y")], "aXYe"),
        ([[0, 2]], {1: "B"}, [(5, "X")], "aBX"),
        ([[3, 5]], {}, [(0, "X")], "Xde"),
    ],
)
def test_edits(keep, replace, insert, made):
    edits = {
        "keep": keep,
        "replace": [{"index": at, "message": message(new)} for at, new in replace.items()],
        "insert": [{"at": at, "message": message(new)} for at, new in insert],
    }
    given = messages("abcde")
    assert apply(given, edits) == messages(made)
    assert given == messages("abcde")


class Failed(Exception):
    def __init__(self, words, status):
        super().__init__(words)
        self.status_code = status


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("odd"), {"text": "odd"}),
        (KeyError(), {"text": "KeyError"}),
        (Failed("overloaded", 503), {"text": "overloaded", "status": 503}),
        (Failed("odd", "503"), {"text": "odd"}),
        (TimeoutError("slow"), {"text": "slow", "kind": "timeout"}),
        (ConnectionResetError("gone"), {"text": "gone", "kind": "connection"}),
        (ValueError("x" * 5000), {"text": "x" * 2000}),
    ],
)
def test_failures_of_a_summarizer(error, told):
    assert failure(error) == told


def test_an_answer_that_is_no_json():
    with pytest.raises(json.JSONDecodeError) as error:
        json.loads("{")
    assert failure(error.value)["kind"] == "json"
