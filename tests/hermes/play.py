"""Plays a real agent inside a host's own Python.

Turns come as JSON lines on standard input, and a JSON line for each goes to the file
descriptor that ``--out`` names.

``{"user": "words"}`` is a turn, ``{"command": "new"}`` what a user does with a slash. With
``"before": "compress"`` the line ``{"before": "compress"}`` comes when the host is about to
call that of its engine, and the call waits for another line of input.

The agent is the host's ``HermesCLI``, as ``hermes chat`` makes it; its session is kept, so
that another process can go on with it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import watch

sys.path.append(sys.path.pop(0))  # The host's own modules come first.


class Hermes:
    """One agent, and the conversation that it is in."""

    def __init__(self, session: str | None) -> None:
        import cli
        from hermes_cli.tools_config import _get_platform_tools

        toolsets = sorted(_get_platform_tools(cli.CLI_CONFIG, "cli"))
        self.cli = cli.HermesCLI(toolsets=toolsets, compact=True, resume=session)
        self.said: list[str] = []
        """Warnings and states that the host showed its user."""

    def turn(self, order: dict[str, Any]) -> dict[str, Any]:
        """One turn, as if somebody had typed it."""
        response = self.cli.chat(order["user"])
        return {"response": response}

    def command(self, order: dict[str, Any]) -> dict[str, Any]:
        """What a user does with a slash."""
        name = order["command"]
        if name == "new":
            self.cli.new_session(silent=True)
        elif name == "resume":
            self.cli._handle_resume_command(f"/resume {order['session']}")
        elif name == "compress":
            self.cli._manual_compress("/compress " + order.get("focus", ""))
        elif name == "close":
            import cli

            cli._run_cleanup()
        elif name != "state":
            raise ValueError(f"there is no command {name!r}")
        return {}

    def state(self) -> dict[str, Any]:
        """Which engine is at work, and how far it is."""
        agent = self.cli.agent
        engine = getattr(agent, "context_compressor", None)
        found = {
            "session": self.cli.session_id,
            "messages": len(self.cli.conversation_history),
            "roles": [message.get("role") for message in self.cli.conversation_history],
        }
        if engine is None:
            return found
        provider = getattr(agent, "_memory_manager", None)
        return {
            **found,
            "engine": engine.name,
            "module": type(engine).__module__,
            "compressions": engine.compression_count,
            "threshold": engine.threshold_tokens,
            "report": getattr(engine, "last_report", None),
            "providers": [one.name for one in getattr(provider, "providers", [])],
            "tools": sorted(agent.valid_tool_names),
        }

    def listen(self) -> None:
        """Keeps what the host tells its user besides answers."""
        agent = self.cli.agent
        if agent is None or getattr(agent, "status_callback", None) is not None:
            return
        agent.status_callback = lambda kind, text, *_: self.said.append(f"{kind}: {text}")


def attempt(work: Callable[..., dict[str, Any]], *about: Any) -> dict[str, Any]:
    """What came of it; an exception is told, not raised."""
    try:
        return work(*about)
    except BaseException as error:
        return {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}


def gate(call: str | None, lines: Any, out: Any) -> Callable[[str], None]:
    """Stands before a call of that name until a line comes, once."""
    closed = [call]

    def pass_by(name: str) -> None:
        if name != closed[0]:
            return
        closed[0] = None
        send(out, {"before": name})
        lines.readline()

    return pass_by


def send(out: Any, value: dict[str, Any]) -> None:
    """Writes a line, at once."""
    out.write(json.dumps(value, default=str) + "\n")
    out.flush()


def play(lines: Any, out: Any, session: str | None) -> None:
    """Does what the lines say until there are no more, or one is ``quit``."""
    timed = watch.Calls()
    hermes = Hermes(session)
    for line in iter(lines.readline, ""):
        order = json.loads(line)
        if order.get("command") == "quit":
            break
        started = time.monotonic()
        timed.before = gate(order.get("before"), lines, out)
        done = attempt(hermes.turn if "user" in order else hermes.command, order)
        done["seconds"] = time.monotonic() - started
        done.update(attempt(hermes.state))
        done["calls"] = timed.take()
        done["said"], hermes.said = hermes.said, []
        send(out, done)
        hermes.listen()


def main() -> None:
    """Moves the lines away from where the host reads and prints."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--out", type=int, required=True)
    arguments.add_argument("--resume")
    given = arguments.parse_args()
    lines = os.fdopen(os.dup(0), encoding="utf-8")
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    sys.argv = ["hermes"]
    os.environ["HERMES_INTERACTIVE"] = "1"
    with os.fdopen(given.out, "w", encoding="utf-8") as out, contextlib.suppress(BrokenPipeError):
        play(lines, out, given.resume)


if __name__ == "__main__":
    main()
