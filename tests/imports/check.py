"""Real agent clients talk to an endpoint of our own, and herma imports what they kept of it.

    check.py CLIENTS HERMA

CLIENTS is a folder with the programs `claude` and `codex`, HERMA the command line.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import endpoint

LIMIT_S = 60
CODEX = """model = "m"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "KEY"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
"""


class Place:
    def __init__(self, folder, clients, herma):
        self.folder, self.clients, self.herma_program = pathlib.Path(folder), pathlib.Path(clients), herma
        self.url = endpoint.serve()
        for name in ("user", "codex", "work", "home"):
            (self.folder / name).mkdir()
        (self.folder / "codex/config.toml").write_text(CODEX.format(url=self.url))

    def run(self, program, *arguments, words="", **environment):
        command = [str(program), *arguments]
        base = {"PATH": os.environ["PATH"], "HOME": str(self.folder / "user")}
        done = subprocess.run(
            command, cwd=self.folder / "work", env=base | environment, input=words, capture_output=True, text=True,
            timeout=LIMIT_S,
        )
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def claude(self, *arguments, words=""):
        return self.run(
            self.clients / "claude", "-p", *arguments, "--allowedTools", "Bash", words=words,
            ANTHROPIC_BASE_URL=self.url, ANTHROPIC_API_KEY="x",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", DISABLE_AUTOUPDATER="1",
        )

    def codex(self, *arguments):
        home = str(self.folder / "codex")
        return self.run(
            self.clients / "codex", "exec", "--skip-git-repo-check", *arguments, CODEX_HOME=home, KEY="x"
        )

    def herma(self, *arguments):
        home = {"HERMA_HOME": str(self.folder / "home"), "CODEX_HOME": str(self.folder / "codex")}
        if "HERMAD" in os.environ:
            home["HERMAD"] = os.environ["HERMAD"]
        return self.run(self.herma_program, *arguments, **home)

    def imports(self, program):
        report = json.loads(self.herma("import", "--json", program))
        assert not report["problems"], report
        return report["messages"], report["sessions"]["new"], report["sessions"]["grown"]

    def finds(self, words, program):
        hits = json.loads(self.herma("recall", "--json", words))["hits"]
        assert hits and hits[0]["agent"] == program, (words, hits)
        assert pathlib.Path(hits[0]["source"]).is_file(), hits[0]
        return {hit["role"] for hit in hits}


def claude_code(place):
    place.claude("Which port does the heron listen on?")
    # A question, the call of a shell, what it said, and the answer.
    assert place.imports("claude-code") == (4, 1, 0)
    assert place.imports("claude-code") == (0, 0, 0)
    said = ["and the crane?", "/compact birds", "what then?"]
    words = "".join(json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n" for text in said)
    place.claude(
        "--continue", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", words=words
    )
    messages, new, grown = place.imports("claude-code")
    assert messages >= 5 and (new, grown) == (0, 1), (messages, new, grown)
    assert {"user", "tool"} <= place.finds(f"heron {endpoint.PORTS['heron']}", "claude-code")
    for text in ("crane", "\"what then\""):
        place.finds(text, "claude-code")


def codex(place):
    place.codex("Which port does the stork listen on?")
    assert place.imports("codex") == (4, 1, 0)
    place.codex("resume", "--last", "and the ibis?")
    assert place.imports("codex") == (4, 0, 1)
    assert place.imports("codex") == (0, 0, 0)
    assert "tool" in place.finds(f"stork {endpoint.PORTS['stork']}", "codex")
    place.finds("ibis", "codex")


def main():
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder, sys.argv[1], sys.argv[2])
        try:
            for check in (claude_code, codex):
                check(place)
                print(f"{check.__name__}: imported and found")
        finally:
            place.herma("daemon", "stop")


main()
