"""A real daemon with a connection to it, for measurements that talk over the socket."""

import json
import socket
import subprocess


class Daemon:
    """A daemon on a home, started by a command, and one connection."""

    def __init__(self, hermad, home, under=(), environment=None):
        self.path = home / "s"
        command = [*under, hermad, "--home", home, "--socket", self.path, "--detached"]
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if not self.process.stdout.readline().startswith(b"ready"):
            raise RuntimeError("hermad did not start")
        self.connect(self.path)

    def connect(self, path):
        self.stream = socket.socket(socket.AF_UNIX)
        self.stream.connect(str(path))
        self.lines = self.stream.makefile("rb")

    def call(self, method, params):
        """The result of a request; an error is raised."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.stream.sendall(json.dumps(request, ensure_ascii=False).encode() + b"\n")
        answer = json.loads(self.lines.readline())
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def end(self):
        self.stream.close()
        self.process.terminate()
        self.process.wait(60)
