"""A daemon on a home of its own, which is gone before its home goes."""

import contextlib
import os
import subprocess
import tempfile

import herma


@contextlib.contextmanager
def own_home():
    """A client of it."""
    with tempfile.TemporaryDirectory(prefix="hc") as home:
        command = [os.environ.get("HERMAD", "hermad"), "--home", home, "--detached"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as daemon:
            try:
                if not daemon.stdout.readline().startswith(b"ready"):
                    raise RuntimeError("hermad did not start")
                with herma.Client(home=home) as client:
                    yield client
            finally:
                daemon.terminate()
