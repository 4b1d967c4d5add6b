"""What the programs of this folder share: a PostgreSQL of their own, and JSON lines to a daemon."""

import contextlib
import json
import os
import signal
import socket
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
DAEMON = os.environ.get("HERMAD", str(HERE.parent.parent / "target/release/hermad"))


def programs():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else Path("/usr/bin")


class Server:
    """A PostgreSQL with the tables, and a role that may use them."""

    def __init__(self, folder):
        self.folder, self.bin = folder, programs()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        if os.geteuid() == 0:
            subprocess.run(["chown", "postgres", folder], check=True)
        self.run("initdb", "-D", f"{folder}/data", "-U", "owner", "-A", "trust", "--no-instructions")
        self.start()
        self.sql("postgres", "CREATE DATABASE herma")
        self.sql("postgres", "CREATE ROLE agents LOGIN")

    def run(self, name, *arguments):
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.geteuid() == 0 else []
        subprocess.run([*user, str(self.bin / name), *arguments], check=True, cwd="/tmp", stdout=subprocess.DEVNULL,
                       env={**os.environ, "PGCTLTIMEOUT": "300"})

    def sql(self, database, statement):
        command = [str(self.bin / "psql"), "-h", "127.0.0.1", "-p", str(self.port), "-U", "owner", "-AtXq"]
        return subprocess.run([*command, "-c", statement, database], check=True, capture_output=True, text=True).stdout

    def freeze(self, stops):
        first = int(Path(f"{self.folder}/data/postmaster.pid").read_text().split("\n")[0])
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(first)], capture_output=True, text=True).stdout
        for pid in [first, *map(int, children.split())]:
            # A worker may have ended meanwhile.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP if stops else signal.SIGCONT)

    def start(self):
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1"
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-l", f"{self.folder}/log", "-o", options, "start")

    def crash(self):
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "-w", "stop")

    def stop(self):
        """Ends it, and removes what it wrote."""
        if Path(f"{self.folder}/data/postmaster.pid").exists():
            self.crash()
        subprocess.run(["rm", "-rf", self.folder], check=True)


class Connection:
    """JSON lines to a daemon."""

    def __init__(self, home):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(f"{home}/herma/hermad.sock")
        self.lines = self.socket.makefile("rb")
        self.last = 0

    def send(self, method, **params):
        self.last += 1
        line = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        self.socket.sendall(json.dumps(line).encode() + b"\n")

    def read(self):
        return json.loads(self.lines.readline())

    def ask(self, method, **params):
        self.send(method, **params)
        answer = self.read()
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        return answer["result"]
