"""Power cuts: `cuts.py HERMAD [--cuts N] [--rounds N] [--seed N] [--jobs N]`.

Records what a daemon writes while several clients work with it (strace), and then cuts the power: after
every call that changes files a disk is made up of what was synced until then, and of nothing, all, or a
random part of what was not, whole sectors in any order, entries of folders too. On each of them a daemon
is started and asked for everything that was answered before the cut.

Exit codes: 0 nothing was lost, 1 something was, 2 it could not be tried.
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import workload
from replay import Player
from trace import CALLS

CONFIG = "[memory]\njournal_revisions = 10\n"
MODES = ("lost", "some", "some", "kept")


class Daemon:
    """A daemon on a home, under a command where one is given."""

    def __init__(self, hermad: str, home: Path, under: list[str] | None = None) -> None:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("HERMA", "HERMES"))}
        self.process = subprocess.Popen(
            [*(under or []), hermad, "--home", str(home), "--detached"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
        )  # fmt: skip
        self.socket = home / "herma/hermad.sock"
        timer = threading.Timer(60, self.process.kill)
        timer.start()
        line = self.process.stdout.readline() if self.process.stdout else b""
        timer.cancel()
        if not line.startswith(b"ready "):
            self.process.kill()
            words = self.process.communicate()[1]
            raise workload.Failed(f"no daemon: {words.decode(errors='replace')[:500]}")

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def record(hermad: str, folder: Path, rounds: int) -> tuple[Path, Path, list[workload.Actor]]:
    home, log = folder / "home", folder / "trace"
    (home / "herma").mkdir(parents=True, mode=0o700)
    (home / "herma/config.toml").write_text(CONFIG)
    under = ["strace", "-f", "-y", "-xx", "-ttt", "-s", "10000000", "-o", str(log), "-e", f"trace={CALLS}", "-e", "abbrev=!statx"]
    daemon = Daemon(hermad, home, under)
    actors = workload.run(daemon.socket, rounds)
    # strace ends with what it watches.
    for child in Path(f"/proc/{daemon.process.pid}/task/{daemon.process.pid}/children").read_text().split():
        os.kill(int(child), signal.SIGKILL)
    daemon.process.wait()
    return home, log, actors


def answered(pieces: list[bytes]) -> set[int]:
    found = re.findall(rb'"id":(\d+),"result":', b"\n".join(pieces))
    return {int(number) for number in found}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("hermad")
    parser.add_argument("--cuts", type=int, default=2_000, help="how many disks are tried (2,000)")
    parser.add_argument("--rounds", type=int, default=60, help="requests of each client (60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    if not shutil.which("strace"):
        print("there is no strace")
        return 2
    chance = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="pc", dir="/tmp") as name:
        folder = Path(name)
        home, log, actors = record(arguments.hermad, folder, arguments.rounds)
        points = sum(1 for _ in Player(str(home)).play(log))
        cuts = sorted(chance.randrange(points) for _ in range(arguments.cuts))
        print(f"{points} calls changed files, for {sum(len(actor.steps) for actor in actors)} requests; {len(cuts)} cuts")
        wrong: list[str] = []
        begun = time.monotonic()
        with ThreadPoolExecutor(arguments.jobs) as pool:
            waiting = []
            for at, (point, call, files, folders, done, mode) in enumerate(states(home, log, cuts, chance)):
                waiting.append(pool.submit(try_one, arguments.hermad, folder, at, home, files, folders, actors, done, mode, f"cut {point} after {call}"))
                while len(waiting) > 4 * arguments.jobs:
                    wrong += waiting.pop(0).result()
                if at % 200 == 199:
                    print(f"{at + 1} cuts, {len(wrong)} with losses, {time.monotonic() - begun:.0f} s", flush=True)
            for one in waiting:
                wrong += one.result()
    for words in wrong[:20]:
        print(words)
    print(f"{len(cuts)} cuts at {points} points: {len(wrong)} losses")
    return 1 if wrong else 0


def states(home: Path, log: Path, cuts: list[int], chance: random.Random):  # type: ignore[no-untyped-def]
    """The disks of all cuts, in order."""
    player, left = Player(str(home)), list(cuts)
    # The configuration was there before.
    from disk import Inode

    player.disk.durable[str(home / "herma/config.toml")] = Inode(CONFIG.encode())
    player.disk.live.update(player.disk.durable)
    player.disk.folders[str(home / "herma")] = True
    for point, call in enumerate(player.play(log)):
        while left and left[0] == point:
            left.pop(0)
            mode = chance.choice(MODES)
            folders, files = player.disk.after_cut(chance, mode)
            yield point, call, files, folders, answered(player.answers), mode


OPENED = re.compile(rb'\{"crc":"[0-9a-f]{8}","opened":\{"boot":"[^"]*"\}\}')


def in_another_boot(data: bytes) -> bytes:
    """After a power cut the machine was started anew, which the catalog of outputs can tell."""
    body = b'{"boot":"11111111-2222-3333-4444-555555555555"}'
    return OPENED.sub(b'{"crc":"%08x","opened":%s}' % (zlib.crc32(body), body), data)


def try_one(hermad, folder, at, home, files, folders, actors, done, mode, what) -> list[str]:  # type: ignore[no-untyped-def]
    """Starts a daemon on a disk, and looks what is there."""
    target = folder / f"c{at}"
    for path in sorted(folders):
        (target / Path(path).relative_to(home)).mkdir(parents=True, exist_ok=True, mode=0o700)
    for path, (data, written) in files.items():
        place = target / Path(path).relative_to(home)
        place.write_bytes(in_another_boot(data))
        place.chmod(0o600)
        # What is old on the disk looks old.
        os.utime(place, ns=(written, written))
    daemon = None
    try:
        daemon = Daemon(hermad, target)
        wrong = workload.check(daemon.socket, actors, done, torn=mode == "some")
    except (workload.Failed, OSError) as error:
        wrong = [str(error)]
    finally:
        if daemon:
            daemon.kill()
        shutil.rmtree(target, ignore_errors=True)
    return [f"{what}, {mode}: {words}" for words in wrong]


if __name__ == "__main__":
    sys.exit(main())
