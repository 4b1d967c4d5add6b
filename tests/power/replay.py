"""Plays a trace on a disk that forgets, and stops at every cut."""

import re
from collections.abc import Iterator
from pathlib import Path

from disk import Disk, Inode
from trace import Call, calls


# When a file was written, in an answer of the file system.
MODIFIED = re.compile(r"stx_mtime=\{tv_sec=(\d+), tv_nsec=(\d+)")


class Player:
    def __init__(self, root: str) -> None:
        self.disk = Disk(root)
        # Number of an open file: what it is, its path when it was opened, and where it stands.
        self.open: dict[int, tuple[Inode | None, str, list[int], bool]] = {}
        # What was answered so far, as bytes.
        self.answers: list[bytes] = []
        # Syncs that have begun, with how much they cover.
        self.begun: dict[tuple[str, int], list[tuple[Inode | None, str, int]]] = {}

    def play(self, log: Path) -> Iterator[str]:
        """Gives the name of each call that changes what a cut would leave, after it."""
        for when, call in calls(log):
            if self.step(when, call):
                yield call.name

    def step(self, when: str, call: Call) -> bool:
        disk, known = self.disk, self.open.get(call.file)
        match call.name:
            case "open" | "openat" | "creat":
                if when == "end":
                    self.opened(call)
                return False
            case "statx":
                inode = disk.live.get(call.paths[0]) if call.paths else None
                inode = inode or (known[0] if known else None)
                if when == "end" and inode and (found := MODIFIED.search(call.flags)):
                    inode.written = int(found[1]) * 1_000_000_000 + int(found[2])
                return False
            case "fcntl" | "dup" | "dup2" | "dup3":
                if when == "end" and (call.name != "fcntl" or "F_DUPFD" in call.flags) and known:
                    self.open[call.result] = known
                return False
            case "close":
                if when == "begin":
                    self.open.pop(call.file, None)
                return False
            case "sendto" | "sendmsg":
                if when == "begin":
                    self.answers.append(call.data)
                return False
            case "write" | "writev":
                if when == "begin" and known is None:
                    self.answers.append(call.data)
                    return False
                if when == "end" and known and known[0]:
                    inode, _, place, appends = known
                    at = len(inode.live) if appends else place[0]
                    inode.write(at, call.data[: call.result], call.time)
                    place[0] = at + call.result
                    return True
                return False
            case "read" | "lseek":
                if when == "end" and known:
                    known[2][0] = call.result + (known[2][0] if call.name == "read" else 0)
                return False
            case "pwrite64" | "pwritev" | "pwritev2":
                if when == "end" and known and known[0]:
                    known[0].write(call.numbers[-1], call.data[: call.result], call.time)
                    return True
                return False
            case "ftruncate":
                if when == "end" and known and known[0]:
                    known[0].truncate(call.numbers[-1], call.time)
                    return True
                return False
            case "fallocate":
                if when == "end" and known and known[0] and "KEEP_SIZE" not in call.flags:
                    inode, length = known[0], sum(call.numbers[-2:])
                    if length > len(inode.live):
                        inode.truncate(length, call.time)
                return False
            case "fsync" | "fdatasync":
                return bool(known) and self.sync(when, call, known[0], known[1])
            case "rename" | "renameat" | "renameat2" if when == "end" and len(call.paths) == 2:
                old, new = call.paths
                if not (disk.inside(old) and disk.inside(new)):
                    return False
                if old in disk.live:
                    disk.name((old, None), (new, disk.live[old]))
                return True
            case "link" | "linkat" if when == "end" and call.paths[0] in disk.live:
                disk.name((call.paths[1], disk.live[call.paths[0]]))
                return True
            case "unlink" | "unlinkat" | "rmdir" if when == "end":
                if call.paths[0] in disk.live:
                    disk.name((call.paths[0], None))
                    return True
                disk.folders.pop(call.paths[0], None)
                return False
            case "mkdir" | "mkdirat" if when == "end" and disk.inside(call.paths[0]):
                disk.folders[call.paths[0]] = False
                return True
            case "copy_file_range" | "sendfile":
                raise SystemExit(f"the daemon uses {call.name}, which this program does not know")
        return False

    def opened(self, call: Call) -> None:
        path = call.paths[0]
        if not self.disk.inside(path):
            # What an older file of this number was is not to be taken for it.
            self.open.pop(call.result, None)
            return
        if "O_DIRECTORY" in call.flags or path in self.disk.folders:
            self.open[call.result] = (None, path, [0], False)
            return
        inode = self.disk.live.get(path)
        if inode is None:
            if "O_CREAT" not in call.flags and call.name != "creat":
                self.open.pop(call.result, None)
                return
            inode = Inode(written=int(call.time * 1e9))
            self.disk.name((path, inode))
        if "O_TRUNC" in call.flags and inode.live:
            inode.truncate(0, call.time)
        self.open[call.result] = (inode, path, [0], "O_APPEND" in call.flags)

    def sync(self, when: str, call: Call, inode: Inode | None, path: str) -> bool:
        key = (call.name, call.file)
        if when == "begin":
            covers = inode.count if inode else self.disk.group
            self.begun.setdefault(key, []).append((inode, path, covers))
            return False
        if not self.begun.get(key):
            return False
        inode, path, covers = self.begun[key].pop(0)
        if inode:
            inode.sync(covers)
        else:
            self.disk.sync_folder(path, covers)
        return True
