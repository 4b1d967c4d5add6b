"""Puts the plugin into a Hermes home, as ``herma hermes install`` does."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

from ..version import VERSION

#: Where the plugin's own files lie in the package.
PLUGIN = "hermes/plugin/"

#: The file by which an agent knows a folder as a plugin.
MANIFEST = "plugin.yaml"

#: The file that says what was written: the version, and the hash of each file.
RECORD = "installed.json"

#: What the agent's ``config.yaml`` must say.
LINES = """plugins:
  enabled:
    - herma
context:
  engine: herma
"""


class EditedError(Exception):
    """Somebody changed files that would be overwritten; ``names`` are these."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        words = "these files were changed after herma installed them"
        super().__init__(f"{folder}: {words}: {', '.join(names)}")
        self.names = names


def files() -> dict[str, bytes]:
    """Every file of the plugin folder by its path: the plugin's own, and the package in ``lib``."""
    root = Path(__file__).parent.parent
    found = {}
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".json", ".yaml") or path.name == "py.typed":
            name = path.relative_to(root).as_posix()
            found[f"lib/herma/{name}"] = path.read_bytes()
            if name.startswith(PLUGIN):
                found[name[len(PLUGIN) :]] = found[f"lib/herma/{name}"]
    return found


def install(home: Path, force: bool = False) -> Path:
    """Writes ``plugins/herma`` into the home; gives its path.

    Files that somebody changed raise :class:`EditedError`, or are kept as ``<file>.bak`` with
    ``force``. Whatever else is in the folder stays. The new folder is made whole beside the old
    one, and takes its place.
    """
    plugins = home / "plugins"
    folder, new, old = plugins / "herma", plugins / ".herma.new", plugins / ".herma.old"
    plugins.mkdir(parents=True, exist_ok=True)
    lock = os.open(plugins, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if folder.is_symlink():
            raise OSError(f"{folder}: it is a link; remove it first")
        if old.exists() and not folder.exists():
            old.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(new, ignore_errors=True)
        _make(new, folder, files(), force)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        os.close(lock)
        shutil.rmtree(new, ignore_errors=True)
    return folder


def _make(new: Path, folder: Path, own: dict[str, bytes], force: bool) -> None:
    """Makes the new folder, with what of the one that is there must stay."""
    recorded = _recorded(folder)
    there = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if (path.is_symlink() or path.is_file()) and "__pycache__" not in path.parts
    }
    there.pop(RECORD, None)

    def is_written(name: str, path: Path) -> bool:
        """Whether the file is as herma wrote it."""
        if path.is_symlink():
            return False
        data = path.read_bytes()
        return own.get(name) == data or recorded.get(name) == _hash(data)

    edited = [name for name, path in there.items() if name in own and not is_written(name, path)]
    if edited and not force:
        raise EditedError(folder, edited)
    # An agent takes a folder for a plugin when it has the manifest, which therefore comes last.
    for name in sorted(own, key=lambda name: name == MANIFEST):
        if name == MANIFEST:
            for other, path in there.items():
                if other not in own and not (other in recorded and is_written(other, path)):
                    _copy(path, new / other)
            for other in edited:
                _copy(there[other], _free(new / other))
            record = {"version": VERSION, "files": {name: _hash(own[name]) for name in sorted(own)}}
            (new / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).write_bytes(own[name])


def _recorded(folder: Path) -> dict[str, Any]:
    """The hashes of what was written, of a record that can be read."""
    try:
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _copy(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, to, follow_symlinks=False)


def _free(path: Path) -> Path:
    """A name for a copy that is not taken: ``.bak``, ``.bak.1`` and so on."""
    name, number = f"{path}.bak", 0
    while os.path.lexists(name):
        number += 1
        name = f"{path}.bak.{number}"
    return Path(name)
