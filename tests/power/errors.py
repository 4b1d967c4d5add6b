"""Disk errors: `errors.py HERMAD [--every N] [--seed N]`.

A daemon works for several clients while one call on a file of its home fails with EIO: the first of its
kind, the second, and so on until none is left to fail; once, and from there on for ever. After that a
daemon without faults has everything that was answered, and the one that met the fault did not end.

Exit codes: 0 nothing was lost, 1 something was, 2 it could not be tried.
"""

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import workload
from cuts import CONFIG, Daemon

# What a write is made of, and what is read for it.
KINDS = (
    "openat", "read", "pread64", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "fallocate",
    "renameat", "unlink", "mkdir", "fchmod", "statx", "newfstatat", "getdents64", "flock",
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("hermad")
    parser.add_argument("--rounds", type=int, default=4, help="requests of each client (4)")
    parser.add_argument("--every", type=int, default=1, help="let only every so manyth call fail (1)")
    arguments = parser.parse_args()
    if not shutil.which("strace"):
        print("there is no strace")
        return 2
    wrong: list[str] = []
    tried = 0
    for kind in KINDS:
        failing = 0
        for forever in (False, True):
            number = 1
            while True:
                hit, words = try_one(arguments.hermad, kind, number, forever, arguments.rounds)
                if not hit:
                    break
                tried, failing = tried + 1, failing + 1
                wrong += words
                number += arguments.every
        print(f"{kind}: {failing} calls failed, {len(wrong)} losses so far", flush=True)
    for words in wrong[:20]:
        print(words)
    print(f"{tried} failing calls: {len(wrong)} losses")
    return 1 if wrong else 0


def try_one(hermad: str, kind: str, number: int, forever: bool, rounds: int) -> tuple[bool, list[str]]:
    """Whether a call failed at all, and what was lost by it."""
    what = f"{kind} {number}{' and all after it' if forever else ''}"
    with tempfile.TemporaryDirectory(prefix="pe", dir="/tmp") as name:
        home, log = Path(name) / "h", Path(name) / "trace"
        (home / "herma").mkdir(parents=True, mode=0o700)
        (home / "herma/config.toml").write_text(CONFIG)
        daemon = Daemon(hermad, home)
        # A file that is there already, so that the fault meets a daemon at work and not at its start.
        warm = workload.Client(daemon.socket, first=9_000_000)
        warm.call("memory.add", target="memory", content="it was there before")
        warm.call("memory.add", target="user", content="too")
        warm.call("memory.remove", target="user", old_text="too")
        warm.call("output.admit", session="warm", tool="t", id="i", content="so it was", threshold=0)
        rule = f"inject={kind}:error=EIO:when={number}{'+' if forever else ''}"
        strace = attach(daemon.process.pid, rule, log, home if kind in ("read", "write") else None)
        actors = workload.run(daemon.socket, rounds, tolerant=True)
        ended = daemon.process.poll()
        strace.send_signal(signal.SIGTERM)
        strace.wait()
        daemon.kill()
        hit = "(INJECTED)" in log.read_text(errors="replace")
        wrong = [] if ended is None else [f"the daemon ended: {ended}"]
        if "panicked" in (home / "herma/hermad.log").read_text(errors="replace"):
            wrong.append("the daemon panicked")
        try:
            second = Daemon(hermad, home)
        except workload.Failed as error:
            return hit, [f"{what}: {error}"]
        try:
            answered = {step.number for actor in actors for step in actor.steps if step.answered}
            wrong += workload.check(second.socket, actors, answered, torn=True)
            listed = workload.Client(second.socket).call("memory.list", target="memory")["memory"]["entries"]
            if "it was there before" not in listed:
                wrong.append("what was there before is gone")
        except (workload.Failed, OSError) as error:
            wrong.append(str(error))
        finally:
            second.kill()
    return hit, [f"{what}: {words}" for words in wrong]


def attach(process: int, rule: str, log: Path, files: Path | None) -> "subprocess.Popen[bytes]":
    """Lets calls of a process fail; those that sockets know too only on the files below a folder."""
    paths = [flag for path in sorted(files.rglob("*")) if path.is_file() for flag in ("-P", str(path))] if files else []
    command = ["strace", "-f", "-p", str(process), "-o", str(log), "-e", rule, *paths]
    strace = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for line in strace.stderr or []:
        if b"attached" in line:
            return strace
    raise SystemExit("strace can't attach to the daemon")


if __name__ == "__main__":
    sys.exit(main())
