"""A disk that forgets: what is on it for sure, and what only may be."""

import random
from dataclasses import dataclass, field
from pathlib import Path

# A disk writes whole sectors; within one nothing is torn.
SECTOR = 512


@dataclass
class Inode:
    """A file. What was written since the last sync may be there, in any order, or not."""

    durable: bytes = b""
    pending: list[tuple[int, bytes] | int] = field(default_factory=list)
    # How many writes there ever were, and when the last one was made, in Unix nanoseconds: as the
    # file system said when it was asked, or else about when it was.
    count: int = 0
    written: int = 0

    def write(self, offset: int, data: bytes, now: float) -> None:
        self.written = int(now * 1e9)
        self.pending.append((offset, data))
        self.count += 1

    def truncate(self, length: int, now: float) -> None:
        self.written = int(now * 1e9)
        self.pending.append(length)
        self.count += 1

    def sync(self, until: int) -> None:
        """The first so many writes that there ever were are on the disk now."""
        first = max(0, until - (self.count - len(self.pending)))
        self.durable = applied(self.durable, self.pending[:first])
        del self.pending[:first]

    @property
    def live(self) -> bytes:
        return applied(self.durable, self.pending)

    def after_cut(self, chance: random.Random, mode: str) -> bytes:
        if mode == "lost":
            return self.durable
        if mode == "kept":
            return self.live
        kept: list[tuple[int, bytes] | int] = []
        for one in self.pending:
            if chance.random() < 0.5:
                continue
            if isinstance(one, tuple) and chance.random() < 0.3:
                # Only some of its sectors came through.
                offset, data = one
                start = offset - offset % SECTOR
                for at in range(start, offset + len(data), SECTOR):
                    if chance.random() < 0.5:
                        first, last = max(at, offset), min(at + SECTOR, offset + len(data))
                        kept.append((first, data[first - offset : last - offset]))
            else:
                kept.append(one)
        return applied(self.durable, kept)


def applied(data: bytes, writes: list[tuple[int, bytes] | int]) -> bytes:
    if not writes:
        return data
    out = bytearray(data)
    for one in writes:
        if isinstance(one, int):
            del out[one:]
            out.extend(bytes(one - len(out)))
        else:
            offset, piece = one
            out.extend(bytes(max(0, offset - len(out))))
            out[offset : offset + len(piece)] = piece
    return bytes(out)


@dataclass
class Name:
    """An entry of a folder that came, or went (`inode` is None)."""

    path: str
    inode: Inode | None
    # Both halves of a rename happen, or none.
    group: int


class Disk:
    """Files and folders below a root. Entries of a folder are on the disk for sure once it was synced."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.live: dict[str, Inode] = {}
        self.durable: dict[str, Inode] = {}
        self.pending: list[Name] = []
        self.folders: dict[str, bool] = {root: True}
        self.group = 0

    def inside(self, path: str) -> bool:
        return path == self.root or path.startswith(self.root + "/")

    def name(self, *names: tuple[str, Inode | None]) -> None:
        self.group += 1
        for path, inode in names:
            self.pending.append(Name(path, inode, self.group))
            if inode is None:
                self.live.pop(path, None)
            else:
                self.live[path] = inode

    def sync_folder(self, folder: str, until: int) -> None:
        """All entries of this folder that were there when the sync began; a rename as a whole."""
        groups = {name.group for name in self.pending if str(Path(name.path).parent) == folder and name.group <= until}
        left = []
        for name in self.pending:
            if name.group in groups:
                self.apply(self.durable, name)
            else:
                left.append(name)
        self.pending = left
        for below in self.folders:
            if str(Path(below).parent) == folder:
                self.folders[below] = True

    @staticmethod
    def apply(names: dict[str, Inode], name: Name) -> None:
        if name.inode is None:
            names.pop(name.path, None)
        else:
            names[name.path] = name.inode

    def after_cut(self, chance: random.Random, mode: str) -> tuple[set[str], dict[str, tuple[bytes, int]]]:
        """Folders and files as somebody finds them who starts the machine again."""
        names = dict(self.durable)
        chosen: dict[int, bool] = {}
        for name in self.pending:
            kept = chosen.setdefault(name.group, mode == "kept" or (mode == "some" and chance.random() < 0.5))
            if kept:
                self.apply(names, name)
        files = {path: (inode.after_cut(chance, mode), inode.written) for path, inode in names.items()}
        folders = {folder for folder, sure in self.folders.items() if sure or mode == "kept"}
        for path in files:
            folders.update(str(parent) for parent in Path(path).parents if self.inside(str(parent)))
        return folders, files
