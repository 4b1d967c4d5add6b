//! An agent of the Hermes family. herma's own command installs its plugin and removes it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use herma_base::settings_file::SettingsFile;
use herma_base::{CliContext, Failure, search_path};
use serde_json::Value;

/// An agent that was found.
#[derive(Debug)]
pub(super) struct Hermes {
    pub(super) program: Option<PathBuf>,
    /// The agent's own home.
    pub(super) home: PathBuf,
}

impl Hermes {
    pub(super) const TITLE: &str = "An agent of the Hermes family";

    /// Looks for the agent's home, which has its `config.yaml`.
    pub(super) fn find(context: &CliContext<'_>) -> Option<Self> {
        Some(Self::of(context)).filter(|hermes| hermes.config().is_file())
    }

    /// Returns the agent as it would be installed.
    pub(super) fn of(context: &CliContext<'_>) -> Self {
        Self { program: search_path::find("hermes"), home: context.hermes_home() }
    }

    /// Returns the folder of the plugin.
    pub(super) fn plugin(&self) -> PathBuf {
        self.home.join("plugins/herma")
    }

    /// Returns the path of the agent's configuration.
    pub(super) fn config(&self) -> PathBuf {
        self.home.join("config.yaml")
    }

    /// Returns the path and the content of the copy that the next change of the configuration makes, if it makes one.
    pub(super) fn planned_copy(&self) -> Option<(PathBuf, String)> {
        let config = SettingsFile::read(&self.config()).ok()?;
        Some((config.planned_copy()?, config.text))
    }

    pub(super) fn install(&self) -> Result<Value, Failure> {
        self.run("install")
    }

    pub(super) fn uninstall(&self) -> Result<Value, Failure> {
        self.run("uninstall")
    }

    /// Returns the copy of `config.yaml` that an action made.
    pub(super) fn backup(done: &Value) -> Option<PathBuf> {
        done.pointer("/config/backup")?.as_str().map(PathBuf::from)
    }

    /// Runs `herma hermes …`, which changes `config.yaml` too, and returns what it did.
    fn run(&self, action: &str) -> Result<Value, Failure> {
        let failed = |words: String| Failure::File(format!("{}: {words}", self.home.display()));
        let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
        let mut command = Command::new(program);
        command.arg("--home").arg(&self.home).args(["hermes", action, "--write-config", "--json"]).stdin(Stdio::null());
        let done = command.output().map_err(|error| failed(error.to_string()))?;
        let words = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        let result = serde_json::from_slice(&done.stdout).ok().filter(|_| done.status.success());
        result.ok_or_else(|| failed(if words.is_empty() { format!("`herma hermes {action}` failed") } else { words }))
    }
}
