"""OpenAI's chat completions over HTTP on loopback, whole or in pieces."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from steps import Call, Overflow, Say, Slow, Step

WINDOW = 64_000
"""Tokens; the least that hosts accept."""

CHARS = 4
"""Chars of a token, as hosts estimate them."""

OVERFLOW = (
    "This model's maximum context length is {window} tokens. However, your messages resulted in "
    "{tokens} tokens. Please reduce the length of the messages."
)


class Server:
    """Listens on a port of its own; ``decide`` gives the answer to a request's body."""

    def __init__(self, decide: Callable[[dict[str, Any]], Step]) -> None:
        handler = type("Handler", (_Handler,), {"decide": staticmethod(decide)})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """The base URL for a host's configuration."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        """Stops listening."""
        self._server.shutdown()
        self._server.server_close()


def next_id() -> str:
    """An id for a call or an answer."""
    return uuid.uuid4().hex[:12]


def tokens(body: dict[str, Any]) -> int:
    """The size of a prompt."""
    return len(json.dumps([body.get("messages"), body.get("tools")], ensure_ascii=False)) // CHARS


class _Handler(BaseHTTPRequestHandler):
    """A connection of a host."""

    decide: Callable[[dict[str, Any]], Step]
    protocol_version = "HTTP/1.1"

    def log_message(self, *about: Any) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        """The list of models."""
        if not self.path.rstrip("/").endswith("/models"):
            return self._json(404, {"error": {"message": "not found"}})
        model = {"id": "scripted", "object": "model", "context_length": WINDOW}
        return self._json(200, {"object": "list", "data": [model]})

    def do_POST(self) -> None:
        """An answer of the model."""
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if not self.path.rstrip("/").endswith("/chat/completions"):
            return self._json(404, {"error": {"message": "not found"}})
        step = self.decide(body)
        while isinstance(step, Slow):
            time.sleep(step.seconds)
            step = step.then
        if isinstance(step, Overflow):
            words = OVERFLOW.format(window=WINDOW, tokens=WINDOW + 1_000)
            error = {
                "message": words,
                "type": "invalid_request_error",
                "code": "context_length_exceeded",
            }
            return self._json(400, {"error": error})
        reply = self._reply(step, body)
        return self._stream(reply, body) if body.get("stream") else self._json(200, reply)

    def _reply(self, step: Step, body: dict[str, Any]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if isinstance(step, Say):
            message["content"] = step.text
        elif isinstance(step, Call):
            message["tool_calls"] = [
                {
                    "id": f"call_{next_id()}",
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(arguments)},
                }
                for name, arguments in step.calls
            ]
        prompt, said = tokens(body), len(json.dumps(message)) // CHARS
        return {
            "id": f"chatcmpl-{next_id()}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": body.get("model", "scripted"),
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
                }
            ],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": said,
                "total_tokens": prompt + said,
            },
        }

    def _json(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, reply: dict[str, Any], body: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for chunk in _chunks(reply):
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")


def _chunks(reply: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same answer in pieces: role, words or calls, the reason of the end, usage."""
    choice = reply["choices"][0]
    message = choice["message"]
    head = {
        **{name: reply[name] for name in ("id", "created", "model")},
        "object": "chat.completion.chunk",
    }

    def piece(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    yield piece({"role": "assistant", "content": ""})
    for at in range(0, len(message["content"] or ""), 200):
        yield piece({"content": message["content"][at : at + 200]})
    for at, one in enumerate(message.get("tool_calls", [])):
        yield piece({"tool_calls": [{"index": at, **one}]})
    yield piece({}, choice["finish_reason"])
    yield {**head, "choices": [], "usage": reply["usage"]}
