"""The program herma-tokens of the wheel. What it counts is tried where the package tokenizers is
installed: with the wheel, by .ci/packages."""

from __future__ import annotations

import sys

from herma import tokens


def test_what_is_missing_is_told(monkeypatch, capsys):
    assert tokens.main([]) == 2
    assert tokens.main(["--help"]) == 0
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    assert tokens.main(["tokenizer.json"]) == 1
    assert "pip install tokenizers" in capsys.readouterr().err
