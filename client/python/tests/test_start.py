"""Finding the daemon, and starting it."""

from __future__ import annotations

import site
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import pytest
from conftest import hermad, wait_for

import herma
from herma.place import Place
from herma.start import find_daemon


def test_the_first_call_starts_it(home):
    with herma.Client() as client:
        assert home.pid is None
        assert client.hello()["pid"] == home.pid


def test_without_leave_nothing_is_started(home):
    with herma.Client(start=False) as client, pytest.raises(herma.DaemonUnavailable) as error:
        client.ping()
    assert str(home.socket) in error.value.message
    assert home.pid is None


def test_many_at_once_start_one(home):
    pids = []

    def ask():
        with herma.Client() as client:
            pids.append(client.hello()["pid"])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pids == [home.pid] * 8


def test_a_daemon_on_another_socket_is_found(home):
    elsewhere = home.path / "other.sock"
    with herma.Client(socket=elsewhere) as first:
        pid = first.hello()["pid"]
    with herma.Client(start=False) as second:
        assert second.hello()["pid"] == pid


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (None, "HERMAD must name it"),
        ("echo broken configuration >&2; exit 1", "broken configuration"),
        ("exit 7", "ended with 7"),
    ],
)
def test_a_daemon_that_does_not_start_is_told_of(home, monkeypatch, script, words):
    program = home.path / "hermad"
    if script is not None:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    monkeypatch.setenv("HERMAD", str(program))
    with herma.Client() as client, pytest.raises(herma.DaemonUnavailable, match=words):
        client.ping()


def test_a_daemon_that_says_nothing_is_given_up(home, monkeypatch):
    program = home.path / "hermad"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("HERMAD", str(program))
    monkeypatch.setattr("herma.start.PATIENCE", 0.2)
    with herma.Client() as client, pytest.raises(herma.DaemonUnavailable, match="not ready"):
        client.ping()


@pytest.mark.parametrize(
    ("folders", "home"),
    [
        ([], "data/herma"),
        ([".hermes"], ".hermes"),
        ([".hermes", "data/herma"], ".hermes"),
        ([".hermes/herma"], ".hermes"),
        ([".hermes/herma", "data/herma/herma"], "data/herma"),
        (["data/herma/herma"], "data/herma"),
    ],
)
def test_the_usual_home_is_the_one_with_data(monkeypatch, tmp_path, folders, home):
    for name in ("HERMA_HOME", "HERMES_HOME", "HERMA_SOCKET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True)
    assert Place.find().home == tmp_path / home


def test_places(monkeypatch, tmp_path):
    for name in ("HERMA_HOME", "HERMES_HOME", "HERMA_SOCKET", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/h")
    monkeypatch.setenv("XDG_DATA_HOME", "/h/data")
    assert str(Place.find().socket) == "/h/data/herma/herma/hermad.sock"
    monkeypatch.setenv("HERMES_HOME", "/b")
    assert str(Place.find().home) == "/b"
    monkeypatch.setenv("HERMA_HOME", "")
    assert str(Place.find().home) == "/b"
    monkeypatch.setenv("HERMA_HOME", "/a/./")
    assert str(Place.find().home) == "/a"
    monkeypatch.setenv("HERMA_SOCKET", "/s")
    assert str(Place.find().socket) == "/s"
    assert str(Place.find("/f", "/t").socket) == "/t"
    assert Place.find("~/x", "~/s") == Place(Path("/h/x"), Path("/h/s"))
    assert str(Place.find("/a/~/x").home) == "/a/~/x"
    for name in ("HERMA_HOME", "HERMES_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(herma.DaemonUnavailable, match="no home"):
        Place.find()


def test_a_long_home_has_the_socket_that_the_daemon_takes(home, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home.path))
    long = home.path / ("d" * 90)
    daemon = subprocess.Popen([hermad(), "--home", long], stderr=subprocess.DEVNULL)
    try:
        place = Place.find(long)
        assert place.socket.parent == home.path
        wait_for(place.socket.exists, "the daemon's own socket")
        with herma.Client(home=long, start=False) as client:
            assert client.hello()["pid"] == daemon.pid
    finally:
        daemon.terminate()
        daemon.wait()


def test_the_daemon_is_found_where_packages_of_the_user_put_programs(tmp_path, monkeypatch):
    monkeypatch.delenv("HERMAD", raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    places = {"posix_prefix": tmp_path / "system", "posix_user": tmp_path / "user"}
    monkeypatch.setattr(
        sysconfig, "get_path", lambda name, scheme="posix_prefix": str(places[scheme] / name)
    )
    monkeypatch.setattr(site, "ENABLE_USER_SITE", True)
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert find_daemon() == "hermad"
    for folder in (places["posix_user"] / "scripts", places["posix_prefix"] / "scripts", tmp_path):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "hermad").touch()
        assert find_daemon() == str(folder / "hermad")
