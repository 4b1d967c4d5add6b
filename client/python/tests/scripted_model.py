"""A model on loopback that asks for what a script says, and keeps what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ScriptedModel:
    """Answers each request with the next calls of the memory tool, and with a text at the end."""

    def __init__(self, turns: Iterable[list[dict]]) -> None:
        self.turns = list(turns)
        self.requests: list[dict] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                answer = json.dumps(model.answer(json.loads(body))).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> ScriptedModel:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: dict) -> dict:
        self.requests.append(request)
        at = len(self.requests) - 1
        calls = self.turns[at] if at < len(self.turns) else []
        content = [
            {"type": "tool_use", "id": f"toolu_{at}_{place}", "name": "memory", "input": call}
            for place, call in enumerate(calls)
        ]
        return {
            "id": f"msg_{at}",
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": content or [{"type": "text", "text": "Done."}],
            "stop_reason": "tool_use" if content else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    def results(self) -> list[tuple[str, bool]]:
        """What the model was told of its calls, in their order, and which were errors."""
        told = []
        for message in self.requests[-1]["messages"]:
            if message["role"] == "user" and isinstance(message["content"], list):
                for block in message["content"]:
                    if block["type"] == "tool_result":
                        text = block["content"]
                        text = text if isinstance(text, str) else "".join(b["text"] for b in text)
                        told.append((text, bool(block.get("is_error"))))
        return told
