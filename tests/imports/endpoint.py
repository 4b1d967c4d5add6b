"""A model's endpoint that says what the script says: Anthropic's messages and OpenAI's responses, as events.

Each turn it calls a shell once and then answers with words that the test looks for.
"""

import http.server
import itertools
import json
import threading

PORTS = {"heron": "48213", "stork": "51507"}


def events(items):
    return "".join(f"event: {item['type']}\ndata: {json.dumps(item)}\n\n" for item in items).encode()


def messages(body, number):
    """What Anthropic's endpoint says next."""
    last = json.dumps([message for message in body["messages"] if message["role"] == "user"][-1])
    calls = bool(body.get("tools")) and "tool_result" not in last and "summar" not in last.lower()
    if calls:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {}}
        command = json.dumps({"command": f"echo the heron listens on {PORTS['heron']}"})
        delta = {"type": "input_json_delta", "partial_json": command}
    else:
        block = {"type": "text", "text": ""}
        text = f"<summary>It was about birds.</summary> Heron answer {number}."
        delta = {"type": "text_delta", "text": text}
    usage = {"input_tokens": 1000, "output_tokens": 9}
    start = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m-1", "content": []}
    return events(
        [
            {"type": "message_start", "message": {**start, "stop_reason": None, "usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use" if calls else "end_turn"}, "usage": usage},
            {"type": "message_stop"},
        ]
    )


def responses(body, number):
    """What OpenAI's endpoint says next."""
    last = body["input"][-1] if isinstance(body.get("input"), list) else {}
    if last.get("type") == "function_call_output":
        content = [{"type": "output_text", "text": f"Stork answer {number}.", "annotations": []}]
        item = {"type": "message", "id": f"m_{number}", "role": "assistant", "status": "completed", "content": content}
    else:
        arguments = json.dumps({"cmd": f"echo the stork listens on {PORTS['stork']}"})
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": "exec_command"}
        item["arguments"] = arguments
    usage = {"input_tokens": 100, "output_tokens": 5, "total_tokens": 105}
    response = {"id": f"r_{number}"}
    return events(
        [
            {"type": "response.created", "response": response},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {**response, "usage": usage, "output": [item]}},
        ]
    )


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    numbers = itertools.count()

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(b'{"data": []}', "application/json")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
        if "count_tokens" in self.path:
            return self.answer(b'{"input_tokens": 1000}', "application/json")
        say = messages if "/messages" in self.path else responses
        self.answer(say(body, next(self.numbers)), "text/event-stream")

    def answer(self, body, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def serve():
    """Begins to serve on a free port of the loopback; answers the address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"
