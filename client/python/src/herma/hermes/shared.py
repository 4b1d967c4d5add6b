"""The client that this package's functions share."""

from __future__ import annotations

import threading

from ..blocking.client import Client
from ..place import Place
from .link import close_links

_lock = threading.Lock()
_clients: dict[Place, Client] = {}


def shared_client() -> Client:
    """The client of the home that the environment names now; it may change between calls."""
    place = Place.find()
    with _lock:
        if place not in _clients:
            _clients[place] = Client(home=place.home, socket=place.socket)
        return _clients[place]


def close_shared_clients() -> None:
    """Closes them, and the links of engines; the next call makes a new one."""
    close_links()
    with _lock:
        while _clients:
            _clients.popitem()[1].close()
