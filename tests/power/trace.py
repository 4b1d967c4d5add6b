"""Reads what strace saw of a daemon: changes of files and folders below a home, and answers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CALLS = (
    "open,openat,read,lseek,creat,close,dup,dup2,dup3,fcntl,write,writev,pwrite64,pwritev,pwritev2,truncate,ftruncate,fallocate,"
    "fsync,fdatasync,sync_file_range,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,"
    "copy_file_range,sendfile,sendto,sendmsg,statx"
)

LINE = re.compile(r"^(?P<thread>\d+) +(?P<time>\d+\.\d+) (?P<rest>.*)$", re.S)
RESUMED = re.compile(r"^<\.\.\. (?P<name>\w+) resumed>(?P<rest>.*)$", re.S)
CALL = re.compile(r"^(?P<name>\w+)\((?P<arguments>.*)\)\s+= (?P<result>-?\d+)(?:<(?P<path>[^>]*)>)?", re.S)
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
FILE = re.compile(r"^(-?\d+|AT_FDCWD)(?:<([^>]*)>)?")


@dataclass(frozen=True)
class Call:
    """A call of the system that was done."""

    name: str
    # Number of the file that it is about, if it is about one.
    file: int
    # Whole paths in its arguments, in order.
    paths: tuple[str, ...]
    # All bytes in its arguments.
    data: bytes
    # Numbers behind the data or the file, in order.
    numbers: tuple[int, ...]
    flags: str
    result: int
    # When it came back, or was made, in Unix seconds.
    time: float


def texts(arguments: str) -> list[bytes]:
    return [bytes.fromhex(text.replace("\\x", "")) for text in TEXT.findall(arguments)]


def plain(path: str | None) -> str:
    """A path that strace wrote in hex."""
    return bytes.fromhex(path.replace("\\x", "")).decode() if path and path.startswith("\\x") else path or ""


def calls(log: Path) -> Iterator[tuple[str, Call]]:
    """The calls in order: `begin` when one was made, `end` when it came back with success."""
    waiting: dict[str, str] = {}
    with log.open(errors="surrogateescape") as lines:
        for line in lines:
            if not (found := LINE.match(line.rstrip("\n"))):
                continue
            thread, rest = found["thread"], found["rest"]
            if rest.endswith("<unfinished ...>"):
                waiting[thread] = rest.removesuffix("<unfinished ...>").rstrip()
                if call := parsed(waiting[thread] + ") = 0", float(found["time"])):
                    yield "begin", call
                continue
            begun = False
            if resumed := RESUMED.match(rest):
                rest, begun = waiting.pop(thread, "") + resumed["rest"], True
            call = parsed(rest, float(found["time"]))
            if not call or call.result < 0:
                continue
            if not begun:
                yield "begin", call
            yield "end", call


def parsed(text: str, time: float) -> Call | None:
    found = CALL.match(text)
    if not found:
        return None
    name, arguments = found["name"], found["arguments"]
    first = FILE.match(arguments)
    file = int(first[1]) if first and first[1] != "AT_FDCWD" else -1
    pieces = texts(TEXT.sub(lambda text: text[0], arguments))
    data = b"".join(pieces)
    # What stands between angle brackets is a path that strace added.
    bare = re.sub(r"<[^>]*>", "", TEXT.sub("", arguments))
    numbers = tuple(int(number) for number in re.findall(r"(?<=, )\d+(?=$|[,)])", bare))
    paths: tuple[str, ...] = ()
    if name.startswith(("open", "creat", "rename", "unlink", "mkdir", "rmdir", "link", "symlink", "truncate", "statx")):
        folders = [plain(path) for path in re.findall(r"(?:AT_FDCWD|\d+)<([^>]*)>, \"", arguments)]
        folders += [""] * (len(pieces) - len(folders))
        paths = tuple(str(Path(folder) / piece.decode()) for folder, piece in zip(folders, pieces))
    return Call(name, file, paths, data, numbers, bare, int(found["result"]), time)
