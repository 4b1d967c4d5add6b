"""What a strict provider refuses, and what a request costs where the provider keeps a prompt cache."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

MARKS = 4
"""Cache marks that Anthropic takes in one request."""

CHARS_PER_TOKEN = 4
"""A rough tokenizer: the same one for every request."""

READ, WRITE, OUTPUT = 0.1, 1.25, 5.0
"""What a token costs that is read from the cache, written into it, and generated, in tokens of plain input: Anthropic's
prices by ratio (docs.anthropic.com, prompt caching; a write that lives five minutes)."""


def violations(path: str, body: dict[str, Any]) -> list[str]:
    """Why a strict provider would refuse a request; empty if it would not."""
    if path.startswith("/v1/responses"):
        return _of_responses(body.get("input") or [])
    if path.startswith("/v1beta/models/"):
        return _of_contents(body["contents"])
    if path.startswith("/v1/chat/completions"):
        return _of_chat(body.get("messages") or [])
    return _of_messages(body)


def _of_messages(body: dict[str, Any]) -> list[str]:
    found: list[str] = []
    # Claude Code sends what hooks say as messages of the system; a gateway takes them out.
    messages = [message for message in body.get("messages") or [] if message["role"] != "system"]
    if not messages or messages[0]["role"] != "user":
        found.append("the first message is not the user's")
    ids: set[str] = set()
    for at, message in enumerate(messages):
        blocks = _blocks(message)
        if at and message["role"] == messages[at - 1]["role"]:
            found.append(f"messages {at - 1} and {at} are both the {message['role']}'s")
        if not blocks:
            found.append(f"message {at} is empty")
        found += [f"message {at} has an empty text" for block in blocks if block["type"] == "text" and not block["text"].strip()]
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        found += [f"{call} is called twice" for call in calls if call in ids]
        ids.update(calls)
        behind = _blocks(messages[at + 1]) if at + 1 < len(messages) else []
        answered = [block["tool_use_id"] for block in behind if block["type"] == "tool_result"]
        if sorted(calls) != sorted(answered):
            found.append(f"message {at} calls {calls}, and the next one answers {answered}")
        kinds = [block["type"] == "tool_result" for block in blocks]
        if kinds != sorted(kinds, reverse=True):
            found.append(f"message {at} has something before a result")
    if messages and any(block["type"] == "tool_result" for block in _blocks(messages[0])):
        found.append("the first message answers a call")
    marks = json.dumps([body.get("system"), body.get("tools"), messages]).count('"cache_control"')
    if marks > MARKS:
        found.append(f"{marks} cache marks")
    return found


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _of_contents(contents: list[dict[str, Any]]) -> list[str]:
    wrong = [] if contents and contents[0]["role"] == "user" else ["the first content is not the user's"]
    calls: list[str] = []
    for content in contents:
        answered = [part["functionResponse"]["name"] for part in content["parts"] if "functionResponse" in part]
        if sorted(answered) != sorted(calls):
            wrong.append(f"calls {calls} are answered by {answered}")
        calls = [part["functionCall"]["name"] for part in content["parts"] if "functionCall" in part]
    return wrong


def _of_chat(messages: list[dict[str, Any]]) -> list[str]:
    found: list[str] = []
    due: list[str] = []
    for at, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in due:
                found.append(f"message {at} answers {message['tool_call_id']}, which is not called right before it")
            due = [call for call in due if call != message["tool_call_id"]]
            continue
        found += [f"{call} has no answer before message {at}" for call in due]
        due = [call["id"] for call in message.get("tool_calls") or []]
        if not message.get("content") and not due:
            found.append(f"message {at} is empty")
    return found + [f"{call} has no answer" for call in due]


def _of_responses(items: list[dict[str, Any]]) -> list[str]:
    found: list[str] = []
    calls: set[str] = set()
    for at, item in enumerate(items):
        kind = item.get("type", "message")
        if kind.endswith("_call_output"):
            if item["call_id"] not in calls:
                found.append(f"item {at} answers {item['call_id']}, which is not called before it")
            calls.discard(item["call_id"])
        elif kind.endswith("_call") and "call_id" in item:
            calls.add(item["call_id"])
        elif kind == "message" and not item.get("content"):
            found.append(f"item {at} is empty")
    return found + [f"{call} has no answer" for call in sorted(calls)]


def parts(body: dict[str, Any]) -> list[str]:
    """What a provider reads, in the order in which it caches it, without the marks."""
    listed = body.get("messages") or body.get("input") or []
    read = [body.get("tools") or [], body.get("system") or body.get("instructions") or "", *listed]
    return [json.dumps(_unmarked(part), sort_keys=True) for part in read]


def _unmarked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unmarked(part) for part in value]
    if isinstance(value, dict):
        # A string is one block with that text.
        content = {"content": [{"type": "text", "text": value["content"]}]} if isinstance(value.get("content"), str) else {}
        return {key: _unmarked(part) for key, part in (value | content).items() if key != "cache_control"}
    return value


@dataclass
class Use:
    """Tokens of a request as a provider would count them."""

    read: int
    write: int
    output: int

    @property
    def input(self) -> int:
        """All that the model reads."""
        return self.read + self.write

    @property
    def cost(self) -> float:
        """In tokens of plain input."""
        return self.read * READ + self.write * WRITE + self.output * OUTPUT


def use(before: dict[str, Any] | None, body: dict[str, Any], output: int) -> Use:
    """Returns the use of a request after another one: the provider reads everything before the first change from the cache."""
    old, new = parts(before) if before else [], parts(body)
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    tokens = lambda texts: sum(map(len, texts)) // CHARS_PER_TOKEN  # noqa: E731
    return Use(tokens(new[:same]), tokens(new[same:]), output)
