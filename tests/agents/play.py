"""Scenes with Claude Code and Codex, and the list of all scenes. Each asserts on the requests that the model got, and on what herma kept."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import Any

from claude import Claude, claude_environment
from codex import AppServer, Codex, codex_environment
from common import PAGES, RECALL, REPOSITORY, SECRET, TURNS, daemon, equal_without_a_daemon, kept, ledger, no_others, remember, through_kills, windows, work
from endpoint import Endpoint, script, text
from home import Home, Proxy
from scenes_of_continue import SCENES as OF_CONTINUE
from scenes_of_gemini import SCENES as OF_GEMINI
from scenes_of_omp import SCENES as OF_OMP
from scenes_of_openclaw import SCENES as OF_OPENCLAW
from scenes_of_opencode import SCENES as OF_OPENCODE
from scenes_of_pi import SCENES as OF_PI
from scenes_of_proxy import SCENES as OF_PROXY
from scenes_of_qwen import SCENES as OF_QWEN
from sessions import HANDOFF, MEMORY, RULE, in_claude_code


def shell(command: str) -> dict[str, Any]:
    """A call of Claude Code's shell."""
    return {"name": "Bash", "input": {"command": command, "description": "look"}}


def execute(command: str) -> dict[str, Any]:
    """A call of Codex's shell."""
    return {"name": "exec_command", "input": {"cmd": command}}


def claude(home: Home, endpoint: Endpoint, *arguments: str, patience: str = "4000") -> Claude:
    """Claude Code with herma, and with a window that compacts at 95,000 tokens. Hooks may take so many milliseconds: a
    slow machine is no reason to go without them here."""
    allowed = ("--allowedTools", "Bash", "Read", "mcp__herma")
    window = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000", "HERMA_HOOK_TIMEOUT_MS": patience}
    return Claude("claude", home.client, home.work, endpoint.url, *allowed, *arguments, **window, **daemon())


def codex(home: Home, endpoint: Endpoint, *arguments: str, **environment: str) -> Codex:
    """Codex with herma."""
    environment = {"HERMA_HOOK_TIMEOUT_MS": "4000", **daemon(), **environment}
    return Codex("codex", home.codex, home.work, endpoint.url, *arguments, **environment)


def app_server(home: Home) -> AppServer:
    """Codex as editors use it, with herma; its configuration is there."""
    return AppServer("codex", home.codex, home.work, **{"HERMA_HOOK_TIMEOUT_MS": "4000", **daemon()})


def claude_code_works(folder: Path) -> None:
    """Forty turns; compactions by hand, by themselves and in the middle of a turn, none of which asks the model."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.ask("memory", "add", "user", MEMORY)
        home.install("claude-code")
        with claude(home, endpoint) as client:
            client.say(script("yes", words=RULE))
            read = {"name": "Read", "input": {"file_path": str(home.work / "notes.txt")}}
            (home.work / "notes.txt").write_text("the secret word of this file is marzipan\n")
            client.say(work(1, shell, read, {"name": "mcp__herma__memory", "input": remember("the user owns a cat")}))
            client.say(script("large", shell("seq 1 40000 | sed 's/^/line /'")))
            for number in range(2, 16):
                client.say(work(number, shell))
            client.say("/compact keep the ports")
            for number in range(16, 28):
                client.say(work(number, shell, tokens=95_000 if number == 27 else 1_000))
            for number in range(28, 40):
                client.say(work(number, shell, shell("echo again"), tokens=95_000 if number == 39 else 1_000))
            assert len(client.compactions()) >= 3, client.compactions()
            session = client.session
            # The MCP server's session is the client's own.
            client.say(script("seen", {"name": "mcp__herma__recall_describe", "input": {}}))
            described = endpoint.turns[-1].text
            client.say("/clear")
            client.say(work(40, shell))
            cleared = client.session
        assert "compressions" in described, described[-1_000:]
        assert not endpoint.summaries, "a compaction asked the model"
        first = endpoint.turns[0].text
        assert first.count(MEMORY) == 1 and RECALL in first, first
        begun = windows(endpoint)
        assert len(begun) >= 3
        for request in begun[:3]:
            assert MEMORY in request.text and RECALL in request.text and RULE in request.text
            assert request.text.count("USER PROFILE") <= 2, "the memories are told twice"
        assert begun[-1].text.count("a cat") >= 1, "what was written by the tool is not in the next session"
        assert RULE not in begun[-1].text, "a rule of a session came into another one"

        name = f"claude-code:{session}"
        row = home.ask("session", "show", name)
        assert row["generation"] >= 3 and row["end_reason"] == "clear", row
        assert home.ask("session", "show", f"claude-code:{cleared}")["parent"] == name
        hits = home.ask("recall", "db-3 port 8003", "--session", name, "--around", "0")["hits"]
        assert any("8003" in hit["snippet"] for hit in hits)
        outputs = home.ask("output", "list", "--session", name)["outputs"]
        assert any(output["chars"] > 400_000 for output in outputs), outputs
        of_model = [request for request in endpoint.turns if "db-40" not in request.text]
        ledger(home, name, calls=len(of_model), compactions=3, outputs=1, tools=2)
        assert no_others(home, "claude-code")
        assert home.complaints() == []


def claude_code_compacts_sessions_of_every_kind(folder: Path) -> None:
    """Sessions as large as they really are: each window begins with the handoff, small, and with one memory; no turn is
    lost, and no model is asked."""
    for window, kind in ((64_000, "40 turns"), (100_000, "220 calls in one turn"), (200_000, "60 turns of large outputs")):
        seen = in_claude_code(folder / str(window), kind, window, (), daemon())
        assert (seen.lost, seen.summaries) == (0, 0), f"{kind}: {seen.lost} turns lost, {seen.summaries} summaries"
        assert seen.compactions == len(seen.windows) >= 3, f"{kind}: {seen.compactions} compactions"
        for request, share in zip(seen.windows, seen.shares):
            counts = {words: request.text.count(words) for words in (HANDOFF, RULE, MEMORY, RECALL)}
            assert all(counts.values()) and counts[HANDOFF] == counts[MEMORY] == 1, f"{kind}: {counts}"
            assert share <= 1 / 3, f"{kind}: a window begins at {share:.2f} of the one before"


def claude_code_reads_what_is_kept_with_default_permissions(folder: Path) -> None:
    """A large output can be read on by the file and by the tool, where nobody allowed anything but the shell."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.install("claude-code")
        more = {"HERMA_HOOK_TIMEOUT_MS": "4000", **daemon()}
        with Claude("claude", home.client, home.work, endpoint.url, "--allowedTools", "Bash", **more) as client:
            client.say(script("large", shell("seq 1 40000 | sed 's/^/line /'")))
            shown = endpoint.turns[-1].text
            (path,) = set(re.findall(r"Full output saved to: (\S+)", shown))
            (handle,) = set(re.findall(r"by the handle (out_\w+)", shown))
            assert "read_file" not in shown
            read = {"name": "Read", "input": {"file_path": path, "offset": 31_111, "limit": 2}}
            by_handle = {"name": "mcp__herma__output_read", "input": {"handle": handle, "line": 32_222, "lines": 2}}
            client.say(script("read", read, by_handle))
        seen = endpoint.turns[-1].text
        assert "line 31112" in seen and "line 32223" in seen, seen[-2_000:]
        assert home.complaints() == []


def claude_code_keeps_the_task_of_a_slash_command(folder: Path) -> None:
    """What was asked by a command of the user's own is in the window after a compaction, in recall and in the rules."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.install("claude-code")
        commands = home.work / ".claude" / "commands"
        commands.mkdir(parents=True)
        (commands / "fix.md").write_text("Fix what the user describes. Never touch the file billing.py.\n\n$ARGUMENTS\n")
        with claude(home, endpoint) as client:
            client.say(script("yes"))
            calls = [shell(f"seq -f 'row %g of {number}' 1 400") for number in range(30)]
            client.say("/fix the login loses its ZEPPELIN token\n" + script("done", *calls).strip())
            client.say("/compact")
            client.say(script("on"))
            session = f"claude-code:{client.session}"
        begun = windows(endpoint)
        assert begun and not endpoint.summaries
        assert HANDOFF in begun[-1].text and "ZEPPELIN" in begun[-1].text, begun[-1].text[-3_000:]
        assert any("ZEPPELIN" in hit["snippet"] for hit in home.ask("recall", "login token ZEPPELIN", "--session", session, "--around", "0")["hits"])
        rules = home.ask("constraint", "list", session)["constraints"]
        assert any("billing.py" in rule["text"] for rule in rules), rules


def a_link_that_an_upgrade_moves(folder: Path) -> None:
    """Hooks that name a link follow it to another version. If it is gone, the user sees it when a session begins."""
    gone = "the program that its hooks start is gone"
    with Home(folder) as home, Endpoint() as endpoint:
        codex(home, endpoint)
        program = Path(shutil.which("herma") or "")
        link = folder / "bin" / "herma"
        link.parent.mkdir()
        link.symlink_to(program)
        home.install_by(link, "claude-code")
        home.install_by(link, "codex", "--trust")
        other = folder / "2" / "herma"
        other.parent.mkdir()
        shutil.copy(program, other)
        link.unlink()
        link.symlink_to(other)
        with claude(home, endpoint) as client:
            client.say(script("yes", words="said after the upgrade"))
        kept = home.ask("session", "show", f"claude-code:{client.session}")
        assert kept["messages"] == 2 and gone not in json.dumps(client.events), kept
        thread = codex(home, endpoint)
        thread.say(script("yes", words="said after the upgrade"))
        assert home.ask("session", "show", f"codex:{thread.session}")["messages"] == 2
        link.unlink()
        with claude(home, endpoint) as client:
            assert client.say(script("fine"))["result"] == "fine"
        responses = [event for event in client.events if event.get("subtype") == "hook_response"]
        assert any(gone in event["output"] and event["outcome"] == "success" for event in responses), responses
        with app_server(home) as server:
            server.say(server.start(), script("fine"))
            assert gone in server.messages_to_user(), server.messages_to_user()[-3_000:]


def claude_code_keeps_a_picture(folder: Path) -> None:
    """A picture that the model looked at last is there after a compaction, and its call has a result."""
    picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
    with Home(folder) as home, Endpoint() as endpoint:
        home.install("claude-code")
        (home.work / "seen.png").write_bytes(base64.b64decode(picture))
        with claude(home, endpoint) as client:
            client.say(script("yes"))
            calls = [shell(f"seq -f 'row %g of {number}' 1 400") for number in range(30)]
            client.say(script("done", *calls, words="Look at the rows."))
            client.say(script("a dot", {"name": "Read", "input": {"file_path": str(home.work / "seen.png")}}, words="Look at it."))
            before = len(windows(endpoint))
            client.say("/compact")
            client.say(script("on"))
        begun = windows(endpoint)
        assert len(begun) > before and not endpoint.summaries
        body = json.dumps(begun[-1].body)
        assert HANDOFF in body and '"type": "image"' in body, body[-3_000:]
        assert home.complaints() == []


def claude_code_sessions_and_their_parents(folder: Path) -> None:
    """A session that goes on in another process, one that is forked from it, and what a subagent did."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.ask("memory", "add", "user", MEMORY)
        home.install("claude-code")
        with claude(home, endpoint) as client:
            client.say(work(1, shell))
            task = {"description": "look", "subagent_type": "general-purpose", "prompt": work(77, shell)}
            client.say(script("asked", {"name": "Task", "input": task}, words="Have somebody look."))
            session = client.session
        with claude(home, endpoint, "--resume", session) as client:
            client.say(work(2, shell))
            assert client.session == session
        assert endpoint.turns[-1].text.count(MEMORY) == 1, "the memories are told twice"
        with claude(home, endpoint, "--resume", session, "--fork-session") as client:
            client.say(work(3, shell))
            forked = client.session
        assert forked != session
        name = f"claude-code:{session}"
        row = home.ask("session", "show", name)
        # The client may say of itself that the subagent is done, and the model answer it.
        assert row["messages"] in (4 + 4 + 4, 4 + 4 + 2 + 4), row
        fork = home.ask("session", "show", f"claude-code:{forked}")
        assert fork["parent"] == name and fork["messages"] == row["messages"] + 4, fork
        rows = home.ask("session", "list", "--raw")["sessions"]
        of_subagent = [row for row in rows if row["session"].startswith(f"{name}/")]
        assert [(row["parent"], row["messages"]) for row in of_subagent] == [(name, 4)], of_subagent
        assert home.complaints() == []


def claude_code_compacts_by_itself(folder: Path) -> None:
    """Without the plugin the summary gets the rules, and the model gets the rest after it."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.ask("memory", "add", "user", MEMORY)
        home.install("claude-code", "--no-plugin")
        with claude(home, endpoint) as client:
            client.say(script("yes", words=RULE))
            for number in range(1, 12):
                client.say(work(number, shell, tokens=95_000 if number == 11 else 1_000))
            client.say(work(12, shell))
            session = client.session
        assert len(endpoint.summaries) == 1
        asked = text(endpoint.summaries[0].body["messages"][-1])
        assert RULE in asked and "word for word" in asked
        request = windows(endpoint)[0]
        for words in (RULE, MEMORY, RECALL, "db-"):
            assert words in request.text, f"{words} is not in {request.text[-3000:]}"
        assert home.ask("session", "show", f"claude-code:{session}")["generation"] == 1


def claude_code_without_a_daemon(folder: Path) -> None:
    def play(home: Home, endpoint: Endpoint, is_hooked: bool) -> None:
        if is_hooked:
            home.install("claude-code")
            (home.client / ".claude.json").write_text("{}")
        absent = {"HERMAD": "/no/such/program", "CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}
        with Claude("claude", home.client, home.work, endpoint.url, "--allowedTools", "Bash", **absent) as client:
            for number in range(1, 6):
                client.say(work(number, shell, tokens=95_000 if number == 4 else 1_000))

    equal_without_a_daemon(folder, play, r"toolu_\d+")


def codex_without_a_daemon(folder: Path) -> None:
    def play(home: Home, endpoint: Endpoint, is_hooked: bool) -> None:
        # Its MCP server would start a daemon: it does not get the environment of the test.
        options = ("-c", "model_auto_compact_token_limit=40000")
        absent = {"HERMAD": "/no/such/program"}
        client = codex(home, endpoint, *options, **absent)
        if is_hooked:
            home.install("codex", "--trust")
            client = codex(home, endpoint, *options, "-c", "mcp_servers.herma.enabled=false", **absent)
        for number in range(1, 6):
            client.say(work(number, execute, tokens=95_000 if number == 4 else 1_000))

    equal_without_a_daemon(folder, play, r"Wall time: [0-9.]+ seconds|Chunk ID: \w+", field="input")


def claude_code_and_a_daemon_that_dies(folder: Path) -> None:
    """Killed and frozen daemons hold no turn up, and nothing that was said is lost."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.install("claude-code")
        with claude(home, endpoint, patience="900") as client:
            # Four hooks of a turn, a second each.
            through_kills(home, client, shell, limit=8)
            session = client.session
        row = home.ask("session", "show", f"claude-code:{session}")
        assert row["messages"] == 4 * TURNS, row


def two_clients_on_one_home(folder: Path) -> None:
    """Claude Code and Codex at once: each has a session, and one memory."""
    with Home(folder) as home, Endpoint() as endpoint:
        other = codex(home, endpoint)
        home.install("claude-code")
        home.install("codex", "--trust")
        with claude(home, endpoint) as client:
            turns = [threading.Thread(target=lambda: [other.say(work(number, execute)) for number in range(3)])]
            turns[0].start()
            for number in range(6):
                client.say(work(number, shell))
            client.say(script("ok", {"name": "mcp__herma__memory", "input": remember("the user owns a dog")}))
            turns[0].join()
            session = client.session
        last = Codex("codex", home.client, home.work, endpoint.url, **daemon())
        last.say(work(9, execute))
        assert "owns a dog" in endpoint.turns[-1].text
        assert home.ask("session", "show", f"claude-code:{session}")["messages"] > 20
        assert home.ask("session", "show", f"codex:{other.session}")["messages"] >= 12
        assert home.complaints() == []


def codex_works(folder: Path) -> None:
    """Turns over several processes, compactions between and in the middle of turns, a large output."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.ask("memory", "add", "user", MEMORY)
        client = codex(home, endpoint, "-c", "model_auto_compact_token_limit=20000", "-c", "tool_output_token_limit=60000")
        home.install("codex")
        status = home.run("hooks", "status", "codex")
        assert status.returncode == 1 and "NOT TRUSTED" in status.stdout, status.stdout
        home.install("codex", "--trust")
        status = home.run("hooks", "status", "codex")
        assert status.returncode == 0 and "trusts all" in status.stdout, status.stdout
        client.say(script("yes", words=RULE))
        client.say(script("large", execute("seq 1 30000")))
        memory = {"name": "memory", "namespace": "mcp__herma", "input": remember("the user owns a cat")}
        for number in range(1, 7):
            client.say(work(number, execute, *([memory] if number == 1 else [])))
        client.say(work(7, execute, tokens=50_000))
        client.say(work(8, execute, execute("echo again"), tokens=50_000))
        client.say(work(9, execute, tokens=50_000))
        client.say(work(10, execute))
        assert len(endpoint.summaries) >= 3, len(endpoint.summaries)
        assert endpoint.turns[0].text.count(MEMORY) == 1
        after = [endpoint.requests[at + 1] for at, request in enumerate(endpoint.requests[:-1]) if request.is_summary]
        for request in after:
            for words in (RULE, MEMORY, RECALL):
                assert words in request.text, f"{words} is not in {request.text[-3000:]}"
        large = next(request.text for request in endpoint.turns if "persisted-output" in request.text)
        assert len(large) < 60_000
        name = f"codex:{client.session}"
        assert home.ask("session", "show", name)["generation"] >= 1
        outputs = home.ask("output", "list", "--session", name)["outputs"]
        # Codex hands no more than 40,000 chars to a hook.
        assert any(output["chars"] > 30_000 for output in outputs), outputs
        ledger(home, name, calls=len(endpoint.requests), summaries=len(endpoint.summaries), outputs=1, tools=1)
        assert any("8003" in hit["snippet"] for hit in home.ask("recall", "db-3 port 8003", "--session", name, "--around", "0")["hits"])
        assert no_others(home, "codex")
        assert home.complaints() == []


def codex_as_editors_use_it(folder: Path) -> None:
    """One process with several threads: a compaction by hand, a clear and a fork."""
    with Home(folder) as home, Endpoint() as endpoint:
        home.ask("memory", "add", "user", MEMORY)
        codex(home, endpoint)
        home.install("codex", "--trust")
        with app_server(home) as client:
            first = client.start()
            client.say(first, script("yes", words=RULE))
            for number in range(1, 4):
                client.say(first, work(number, execute))
            client.compact(first)
            client.say(first, work(4, execute))
            cleared = client.start(sessionStartSource="clear")
            client.say(cleared, work(5, execute))
            forked = client.fork(first)
            client.say(forked, work(6, execute))
            # A call belongs to the thread that makes it, whoever spoke last.
            describe = {"name": "recall_describe", "namespace": "mcp__herma", "input": {}}
            client.begin(first, script("seen", execute("sleep 2"), describe, words="What left?"))
            client.say(cleared, work(7, execute))
            client.until("turn/completed", first)
        assert len(endpoint.summaries) == 1
        after = endpoint.requests[endpoint.requests.index(endpoint.summaries[0]) + 1]
        for words in (RULE, MEMORY, RECALL):
            assert words in after.text, f"{words} is not in {after.text[-3000:]}"
        described = next(request.text for request in reversed(endpoint.turns) if "What left?" in request.text)
        assert "cmp_" in described, described[-500:]
        of_cleared = next(request for request in endpoint.turns if "db-5" in request.text and "db-6" not in request.text)
        assert MEMORY in of_cleared.text and RULE not in of_cleared.text
        rows = {thread: home.ask("session", "show", f"codex:{thread}") for thread in (first, cleared, forked)}
        assert rows[first]["generation"] >= 1, rows
        assert rows[cleared]["parent"] == rows[forked]["parent"] == f"codex:{first}", rows
        assert home.complaints() == []


def codex_behind_the_proxy(folder: Path) -> None:
    """Forty turns; compactions between turns and in the middle of them, none of which reaches the model."""
    with Home(folder) as home, Endpoint() as endpoint, Proxy(home, f"{endpoint.url}/v1") as proxy:
        home.ask("memory", "add", "user", MEMORY)
        options = ("-c", "model_auto_compact_token_limit=20000", "-c", f'model_providers.scripted.base_url="{proxy.url}"')
        client = codex(home, endpoint, *options)
        home.install("codex", "--trust")
        client.say(script("yes", words=RULE))
        memory = {"name": "memory", "namespace": "mcp__herma", "input": remember("the user owns a cat")}
        client.say(work(1, execute, memory))
        client.say(script("large", execute("seq 1 40000 | sed 's/^/line /'")))
        for number in range(2, 38):
            # Every twelfth answer says that the window is full, between turns or between two calls.
            more = [execute("echo again")] if number > 20 else []
            client.say(work(number, execute, *more, tokens=50_000 if number % 12 == 11 else 1_000))
        assert endpoint.summaries == [], "a compaction asked the model"
        begun = [request for request in windows(endpoint) if HANDOFF in request.text]
        assert len(begun) >= 3, len(begun)
        for request in begun:
            for words in (RULE, MEMORY, RECALL):
                assert words in request.text, f"{words} is not in {request.text[-3000:]}"
            assert request.text.count("USER PROFILE") <= 2, "the memories are told twice"
        name = f"codex:{client.session}"
        assert home.ask("session", "show", name)["generation"] >= 3
        ledger(home, name, calls=len(endpoint.turns), compactions=len(begun), outputs=0, tools=1)
        assert any("8003" in hit["snippet"] for hit in home.ask("recall", "db-3 port 8003", "--session", name, "--around", "0")["hits"])
        assert home.complaints() == []
        # Without the daemon the model is asked, as without herma.
        home.run("daemon", "stop", "--no-spawn")
        # Its MCP server would start one: it doesn't get the environment of the test.
        alone = codex(home, endpoint, *options, "-c", "mcp_servers.herma.enabled=false", HERMAD="/nonexistent")
        alone.session = client.session
        alone.say(work(38, execute, tokens=50_000))
        alone.say(work(39, execute))
        assert len(endpoint.summaries) == 1, len(endpoint.summaries)


def pages_are_true(folder: Path) -> None:
    """The commands of docs/claude-code.md and docs/codex.md as they stand there, and what they say is written."""
    for name, program in (("claude-code", claude), ("codex", codex)):
        with Home(folder / name) as home, Endpoint() as endpoint:
            page = (PAGES / f"{name}.md").read_text()
            if name == "codex":
                home.codex = home.client / ".codex"
            client = program(home, endpoint)
            with client if name == "claude-code" else contextlib.nullcontext():
                client.say(script("yes"))
            for line in re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[0].splitlines():
                ran = home.shell(line)
                assert ran.returncode == 0, f"{line}: {ran.stdout}"
            written = re.findall(r"^\| `~/([^`]+)` \|", page, re.MULTILINE)
            assert len(written) >= 2, written
            for path in written:
                assert (home.client / path).exists(), path
            client = program(home, endpoint)
            with client if name == "claude-code" else contextlib.nullcontext():
                client.say(script("yes", words=RULE))
            sessions = json.loads(home.shell("herma session list --json").stdout)["sessions"]
            assert f"{name}:{client.session}" in [row["session"] for row in sessions], sessions
            (uninstall,) = set(re.findall(rf"`(herma hooks\s+uninstall {name})`", page))
            assert home.shell(uninstall).returncode == 0
            assert home.shell(f"herma hooks status {name}").returncode == 1
            assert home.complaints() == []


def set_up_with_one_command(folder: Path) -> None:
    """What was said before the setup is found, what is said after it is kept, and the undo takes all of it back."""
    with Home(folder) as home, Endpoint() as endpoint:
        with claude(home, endpoint) as client:
            client.say(script("the gulls nest in Ostrava"))
            before = client.session
        other = codex(home, endpoint)
        settings = home.client / ".claude" / "settings.json"
        known = settings.read_text() if settings.exists() else None
        done = home.ask("setup", "--yes")
        assert done["problems"] == [], done["problems"]
        agents = {"claude-code", "codex", "qwen-code", "gemini-cli", "pi", "opencode"} | ({"openclaw"} if shutil.which("openclaw") else set())
        assert {agent["name"] for agent in done["agents"]} == agents, done["agents"]
        steps = {(step["agent"], step["step"]): step["result"] for step in done["done"]}
        assert steps["claude-code", "imported"]["messages"] == 2, steps
        assert all(steps[agent, "capture"]["seconds"] < 5 for agent in agents), steps
        found = home.ask("recall", "where do the gulls nest")["hits"]
        assert found[0]["session"] == f"claude-code:{before}", found
        with claude(home, endpoint) as client:
            client.say(script("noted"))
            after = client.session
        other.say(script("seen"))
        for session in (f"claude-code:{after}", f"codex:{other.session}"):
            assert home.ask("session", "show", session)["messages"] == 2, session
        assert home.complaints() == []
        undone = home.run("setup", "--undo", "--yes")
        assert undone.returncode == 0, undone.stderr
        assert (settings.read_text() if settings.exists() else None) == known
        assert not list(home.client.glob("**/*.bak*")) and home.daemon() is None


def plugins_of_the_marketplace(folder: Path) -> None:
    """Both clients install herma as their users install any plugin: they keep, remember, and compact without a request."""
    with Home(folder) as home, Endpoint() as endpoint:
        # Where herma's home is if nobody names another.
        home.herma = home.client / ".local" / "share" / "herma"
        home.herma.mkdir(parents=True)
        programs, market = Path(shutil.which("herma") or "").resolve().parent, folder / "market"
        subprocess.run([REPOSITORY / "packaging" / "plugins", programs, market], check=True, capture_output=True)
        home.ask("memory", "add", "user", MEMORY)
        claude(home, endpoint).end()
        environment = claude_environment(home.client, endpoint.url)
        for words in (("marketplace", "add", str(market)), ("install", "herma@herma")):
            subprocess.run(["claude", "plugin", *words], env=environment, check=True, capture_output=True)
        with claude(home, endpoint, "mcp__plugin_herma_herma") as client:
            client.say(script("yes", words=f"{RULE} <private>The vault is behind the heron.</private> Use {SECRET} there."))
            client.say(script("seen", {"name": "mcp__plugin_herma_herma__memory", "input": remember("the user owns a cat")}))
            for number in range(1, 25):
                client.say(work(number, shell))
            client.say("/compact")
            client.say(work(25, shell))
            assert len(client.compactions()) == 1 and not endpoint.summaries, "a compaction asked the model"
            name = f"claude-code:{client.session}"
        assert RULE in windows(endpoint)[0].text and MEMORY in endpoint.turns[0].text
        row = home.ask("session", "show", name)
        assert row["generation"] == 1 and row["model"] and row["cwd"] == str(home.work), row
        assert any("8003" in hit["snippet"] for hit in home.ask("recall", "db-3 port 8003", "--around", "0")["hits"])
        assert "a cat" in home.run("memory", "list").stdout

        other = codex(home, endpoint)
        environment = codex_environment(home.codex)
        for words in (("marketplace", "add", str(market)), ("add", "herma@herma")):
            subprocess.run(["codex", "plugin", *words], env=environment, check=True, capture_output=True)
        with app_server(home) as server:
            listed = server.ask("hooks/list", cwds=[str(home.work)])["data"][0]["hooks"]
        assert len(listed) == 6 and {hook["source"] for hook in listed} == {"plugin"}, listed
        # What /hooks writes when its user trusts them.
        form = '[hooks.state."{}"]\ntrusted_hash = "{}"\ntrusted_content_hash = "{}"\n'
        trusted = [form.format(hook["key"], *hook["currentHash"].split("/")) for hook in listed]
        with (home.codex / "config.toml").open("a") as config:
            config.write("\n" + "\n".join(trusted))
        other.say(script("noted"))
        assert home.ask("session", "show", f"codex:{other.session}")["messages"] == 2
        assert home.complaints() == []
        home.run("daemon", "stop")
        kept = [file for file in home.herma.rglob("*") if file.is_file()]
        for words in (SECRET, "behind the heron"):
            assert not [file for file in kept if words.encode() in file.read_bytes()], f"{words} is kept"


def uninstalled_as_if_never_there(folder: Path) -> None:
    """Files are byte for byte what they were."""
    with Home(folder) as home:
        settings = home.client / ".claude" / "settings.json"
        settings.parent.mkdir()
        files = {
            settings: '{\n\t"model": "x", // mine\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}\n}',
            home.client / ".claude.json": '{"mcpServers":{"other":{"command":"x"}},"n":1}',
            home.client / "hooks.json": "{ }\n",
            home.client / "config.toml": "# mine\nmodel = 'x'\n\n[mcp_servers.other]\ncommand = 'y'\n",
        }
        for path, words in files.items():
            path.write_text(words)
        for client in ("claude-code", "codex"):
            home.install(client)
            assert home.run("hooks", "uninstall", client, "--yes").returncode == 0
        for path, words in files.items():
            assert path.read_text() == words, f"{path}: {path.read_text()}"
        assert not (settings.parent / "skills" / "herma").exists()


SCENES = [
    uninstalled_as_if_never_there,
    set_up_with_one_command,
    plugins_of_the_marketplace,
    claude_code_works,
    claude_code_compacts_sessions_of_every_kind,
    claude_code_reads_what_is_kept_with_default_permissions,
    claude_code_keeps_the_task_of_a_slash_command,
    claude_code_keeps_a_picture,
    a_link_that_an_upgrade_moves,
    claude_code_sessions_and_their_parents,
    claude_code_compacts_by_itself,
    claude_code_without_a_daemon,
    claude_code_and_a_daemon_that_dies,
    two_clients_on_one_home,
    codex_works,
    codex_without_a_daemon,
    codex_as_editors_use_it,
    codex_behind_the_proxy,
    pages_are_true,
    *OF_QWEN,
    *OF_GEMINI,
    *OF_PI,
    *OF_OPENCODE,
    *OF_OMP,
    *OF_OPENCLAW,
    *OF_PROXY,
    *OF_CONTINUE,
]


def main() -> int:
    """Plays the scenes whose names have one of the words in them."""
    words = sys.argv[1:]
    # Oh My Pi and OpenClaw are fetched only if they are named.
    scenes = [scene for scene in SCENES if any(word in scene.__name__ for word in words) or not words and scene not in [*OF_OMP, *OF_OPENCLAW]]
    unknown = [word for word in words if not any(word in scene.__name__ for scene in scenes)]
    if unknown:
        print(f"no scene is called {', '.join(unknown)}", file=sys.stderr)
        return 2
    failed = 0
    for scene in scenes:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="ha") as folder:
            try:
                scene(Path(folder))
                outcome = "passed"
            except Exception as error:  # noqa: BLE001: the other scenes are played too
                at = traceback.extract_tb(error.__traceback__)[-1]
                outcome, failed = f"FAILED: {type(error).__name__} in line {at.lineno}, {at.line}: {str(error)[:3000]}", 1
        print(f"{scene.__name__:<40} {time.monotonic() - began:6.1f} s  {outcome}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
