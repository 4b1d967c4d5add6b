"""Claude Code and Codex talk to a scripted model, and `herma import` takes in what they kept of it, once."""

from __future__ import annotations

import tempfile
from pathlib import Path

from claude import Claude
from codex import Codex
from endpoint import Endpoint, script
from home import Home

PORTS = {"heron": "48213", "stork": "51507"}


def imported(home: Home, program: str) -> tuple[int, int, int]:
    """Messages that were imported, and sessions that are new and that grew."""
    report = home.ask("import", program)
    assert not report["problems"], report
    return report["messages"], report["sessions"]["new"], report["sessions"]["grown"]


def found(home: Home, words: str, program: str) -> set[str]:
    """Who said what is found; the first hit is of that program's file."""
    hits = home.ask("recall", words)["hits"]
    assert hits and hits[0]["agent"] == program, (words, hits)
    assert Path(hits[0]["source"]).is_file(), hits[0]
    return {hit["role"] for hit in hits}


def claude_code(folder: Path) -> None:
    """A session that is asked, goes on, and is compacted in between."""
    with Home(folder) as home, Endpoint() as endpoint:
        look = {"name": "Bash", "input": {"command": f"echo the heron listens on {PORTS['heron']}", "description": "look"}}
        with Claude("claude", home.client, home.work, endpoint.url, "--allowedTools", "Bash") as client:
            client.say(script("a heron's port", look, words="Which port does the heron listen on?"))
        # A question, the call of a shell, what it said, and the answer.
        assert imported(home, "claude-code") == (4, 1, 0)
        assert imported(home, "claude-code") == (0, 0, 0)
        with Claude("claude", home.client, home.work, endpoint.url, "--continue") as client:
            for words in (script("none", words="and the crane?"), "/compact birds", script("no", words="what then?")):
                client.say(words)
        messages, new, grown = imported(home, "claude-code")
        # Two questions with their answers, and the command with its argument, which is the user's.
        assert messages == 5 and (new, grown) == (0, 1), (messages, new, grown)
        assert {"user", "tool"} <= found(home, f"heron {PORTS['heron']}", "claude-code")
        for words in ("crane", '"what then"'):
            found(home, words, "claude-code")


def codex(folder: Path) -> None:
    """A session that goes on in another process."""
    with Home(folder) as home, Endpoint() as endpoint:
        look = {"name": "exec_command", "input": {"cmd": f"echo the stork listens on {PORTS['stork']}"}}
        client = Codex("codex", home.client, home.work, endpoint.url)
        client.say(script("a stork's port", look, words="Which port does the stork listen on?"))
        assert imported(home, "codex") == (4, 1, 0)
        client.say(script("none", look, words="and the ibis?"))
        assert imported(home, "codex") == (4, 0, 1)
        assert imported(home, "codex") == (0, 0, 0)
        assert "tool" in found(home, f"stork {PORTS['stork']}", "codex")
        found(home, "ibis", "codex")


def main() -> None:
    """Plays both."""
    for check in (claude_code, codex):
        with tempfile.TemporaryDirectory(prefix="hi") as folder:
            check(Path(folder))
        print(f"{check.__name__}: imported and found")


if __name__ == "__main__":
    main()
