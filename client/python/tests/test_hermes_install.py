"""The plugin in a home, and the probe that asks a host for it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from herma import __version__
from herma.hermes import install as installing
from herma.hermes import probe
from herma.hermes.install import EditedError, files, install


def test_the_folder_has_the_plugin_the_package_and_a_record(tmp_path: Path) -> None:
    folder = install(tmp_path)
    assert folder == tmp_path / "plugins" / "herma"
    record = json.loads((folder / "installed.json").read_text())
    assert record["version"] == __version__
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert names == {*record["files"], "installed.json"}
    for name in ("plugin.yaml", "__init__.py", "lib/herma/py.typed", "lib/herma/hermes/probe.py"):
        assert record["files"][name] == hashlib.sha256((folder / name).read_bytes()).hexdigest()
    assert "lib/herma/hermes/memory_schema.json" in names
    assert not [name for name in names if "__pycache__" in name]
    assert [path.name for path in folder.parent.iterdir()] == ["herma"]


def test_the_package_in_it_can_be_imported_alone(tmp_path: Path) -> None:
    library = install(tmp_path) / "lib"
    words = (
        "import sys; sys.path.insert(0, sys.argv[1])\nimport herma.hermes; print(herma.__file__)"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-c", words, str(library)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.startswith(str(library))


def test_what_somebody_changed_is_kept(tmp_path: Path) -> None:
    folder = install(tmp_path)
    (folder / "own.txt").write_text("words")
    (folder / "own").symlink_to("own.txt")
    for number, expected in enumerate(("__init__.py.bak", "__init__.py.bak.1")):
        (folder / "__init__.py").write_text(f"mine {number}")
        with pytest.raises(EditedError, match=r"__init__\.py") as caught:
            install(tmp_path)
        assert caught.value.names == ["__init__.py"]
        assert (folder / "__init__.py").read_text() == f"mine {number}"
        install(tmp_path, force=True)
        assert (folder / expected).read_text() == f"mine {number}"
        assert "def register" in (folder / "__init__.py").read_text()
    assert (folder / "own").is_symlink()
    assert (folder / "own").read_text() == "words"


def test_files_of_an_older_version_go(tmp_path: Path) -> None:
    folder = install(tmp_path)
    record = json.loads((folder / "installed.json").read_text())
    for name, text in (("gone.py", "hello"), ("changed.py", "other"), ("__init__.py", "hello")):
        (folder / name).write_text(text)
        record["files"][name] = hashlib.sha256(b"hello").hexdigest()
    (folder / "installed.json").write_text(json.dumps(record))
    install(tmp_path)
    assert not (folder / "gone.py").exists()
    assert (folder / "changed.py").read_text() == "other"
    assert "def register" in (folder / "__init__.py").read_text()


def test_an_install_that_ended_half_way_is_tidied_up(tmp_path: Path) -> None:
    folder = install(tmp_path)
    (folder / "own.txt").write_text("words")
    folder.rename(tmp_path / "plugins" / ".herma.old")
    (tmp_path / "plugins" / ".herma.new").mkdir()
    install(tmp_path)
    assert (folder / "own.txt").read_text() == "words"
    assert [path.name for path in folder.parent.iterdir()] == ["herma"]


def test_one_that_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = install(tmp_path)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def broken(path: Path, to: Path) -> None:
        raise OSError("the disk is full")

    (folder / "own.txt").write_text("words")
    monkeypatch.setattr(installing, "_copy", broken)
    with pytest.raises(OSError, match="full"):
        install(tmp_path)
    assert {path: path.read_bytes() for path in before} == before
    assert [path.name for path in folder.parent.iterdir()] == ["herma"]


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "checkout").mkdir()
    (tmp_path / "plugins" / "herma").symlink_to(tmp_path / "checkout")
    with pytest.raises(OSError, match="link"):
        install(tmp_path, force=True)
    assert list((tmp_path / "checkout").iterdir()) == []


def test_the_module_says_what_the_configuration_needs(tmp_path: Path) -> None:
    def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "herma.hermes", *arguments, str(tmp_path)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    first = ran()
    assert first.returncode == 0
    assert "plugins:\n  enabled:\n    - herma\n" in first.stdout
    (tmp_path / "plugins/herma/plugin.yaml").write_text("mine")
    second = ran()
    assert second.returncode == 1
    assert "plugin.yaml; --force" in second.stderr
    assert ran("--force").returncode == 0


def test_the_files_are_those_of_the_package() -> None:
    root = Path(probe.__file__).parent.parent
    assert files()["lib/herma/hermes/probe.py"] == Path(probe.__file__).read_bytes()
    assert files()["__init__.py"] == (root / "hermes/plugin/__init__.py").read_bytes()


@pytest.mark.parametrize(
    ("plugins", "words"),
    [
        ({}, "lacks `plugins: {enabled: [herma]}`"),
        ({"enabled": None}, "lacks `plugins: {enabled: [herma]}`"),
        ({"enabled": ["herma"], "disabled": ["herma"]}, "plugins.disabled"),
        ({"enabled": ["herma"]}, "could not be loaded: boom"),
    ],
)
def test_the_probe_names_the_line_that_is_missing(plugins: object, words: str) -> None:
    assert words in probe.why_not_loaded({"plugins": plugins}, "boom")


def test_the_probe_says_where_there_is_no_host(tmp_path: Path) -> None:
    text = Path(probe.__file__).read_text()
    for command in (["-c", text], [probe.__file__], ["-m", "herma.hermes.probe"]):
        ran = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        found = json.loads(ran.stdout.splitlines()[-1])
        assert "no host of the Hermes family" in found["error"]
