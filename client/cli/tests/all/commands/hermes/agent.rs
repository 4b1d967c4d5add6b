//! A home, and a fake agent that has only the loaders with which a real one finds its plugins.

use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

/// The agent's modules.
const MODULES: [(&str, &str); 9] = [
    ("hermes_cli/__init__.py", ""),
    (
        "hermes_cli/config.py",
        r#"
import os, pathlib

def load_config():
    """Reads the two levels of keys and lists that the tests write."""
    try:
        text = (pathlib.Path(os.environ["HERMES_HOME"]) / "config.yaml").read_text()
    except FileNotFoundError:
        return {}
    config, section, key = {}, None, None
    for line in text.splitlines():
        name, _, value = (part.strip() for part in line.partition(":"))
        if not line.startswith(" "):
            section = config.setdefault(name, {})
        elif line.strip().startswith("- "):
            section[key] = (section[key] or []) + [line.strip()[2:]]
        else:
            key = name
            section[key] = True if value == "true" else value or None
    return config
"#,
    ),
    (
        "hermes_cli/plugins.py",
        r#"
import importlib.util, os, pathlib, types
from hermes_cli.config import load_config

class Manager:
    def __init__(self):
        self._plugins, self._context_engine, self._discovered = {}, None, False

    def discover_and_load(self):
        if self._discovered:
            return
        self._discovered = True
        print("noise of the host")
        listed = load_config().get("plugins", {})
        folder = pathlib.Path(os.environ["HERMES_HOME"]) / "plugins"
        for path in sorted(folder.glob("*/plugin.yaml")):
            name = path.parent.name
            manifest = types.SimpleNamespace(name=name, path=str(path.parent))
            self._plugins[name] = loaded = types.SimpleNamespace(manifest=manifest, enabled=False, error=None)
            if name in (listed.get("disabled") or []):
                loaded.error = "disabled via config"
            elif name not in (listed.get("enabled") or []):
                loaded.error = "not enabled in config"
            else:
                try:
                    self.load(path.parent)
                    loaded.enabled = True
                except Exception as error:
                    loaded.error = str(error)

    def load(self, folder):
        spec = importlib.util.spec_from_file_location("hermes_plugins." + folder.name, folder / "__init__.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.register(types.SimpleNamespace(register_context_engine=self.register_context_engine))

    def register_context_engine(self, engine):
        self._context_engine = engine

manager = Manager()

def get_plugin_manager():
    return manager

def get_plugin_context_engine():
    manager.discover_and_load()
    return manager._context_engine
"#,
    ),
    ("plugins/__init__.py", ""),
    ("plugins/context_engine.py", "def load_context_engine(name):\n    return None\n"),
    ("plugins/memory.py", "def load_memory_provider(name):\n    return None\n"),
    ("agent/agent_init.py", ""),
    ("agent/tool_executor.py", "def maybe_persist_tool_result(): pass\ndef enforce_turn_budget(): pass\n"),
    ("tools/memory_tool.py", "class MemoryStore: pass\ndef memory_tool(): pass\n"),
];

/// A home and a fake agent.
#[derive(Debug)]
pub(super) struct Agent {
    folder: TempDir,
}

impl Agent {
    /// Creates an agent without herma, whose `hermes` is on the search path.
    pub(super) fn new() -> Self {
        let agent = Self { folder: tempfile::tempdir().unwrap() };
        for (path, text) in MODULES {
            agent.write(&format!("../agent/{path}"), text);
        }
        let about = "Metadata-Version: 2.1\nName: hermes-agent\nVersion: 0.99.0\n";
        agent.write("../agent/hermes_agent-0.99.0.dist-info/METADATA", about);
        agent.write("../bin/hermes", "#!/usr/bin/env python3\n");
        agent
    }

    /// Returns a path in the home.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        match path.strip_prefix("../") {
            Some(beside) => self.folder.path().join(beside),
            None => self.folder.path().join("home").join(path),
        }
    }

    pub(super) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes the folder of earlier versions.
    pub(super) fn earlier(&self) {
        let files =
            [("__init__.py", include_str!("earlier/init.py")), ("plugin.yaml", include_str!("earlier/plugin.yaml"))];
        for (name, text) in files {
            self.write(&format!("plugins/context_engine/herma/{name}"), text);
        }
    }

    /// Returns `herma hermes …` for the home.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_herma"));
        let path = std::env::var("PATH").unwrap();
        command.arg("--home").arg(self.path("")).arg("hermes").args(arguments);
        command.env("PATH", format!("{}:{path}", self.path("../bin").display()));
        // The plugin finds its own package.
        command.env("PYTHONPATH", self.path("../agent")).env("HERMAD", "/no/hermad");
        command.env_remove("HERMA_HOME").env_remove("HERMA_SOCKET");
        command
    }

    pub(super) fn herma(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs `herma hermes …`, which must succeed.
    pub(super) fn done(&self, arguments: &[&str]) {
        let output = self.herma(arguments);
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {words}");
    }

    pub(super) fn check(&self) -> Output {
        self.herma(&["check", "--python", "python3"])
    }
}
