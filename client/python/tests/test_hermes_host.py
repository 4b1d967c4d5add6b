"""Inside a host that has a base class and a plugin folder."""

from __future__ import annotations

import os
import subprocess
import sys

HOST = '''
"""A host's contract, as far as an engine sees it."""
from abc import ABC, abstractmethod


class ContextEngine(ABC):
    threshold_percent = 0.75
    last_prompt_tokens = 0
    compression_count = 0

    @property
    @abstractmethod
    def name(self): ...

    @abstractmethod
    def update_from_response(self, usage): ...

    @abstractmethod
    def should_compress(self, prompt_tokens=None): ...

    @abstractmethod
    def compress(self, messages, current_tokens=None, focus_topic=None): ...

    def on_session_reset(self):
        self.last_prompt_tokens = 0

    def get_status(self):
        return {"of": "the host"}
'''

PROGRAM = """
import importlib.util, sys
from pathlib import Path
from agent.context_engine import ContextEngine
from herma.hermes.__main__ import install

folder = install(Path(sys.argv[1]))
spec = importlib.util.spec_from_file_location("plugin", folder / "__init__.py")
plugin = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plugin)

class Context:
    def register_context_engine(self, engine):
        self.engine = engine

context = Context()
plugin.register(context)
engine = context.engine
assert isinstance(engine, ContextEngine) and engine.name == "herma"
assert engine.get_status() == {"of": "the host"}
assert not (Path(sys.argv[1]) / "herma").exists(), "registering started something"
engine.update_model("m", 64_000)
engine.on_session_start("s")
messages = [{"role": "user", "content": f"{at} " + "lorem ipsum " * 150} for at in range(150)]
assert len(engine.compress(messages)) < 150
assert engine.compression_count == 1
print((folder / "plugin.yaml").read_text())
"""


def test_the_plugin_registers_an_engine_of_the_hosts_own_kind(home):
    agent = home.path / "src" / "agent"
    agent.mkdir(parents=True)
    (agent / "__init__.py").write_text("")
    (agent / "context_engine.py").write_text(HOST)
    path = [str(agent.parent), *(entry for entry in sys.path if entry)]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, home.path],
        env={**os.environ, "PYTHONPATH": ":".join(path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "name: herma\n" in done.stdout
