"""The program herma-tokens of the wheel."""

from __future__ import annotations

import io
import json
import sys
import types

import pytest
from herma import tokens


class _Encoded:
    def __init__(self, text):
        self.ids = text.split()


class _Tokenizer:
    @staticmethod
    def from_file(path):
        if path != "tokenizer.json":
            raise ValueError("No such file")
        return _Tokenizer()

    def encode_batch_fast(self, texts, add_special_tokens):
        assert not add_special_tokens
        return [_Encoded(text) for text in texts]


@pytest.fixture
def library(monkeypatch):
    """The few names of the library that are used."""
    module = types.ModuleType("tokenizers")
    module.Tokenizer = _Tokenizer
    monkeypatch.setitem(sys.modules, "tokenizers", module)


def test_each_line_is_answered(library, monkeypatch, capsys):
    lines = [["one two", "", "a b c"], []]
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(json.dumps(line) + "\n" for line in lines)))
    assert tokens.main(["--", "tokenizer.json"]) == 0
    assert capsys.readouterr().out == "[2, 0, 3]\n[]\n"


def test_what_is_missing_is_told(library, monkeypatch, capsys):
    assert tokens.main(["nowhere.json"]) == 1
    assert "nowhere.json: no tokenizer: No such file" in capsys.readouterr().err
    assert tokens.main([]) == 2
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    assert tokens.main(["tokenizer.json"]) == 1
    assert "pip install 'herma[tokenizer]'" in capsys.readouterr().err
