"""What an agent of the Hermes family really uses, asked from its own code.

Runs in the agent's Python with ``HERMES_HOME`` set, as a module, as a file, or as a text
(``python -c``). The last line of standard output is a JSON object. It imports nothing of
herma, so that it finds the package only where the agent does.
"""

from __future__ import annotations

import copy
import importlib
import importlib.metadata
import inspect
import json
import logging
import os
import sys
from typing import Any

#: The name of the engine, of the provider and of the plugin.
NAME = "herma"

#: The program whose package the host is.
HOST = "hermes-agent"


class Errors(logging.Handler):
    """Keeps what the host's loaders say when something goes wrong; they return only None."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.words: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps a message about herma."""
        words = record.getMessage()
        if NAME in words and ("ailed" in words or record.levelno >= logging.WARNING):
            self.words.append(words)

    def last(self) -> str | None:
        """The newest one."""
        return self.words[-1] if self.words else None


def listen(*names: str) -> Errors:
    """Listens to loggers of the host."""
    errors = Errors()
    for name in names:
        logger = logging.getLogger(name)
        logger.setLevel(logging.DEBUG)
        logger.addHandler(errors)
    return errors


def item(configured: bool, in_use: bool, name: str | None, why: str | None) -> dict[str, Any]:
    """What is said of one part: ``name`` is in use, ``why`` is said where that isn't herma."""
    return {
        "configured": configured,
        "in_use": in_use,
        "name": name,
        "why": None if in_use else why,
    }


def section(config: Any, name: str) -> dict[str, Any]:
    """A section of the configuration; one that is none is empty."""
    found = config.get(name) if isinstance(config, dict) else None
    return found if isinstance(found, dict) else {}


def text(error: BaseException) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def plugin(config: Any) -> dict[str, Any]:
    """What the host's plugin manager says of herma, after it has loaded what it loads."""
    manager = importlib.import_module("hermes_cli.plugins").get_plugin_manager()
    manager.discover_and_load()
    for key, loaded in manager._plugins.items():
        if NAME in (key, key.rpartition("/")[2], getattr(loaded.manifest, "name", None)):
            error = loaded.error
            if error and not loaded.enabled:
                error = why_not_loaded(config, error)
            path = getattr(loaded.manifest, "path", None)
            return {"found": True, "enabled": bool(loaded.enabled), "error": error, "path": path}
    error = "there is no plugin in plugins/herma of the home: herma hermes install"
    return {"found": False, "enabled": False, "error": error, "path": None}


def why_not_loaded(config: Any, error: str) -> str:
    """The line that is missing, or what the plugin raised."""
    listed = section(config, "plugins")
    if NAME in (listed.get("disabled") or ()):
        return "config.yaml has herma in plugins.disabled, which wins over plugins.enabled"
    if NAME not in (listed.get("enabled") or ()):
        return "config.yaml lacks `plugins: {enabled: [herma]}`"
    return f"the plugin could not be loaded: {error}"


def engine(config: Any, state: dict[str, Any]) -> dict[str, Any]:
    """The context engine, selected as the host's ``agent_init`` does it."""
    named = section(config, "context").get("engine", "compressor") or "compressor"
    if named != NAME:
        lacks = "it lacks `context: {engine: herma}`"
        why = f"config.yaml names {named!r} as context.engine; {lacks}"
        return item(False, False, str(named), why)
    found: Any = None
    try:
        found = importlib.import_module("plugins.context_engine").load_context_engine(named)
    except Exception:
        found = None
    if found is None:
        candidate = importlib.import_module("hermes_cli.plugins").get_plugin_context_engine()
        if candidate is None:
            why = state["error"] or "the plugin registers no engine"
            return item(True, False, "compressor", why)
        if candidate.name != named:
            other = f"another plugin registered its engine {candidate.name!r} first"
            return item(True, False, "compressor", other)
        try:
            found = copy.deepcopy(candidate) if copies() else candidate
        except Exception as error:
            why = f"the host could not copy the engine: {text(error)}"
            return item(True, False, "compressor", why)
    return item(True, found.name == NAME, found.name, "it has another name")


def copies() -> bool:
    """Whether the host gives each agent a copy of the engine, as hosts do that are newer."""
    try:
        return "deepcopy" in inspect.getsource(importlib.import_module("agent.agent_init"))
    except Exception:
        return True


def provider(config: Any) -> dict[str, Any]:
    """The memory provider."""
    named = str(section(config, "memory").get("provider") or "").strip()
    if named != NAME:
        return item(False, False, named or None, None)
    errors = listen("plugins.memory")
    found = importlib.import_module("plugins.memory").load_memory_provider(named)
    if found is None:
        why = errors.last() or "the host finds no memory provider in plugins/herma of the home"
        return item(True, False, None, why)
    if found.is_available():
        return item(True, True, found.name, None)
    reason = getattr(found, "unavailable_reason", None)
    said = reason() if callable(reason) else None
    return item(True, False, None, said or "it says that it is not available")


def replaced(
    config: Any, key: str, needed: dict[str, Any], others: dict[str, Any]
) -> dict[str, Any]:
    """What the plugin replaces when ``herma.<key>`` says so; ``others`` are only named."""
    everything = {**needed, **others}
    where = {name: str(getattr(found, "__module__", None)) for name, found in everything.items()}
    missing = [name for name in needed if not where[name].startswith(f"{NAME}.")]
    why = f"of the host still: {', '.join(missing)}"
    name = ", ".join(f"{module}.{name}" for name, module in where.items())
    return item(asks(config, NAME, key, True), not missing, name, why)


def asks(config: Any, name: str, key: str, value: Any) -> bool:
    """Whether the configuration has the value there."""
    return bool(section(config, name).get(key) == value)


def memory(config: Any) -> dict[str, Any]:
    """The host's own memory tool: its store decides, for the tool may stay the host's."""
    tool = importlib.import_module("tools.memory_tool")
    others = {"memory_tool": tool.memory_tool}
    return replaced(config, "memory", {"MemoryStore": tool.MemoryStore}, others)


def results(config: Any) -> dict[str, Any]:
    """What the host does with large results of tools."""
    executor = importlib.import_module("agent.tool_executor")
    names = ("maybe_persist_tool_result", "enforce_turn_budget")
    return replaced(config, "results", {name: getattr(executor, name) for name in names}, {})


def part(configured: bool, look: Any, *arguments: Any) -> dict[str, Any]:
    """What a look finds; a host that lacks what is looked for is told of, too."""
    try:
        found: dict[str, Any] = look(*arguments)
    except Exception as error:
        found = item(configured, False, None, text(error))
    return found


def probe() -> dict[str, Any]:
    """Everything."""
    try:
        version: str | None = importlib.metadata.version(HOST)
    except importlib.metadata.PackageNotFoundError:
        version = None
    found: dict[str, Any] = {"host": version, "python": sys.executable, "error": None}
    try:
        config_module = importlib.import_module("hermes_cli.config")
        config = config_module.load_config()
    except Exception as error:
        found["error"] = f"no host of the Hermes family in {sys.executable}: {text(error)}"
        return found
    state = part(True, plugin, config)
    state.setdefault("error", state.get("why"))
    found["plugin"] = state
    found["engine"] = part(asks(config, "context", "engine", NAME), engine, config, state)
    found["provider"] = part(asks(config, "memory", "provider", NAME), provider, config)
    found["memory"] = part(asks(config, NAME, "memory", True), memory, config)
    found["results"] = part(asks(config, NAME, "results", True), results, config)
    return found


def main() -> None:
    """Prints what was found as the last line."""
    own = os.path.dirname(os.path.abspath(globals().get("__file__") or "."))
    # Neither the folder of this file nor the current one is on the path of the host.
    is_file = "__file__" in globals()
    sys.path[:] = [path for path in sys.path if path and not (is_file and path == own)]
    found = probe()
    sys.stdout.flush()
    print("\n" + json.dumps(found, default=str), flush=True)


if __name__ == "__main__":
    main()
