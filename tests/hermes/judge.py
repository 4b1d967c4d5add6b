"""What is wrong with a list of messages that a host sends, by the rules of OpenAI's API."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

Message = dict[str, Any]

RECALLED = re.compile(r"\s*<memory-context>.*?</memory-context>", re.DOTALL)
"""What a memory provider recalls: the host puts it behind the user's words for one turn."""

TODO = "[Your active task list was preserved"
"""How the message begins that a host itself appends after a compression."""


def faults(messages: list[Message]) -> list[str]:
    """Every broken rule, in words; an empty list for a valid one."""
    if not messages:
        return ["the list is empty"]
    found = []
    if messages[0].get("role") != "system":
        found.append("the first message is not the system's")
    return found + _roles(messages) + _contents(messages) + _calls(messages)


def _roles(messages: list[Message]) -> list[str]:
    """A second system message, and neighbours of one role."""
    found = []
    for at, (before, message) in enumerate(zip(messages, messages[1:]), 1):
        role = message.get("role")
        if role not in ("user", "assistant", "tool"):
            found.append(f"message {at} is of the role {role!r}")
        elif role == before.get("role") and role != "tool" and not text(message).startswith(TODO):
            found.append(f"messages {at - 1} and {at} are both of the role {role}")
    return found


def _contents(messages: list[Message]) -> list[str]:
    """Messages that say nothing."""
    found = []
    for at, message in enumerate(messages):
        has_any = text(message).strip() or message.get("tool_calls")
        if not has_any and message.get("role") != "tool":
            found.append(f"message {at} ({message.get('role')}) is empty")
    return found


def _calls(messages: list[Message]) -> list[str]:
    """Calls without an answer, answers without a call, and calls that are no JSON."""
    found: list[str] = []
    waiting: dict[str, int] = {}
    for at, message in enumerate(messages):
        if message.get("role") == "tool":
            name = message.get("tool_call_id", "")
            if waiting.pop(name, None) is None:
                found.append(f"message {at} answers {name!r}, which nobody called here")
            continue
        found += [
            f"the call {name!r} of message {made} has no answer" for name, made in waiting.items()
        ]
        waiting = {}
        for call in message.get("tool_calls") or []:
            if call.get("id") in waiting:
                found.append(f"message {at} has the call {call.get('id')!r} twice")
            waiting[call.get("id", "")] = at
            try:
                json.loads(call["function"]["arguments"] or "{}")
            except (KeyError, TypeError, ValueError):
                found.append(f"the arguments of {call.get('id')!r} are no JSON")
    return found + [
        f"the call {name!r} of message {made} has no answer" for name, made in waiting.items()
    ]


def text(message: Message) -> str:
    """The words of a message, in either of the two forms of ``content``."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def said(message: Message) -> str:
    """The words of a message without those that a provider recalled for it."""
    return RECALLED.sub("", text(message))


def fingerprint(message: Message) -> str:
    """A hash of what a provider's cache would compare."""
    kept = {name: message.get(name) for name in ("role", "content", "tool_calls", "tool_call_id")}
    kept["content"] = said(message)
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]


def first_difference(before: list[str], after: list[str]) -> int | None:
    """Where the second list stops being the first one with more behind it; ``None`` if it is."""
    for at, mark in enumerate(before):
        if at >= len(after) or after[at] != mark:
            return at
    return None
