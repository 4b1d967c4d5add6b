"""A home of one's own for `herma mcp`, and the daemon that serves it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PATIENCE = 30


class Home:
    """A folder with a short path; whatever serves it ends with the block."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="hm", dir="/tmp")
        self.env = {"HERMA_HOME": self.path, "HERMAD": os.environ["HERMAD"], "PATH": os.environ["PATH"]}
        return self

    def __exit__(self, *_):
        subprocess.run(["herma", "daemon", "stop"], env=self.env, capture_output=True, timeout=PATIENCE)
        # The daemon may be at its last file.
        shutil.rmtree(self.path, ignore_errors=True)

    def herma(self, *arguments):
        """Runs a command and gives its result."""
        command = ["herma", "--json", *arguments]
        ran = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=PATIENCE, check=True)
        return json.loads(ran.stdout)

    def entries(self, target):
        return self.herma("memory", "list", target)[target]["entries"]

    def kill_daemon(self):
        """Ends the daemon as a power cut would, and waits until it is gone, or another one is there for a client."""
        pid = self.daemon()
        os.kill(pid, signal.SIGKILL)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                with socket.socket(socket.AF_UNIX) as probe:
                    probe.connect(f"{self.path}/herma/hermad.sock")
            except (ConnectionRefusedError, FileNotFoundError):
                return
            if self.daemon() not in (None, pid):
                return
        raise TimeoutError("the daemon goes on")

    def daemon(self):
        """The process that the lock names; `None` while one begins."""
        with open(f"{self.path}/herma/hermad.lock") as lock:
            words = lock.read().split()
        return int(words[1]) if len(words) > 1 else None
