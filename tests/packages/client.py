"""An entry that the Python client writes is there after the daemon was killed. Needs the package herma alone."""

import os

import herma

os.environ["HERMA_HOME"] = os.path.expanduser("~/python")
with herma.Client() as client:
    client.memory.add(target="user", content="Prefers short answers.")
    print(client.memory.list()["user"]["entries"])
    os.kill(client.hello()["pid"], 9)
with herma.Client() as client:
    assert client.memory.list()["user"]["entries"], "a kill -9 lost an entry"
    client.shutdown()
