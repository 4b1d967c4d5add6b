"""The long run: one conversation with everything in it that happens to an agent."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Callable
from typing import Any

import files
from endpoint import answer
from judge import Message, text
from player import Player
from run import Run
from steps import Overflow, Say, Slow, Step, call

TURNS = 60
QUICK = 20

HELD = 15.0
"""Seconds that a turn may take while the daemon stands still."""

OVERFLOW = 25
"""The turn whose prompt is refused whatever its size: a window smaller than it was said to be."""

NEARLY_FULL = 36
"""The turn from which on a prompt is refused once, as soon as it is nearly too long."""

REFUSED = 45_000
"""Tokens of a prompt that is nearly too long."""

RESTART = 48
"""The turn before which the agent's process ends, and another goes on with the session."""

LEAST = 4
"""Compressions of the long run."""

TODO = [
    {"id": "1", "content": "Read the files", "status": "in_progress"},
    {"id": "2", "content": "Tell what they say", "status": "pending"},
]

PLAYER = re.compile(r"\[turn ([abc])-\d+\]")
"""Who was asked for a turn; each has conversations of its own."""

NOTHING = 1
"""Exit code of a search that finds nothing."""

SUB_TASK = 11
"""The turn that is a sub-task of its own; the model says where it begins and that it is done."""

SUB_TASK_TITLE = "read file eleven"

DISCARDED = 7
"""The file that the model is done with then."""

HANDLE = re.compile(r'"handle":\s*"([^"]+)"')


def play(run: Run, *, quick: bool) -> None:
    """One agent's conversation, and then two at the same time."""
    with_herma = run.engine == "herma"
    turns = QUICK if quick else TURNS
    files.write(run.home.work, turns)
    special: dict[int, list[Step]] = {
        6: [call("todo", todos=TODO)],
        8: [call("memory", action="add", target="user", content="Likes lighthouses.")],
        9: [call("terminal", command=f"cat {files.BIG}"), files.read_spilled],
        10: [call("delegate_task", goal="[turn s-1] Say hello.", context="Nothing.")],
        OVERFLOW: [Overflow(), *files.steps(OVERFLOW)],
    }
    if with_herma:
        special[SUB_TASK] = [
            call("context_episode", action="open", title=SUB_TASK_TITLE),
            *files.steps(SUB_TASK),
            call(
                "context_episode", action="close", title=SUB_TASK_TITLE, outcome="nothing in it"
            ),
            call("context_discard", calls=[f"{DISCARDED}.txt", files.BIG], reason="was read"),
        ]
        special[min(40, turns - 2)] = [call("recall_search", query=files.MARKER), _expand]
    player = Player(run.home, "a")
    try:
        for number in range(turns):
            steps = special.get(number) or files.steps(number)
            if not quick and number == RESTART:
                player = _again(run, player)
            if not quick and number == NEARLY_FULL:
                run.endpoint.overflow_above = REFUSED
            if with_herma and not quick and number in DAEMON:
                DAEMON[number](run, player, number, steps)
            else:
                run.turn(player, number, *steps)
        if not quick:
            _commands(run, player, turns)
    finally:
        player.__exit__()
    _both(run, 2 if quick else 6)
    _look(run, with_herma=with_herma, quick=quick, recalled=min(40, turns - 2))


def _expand(messages: list[Message]) -> Step:
    found = HANDLE.search(text(messages[-1]))
    if found is None:
        return Say(f"recall found nothing: {text(messages[-1])[:300]}")
    return call("recall_expand", handle=found.group(1))


def _killed(run: Run, player: Player, number: int, steps: list[Step]) -> None:
    """The daemon dies between two turns."""
    run.expect(run.home.kill_daemon(), f"there was no daemon to kill before turn {number}")
    run.turn(player, number, *steps, fault="killed before")


def _killed_within(run: Run, player: Player, number: int, steps: list[Step]) -> None:
    """The daemon dies while the model thinks."""
    timer = threading.Timer(0.3, run.home.kill_daemon)
    timer.start()
    run.turn(
        player,
        number,
        *steps,
        Slow(0.8, Say(answer(f"{player.name}-{number}"))),
        fault="killed within",
    )
    timer.join()


def _stopped(run: Run, player: Player, number: int, steps: list[Step]) -> None:
    """The daemon stands still for a whole turn."""
    run.expect(run.home.stop_daemon(), f"there was no daemon to stop before turn {number}")
    timer = threading.Timer(HELD, run.home.resume_daemon)
    timer.start()
    done = run.turn(player, number, *steps, fault="stopped")
    timer.cancel()
    timer.join()
    run.home.resume_daemon()
    held = done.get("seconds", 0.0)
    run.expect(held < HELD, f"turn {number} was held for {held:.0f} s by a daemon that stood still")


DAEMON: dict[int, Callable[[Run, Player, int, list[Step]], None]] = {
    18: _killed,
    30: _killed_within,
    34: _stopped,
}
"""Turns in which something happens to the daemon."""


def _again(run: Run, player: Player) -> Player:
    """Ends the agent's process, and goes on with its session in another one."""
    session = run.command(player, "state").get("session")
    player.__exit__()
    return Player(run.home, player.name, session=session)


def _commands(run: Run, player: Player, number: int) -> None:
    """/compress, /new and /resume, with turns after each."""
    run.command(player, "compress", focus="files")
    after = run.turn(player, f"{number}", *files.steps(1))
    kept = after.get("messages", 0)
    run.command(player, "new")
    fresh = run.turn(player, f"{number + 1}", *files.steps(0))
    run.expect(fresh.get("messages") == 4, f"after /new there are {fresh.get('messages')} messages")
    run.turn(player, f"{number + 2}", *files.steps(1))
    run.command(player, "resume", session=after.get("session"))
    back = run.turn(player, f"{number + 3}", *files.steps(2))
    run.expect(
        back.get("messages", 0) >= kept,
        f"/resume lost messages: {kept}, then {back.get('messages')}",
    )


def _both(run: Run, turns: int) -> None:
    """Two agents on the home at the same time."""

    def one(name: str) -> None:
        with Player(run.home, name) as player:
            for number in range(turns):
                run.turn(player, number, *files.steps(number))

    threads = [threading.Thread(target=one, args=(name,)) for name in ("b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _look(run: Run, *, with_herma: bool, quick: bool, recalled: int) -> None:
    """Whether herma did what it is there for."""
    record = run.endpoint.record
    run.judge_lists()
    run.judge_prefixes()
    spilled = "\n".join(record.results.get("a-9", []))
    run.expect(
        files.last_big_line() in spilled, f"the spilled output can't be read: {spilled[-300:]!r}"
    )
    user = (run.home.path / "memories" / "USER.md").read_text()
    run.expect("lighthouses" in user, f"the memory tool did not write what it was told: {user!r}")
    overflows = len(record.overflows)
    run.expect(overflows == (0 if quick else 2), f"there were {overflows} overflows")
    run.expect("s-1" in {request.turn for request in record.requests}, "there was no subagent")
    if not with_herma:
        return
    least = 1 if quick else LEAST
    run.expect(run.compressions >= least, f"only {run.compressions} compressions, not {least}")
    found = "\n".join(record.results.get(f"a-{recalled}", []))
    run.expect(files.MARKER in found, f"recall did not bring the marker back: {found[:300]!r}")
    _sub_task(run)
    _archive(run)


def _sub_task(run: Run) -> None:
    """Whether what the model said it is done with was done."""
    results = run.endpoint.record.results.get(f"a-{SUB_TASK}", [])
    run.expect(
        sum('"open": []' in one and '"messages": 0' not in one for one in results) == 1,
        f"the sub-task was not closed: {[one[:200] for one in results]}",
    )
    run.expect(
        any('"outputs": ' in one for one in results),
        f"nothing was discarded: {[one[:200] for one in results]}",
    )
    handoffs = "\n".join(run.endpoint.record.handoffs)
    line = f"- {SUB_TASK_TITLE} ("
    run.expect(line in handoffs, f"no handoff tells of the sub-task: {handoffs[-300:]!r}")


def _said(run: Run, session: str) -> list[dict[str, Any]]:
    """What of a session speaks of turns; nothing where the command finds nothing."""
    try:
        found = run.home.herma("recall", "turn", "--session", session, "--limit", "100", "--around", "0")
    except subprocess.CalledProcessError as error:
        if error.returncode != NOTHING:
            raise
        return []
    hits: list[dict[str, Any]] = found["hits"]
    return hits


def _archive(run: Run) -> None:
    """What the daemon says of its own work."""
    try:
        sessions = run.home.herma("session", "list")["sessions"]
        hits = run.home.herma("recall", files.MARKER)["hits"]
        status = run.home.herma("status")
    except subprocess.CalledProcessError as error:
        return run.fail(f"herma says {error.stderr.strip()}")
    for one in run.home.herma("session", "list", "--raw", "--limit", "1000")["sessions"]:
        found = _said(run, one["session"])
        names = {name for hit in found for name in PLAYER.findall(hit["snippet"])}
        run.expect(len(names) < 2, f"session {one['session']} has turns of {sorted(names)}")
    run.expect(sum(one["messages"] for one in sessions), "the archive has no messages")
    run.expect(
        any(one["generation"] for one in sessions), "no session of the daemon was compressed"
    )
    options = run.home.options or []
    if "--results" in options:
        run.expect(status["outputs"]["files"], "the daemon keeps no output")
    run.expect(hits, "herma recall does not find the marker")
    run.expect(status["archive"]["state"] == "ok", f"the archive is {status['archive']}")
    return None
