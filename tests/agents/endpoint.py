"""A model on loopback that clients talk to: Anthropic's messages, OpenAI's responses and chat completions, and Gemini's
contents, played by a script.

What the user says holds the script of its turn (see :func:`script`). Every request is kept as it came. One that a strict
provider would refuse is refused, and ``refused`` says why.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Iterator

from judge import Use, use, violations

MARK = "PLAY "
"""What begins the script of a turn, on a line of what the user says."""

COUNT = itertools.count(1)
"""Tells scripts apart."""

CHAT = "/v1/chat/completions"
"""Where chat completions are asked for."""

GEMINI = "/v1beta/models/"
"""Where Gemini's models are asked."""

SUMMARY_TOKENS = 2_000
"""What a summary has where tokens are counted."""

SUMMARIZERS = ("You are a context summarization assistant", "Output exactly the Markdown structure shown inside <template>")
"""What pi and OpenCode say to the model that writes a summary."""

SUMMARY = "<analysis>none</analysis>\n<summary>\nThe files were read, one after the other. Summary {number}.\n</summary>"
"""What the model writes when a client asks it for a summary."""


def script(say: str, *calls: dict[str, Any] | list[dict[str, Any]], tokens: int = 1_000, words: str = "") -> str:
    """What a user says so that the model makes these calls, one round after the other, and then says ``say``. A list is
    a round of several calls.

    ``tokens`` is what the endpoint tells once as the size of the prompt, ``words`` stand before the script.
    """
    turn = {"say": say, "calls": list(calls), "tokens": tokens, "number": next(COUNT)}
    return f"{words}\n{MARK}{json.dumps(turn)}"


@dataclass
class Request:
    """What a client sent."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def is_summary(self) -> bool:
        """Whether it asks for the summary of a compaction."""
        metadata = self.headers.get("x-codex-turn-metadata")
        if metadata and json.loads(metadata).get("request_kind") == "compaction":
            return True
        if self.path.startswith(CHAT):
            listed = _messages(self.body)
            asked = text(listed[:1] + listed[-1:])
            return "<state_snapshot>" in asked or any(words in asked for words in SUMMARIZERS)
        return self.path.startswith("/v1/messages") and "<analysis>" in text(_messages(self.body)[-1:])

    @property
    def is_title(self) -> bool:
        """Whether it asks for the title of a session."""
        return self.path.startswith(CHAT) and "Generate a title for this conversation:" in text(_messages(self.body))

    @property
    def text(self) -> str:
        """All that the model reads but the tools."""
        return "\n".join((text(self.body.get("system")), text(self.body.get("instructions")), text(self.body.get("systemInstruction")), text(_messages(self.body))))


def text(value: Any) -> str:
    """The texts of a value, whatever its shape, each on lines of its own."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(text, value))
    if isinstance(value, dict):
        return "\n".join(text(part) for key, part in value.items() if key not in ("role", "type", "id"))
    return ""


def _messages(body: dict[str, Any]) -> list[Any]:
    return body.get("messages") or body.get("input") or body.get("contents") or []


def plan(messages: list[Any]) -> dict[str, Any] | None:
    """The newest script in a list, whether the user says it there or a summary quotes it."""
    found: list[dict[str, Any]] = []
    for message in messages:
        for line in text(message).splitlines() if message.get("role") == "user" else []:
            # One that is quoted may be cut.
            with contextlib.suppress(json.JSONDecodeError):
                if line.startswith(MARK):
                    found.append(json.loads(line[len(MARK):]))
    return max(found, key=lambda script: script["number"], default=None)


@dataclass
class Endpoint:
    """The server. ``requests`` are those of conversations, in their order; ``asides`` the others."""

    requests: list[Request] = field(default_factory=list)
    asides: list[Request] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Why requests were refused."""
    is_metered: bool = False
    """Whether usage is what the requests really have, with a cache that reads up to the first change. Summaries are
    as long as a model's then."""
    uses: list[Use] = field(default_factory=list)
    """Of each of ``requests``, where they are metered."""
    made: int = 0
    rounds: dict[int, int] = field(default_factory=dict)
    """Answers that were given to each script; a list that was compacted doesn't have them any more."""

    def __enter__(self) -> "Endpoint":
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        assert kind or not self.refused, f"a strict provider refuses {len(self.refused)} requests: {self.refused[:5]}"

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def summaries(self) -> list[Request]:
        """The requests for summaries."""
        return [request for request in self.requests if request.is_summary]

    @property
    def turns(self) -> list[Request]:
        """The requests of turns."""
        return [request for request in self.requests if not request.is_summary]

    def answer(self, request: Request) -> Iterator[dict[str, Any]] | list[str]:
        """The events of an answer, or why there is none."""
        wrong = violations(request.path, request.body)
        with self._lock:
            self.refused += wrong
            if wrong:
                return wrong
            self.made += 1
            number = self.made
            found = plan(_messages(request.body))
            is_part = not request.is_title and (request.is_summary or found is not None)
            found = found if is_part else None
            metered = None
            if self.is_metered and is_part:
                before = self.requests[-1].body if self.requests else None
                metered = use(before, request.body, SUMMARY_TOKENS if request.is_summary else 100)
                self.uses.append(metered)
            (self.requests if is_part else self.asides).append(request)
            summaries = len(self.summaries)
        calls: list[dict[str, Any]] = []
        say, tokens = "aside", 1_000
        if request.is_summary:
            say = SUMMARY.format(number=summaries)
            if request.path.startswith(CHAT):
                say = say.replace("summary>", "state_snapshot>")
            if self.is_metered:
                say = say.replace("one after the other.", "one after the other. " * (SUMMARY_TOKENS // 6))
                # A model repeats the task, so that the turn goes on.
                say = say.replace("</summary>", f"{MARK}{json.dumps(found)}\n</summary>") if found else say
        elif found:
            done = self.rounds.get(found["number"], 0)
            self.rounds[found["number"]] = done + 1
            say, tokens = found["say"], found["tokens"] if done == 0 else tokens
            if done < len(found["calls"]):
                calls = found["calls"][done]
                calls = calls if isinstance(calls, list) else [calls]
        used = metered or Use(0, tokens, 20)
        if request.path.startswith("/v1/responses"):
            return _responses(number, calls, say, used)
        if request.path.startswith(GEMINI):
            return _gemini(number, calls, say, used, "scripted")
        if request.path.startswith(CHAT):
            return _chat(number, calls, say, used, request.body.get("model", "model"))
        return _anthropic(number, calls, say, used, request.body.get("model", "model"))


def _anthropic(number: int, calls: list[dict[str, Any]], say: str, used: Use, model: str) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 0, "output_tokens": 1}
    usage |= {"cache_creation_input_tokens": used.write, "cache_read_input_tokens": used.read}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "content": [], "model": model}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}}
    blocks = [({"type": "text", "text": ""}, {"type": "text_delta", "text": say})]
    if calls:
        use_of = lambda at, call: {"type": "tool_use", "id": f"toolu_{number:04}_{at}", "name": call["name"], "input": {}}  # noqa: E731
        delta_of = lambda call: {"type": "input_json_delta", "partial_json": json.dumps(call["input"])}  # noqa: E731
        blocks = [(use_of(at, call), delta_of(call)) for at, call in enumerate(calls)]
    for at, (block, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": at, "content_block": block}
        yield {"type": "content_block_delta", "index": at, "delta": delta}
        yield {"type": "content_block_stop", "index": at}
    reason = "tool_use" if calls else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": used.output}}
    yield {"type": "message_stop"}


def _chat(number: int, calls: list[dict[str, Any]], say: str, used: Use, model: str) -> Iterator[dict[str, Any]]:
    chunk = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 1, "model": model}
    delta: dict[str, Any] = {"role": "assistant", "content": say}
    if calls:
        function = lambda call: {"name": call["name"], "arguments": json.dumps(call["input"])}  # noqa: E731
        named = lambda at: {"index": at, "id": f"call_{number:04}_{at}", "type": "function"}  # noqa: E731
        delta = {"role": "assistant", "tool_calls": [named(at) | {"function": function(call)} for at, call in enumerate(calls)]}
    yield {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}]}
    usage = {"prompt_tokens": used.input, "completion_tokens": used.output, "total_tokens": used.input + used.output}
    yield {**chunk, "choices": [], "usage": usage | {"prompt_tokens_details": {"cached_tokens": used.read}}}


def _gemini(number: int, calls: list[dict[str, Any]], say: str, used: Use, model: str) -> Iterator[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"text": say}]
    if calls:
        parts = [{"functionCall": {"name": call["name"], "args": call["input"]}} for call in calls]
    usage = {"promptTokenCount": used.input, "candidatesTokenCount": used.output, "totalTokenCount": used.input + used.output}
    usage |= {"cachedContentTokenCount": used.read}
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    yield {"responseId": f"gemini_{number}", "candidates": [candidate], "usageMetadata": usage, "modelVersion": model}


def _responses(number: int, calls: list[dict[str, Any]], say: str, used: Use) -> Iterator[dict[str, Any]]:
    response = {"id": f"resp_{number}", "object": "response", "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": response}
    content = [{"type": "output_text", "text": say, "annotations": []}]
    output = [{"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}]
    if calls:
        named = lambda at: {"type": "function_call", "id": f"fc_{number}_{at}", "call_id": f"call_{number:04}_{at}"}  # noqa: E731
        output = [{**named(at), **_named(call)} for at, call in enumerate(calls)]
    for at, item in enumerate(output):
        yield {"type": "response.output_item.added", "output_index": at, "item": item}
        yield {"type": "response.output_item.done", "output_index": at, "item": item}
    details = {"input_tokens_details": {"cached_tokens": used.read}, "output_tokens_details": {"reasoning_tokens": 0}}
    usage = {"input_tokens": used.input, "output_tokens": used.output, "total_tokens": used.input + used.output, **details}
    yield {"type": "response.completed", "response": {**response, "status": "completed", "output": output, "usage": usage}}


def _named(call: dict[str, Any]) -> dict[str, Any]:
    named = {"name": call["name"], "arguments": json.dumps(call["input"])}
    return {**named, "namespace": call["namespace"]} if "namespace" in call else named


def _handler(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if not self.path.startswith(("/v1/messages", "/v1/responses", CHAT, GEMINI)) or re.search("count_?tokens", self.path, re.IGNORECASE):
                return self._send("application/json", b'{"input_tokens": 1000, "totalTokens": 1000}')
            headers = {name.lower(): value for name, value in self.headers.items()}
            events = endpoint.answer(Request(self.path, headers, json.loads(body)))
            if isinstance(events, list):
                error = {"type": "invalid_request_error", "message": "; ".join(events)}
                return self._send("application/json", json.dumps({"type": "error", "error": error}).encode(), 400)
            if self.path.startswith(GEMINI) and ":generateContent" in self.path:
                return self._send("application/json", json.dumps(next(iter(events))).encode())
            if self.path.startswith(GEMINI):
                lines = "".join(f"data: {json.dumps(event)}\r\n\r\n" for event in events)
            elif self.path.startswith(CHAT):
                lines = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
            else:
                lines = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
            self._send("text/event-stream", lines.encode())

        def do_GET(self) -> None:
            self._send("application/json", b'{"data": [], "models": []}')

        def _send(self, kind: str, body: bytes, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
