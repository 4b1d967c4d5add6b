//! Reads and edits Codex's files. Its folder is `~/.codex`, or `$CODEX_HOME`.

use std::path::{Path, PathBuf};

use herma_base::Failure;

use super::{Codex, hooks, toml};
use crate::agent::Agent;
use crate::settings::SERVER;
use crate::settings::edit::{Edit, Kind};
use crate::settings::json;
use crate::settings::wanted::{HermaEntries, Scope, current_folder, folder, user_home};

/// The paths of Codex's files that herma changes.
pub(super) struct Places {
    pub(super) hooks: PathBuf,
    pub(super) config: PathBuf,
    /// The path of Codex's own settings, which contain the trusted hooks.
    pub(super) own: PathBuf,
}

impl Places {
    pub(super) fn find(scope: Scope) -> Result<Self, Failure> {
        let own = own_folder()?;
        let folder = match scope {
            Scope::Project => current_folder()?.join(".codex"),
            Scope::User => own.clone(),
        };
        Ok(Self { hooks: folder.join("hooks.json"), config: folder.join("config.toml"), own: own.join("config.toml") })
    }
}

/// Returns the folder of the user's settings.
pub(super) fn own_folder() -> Result<PathBuf, Failure> {
    match folder("CODEX_HOME") {
        Some(own) => Ok(own),
        None => Ok(user_home()?.join(".codex")),
    }
}

/// Returns the programs of the hooks and of the MCP server in the user's settings.
pub(super) fn programs(agent: &str) -> Option<Vec<String>> {
    let places = Places::find(Scope::User).ok()?;
    let text = |path: &PathBuf| std::fs::read_to_string(path).ok();
    let mut found = text(&places.hooks).and_then(|text| json::programs(&text, agent).ok()).unwrap_or_default();
    found.extend(text(&places.config).and_then(|text| toml::program(&text)));
    Some(found)
}

/// Returns the edits that install herma in Codex's settings, or uninstall it.
pub(super) fn edits(agent: &Codex, scope: Scope, wanted: Option<&HermaEntries>) -> Result<Vec<Edit>, Failure> {
    let places = Places::find(scope)?;
    let hooks = wanted.map(|wanted| wanted.hooks(agent.name(), agent.events())).unwrap_or_default();
    let server = wanted.map(|wanted| (wanted.program.clone(), wanted.server()));
    let named = |text: &str| {
        let server = server.as_ref().map(|(program, arguments)| (program.as_str(), arguments.as_slice()));
        toml::with_server(text, SERVER, server)
    };
    let file = canonical(&places.hooks).display().to_string();
    let known = std::fs::read_to_string(&places.hooks).unwrap_or_default();
    let gone: Vec<String> = json::places(&known, agent.name()).iter().map(|place| format!("{file}:{place}")).collect();
    let untrusted = |text: &str| toml::with_trust(text, &gone, &[]);
    let mut edits = vec![Edit::of(&places.hooks, Kind::Json, reinstall_hooks, |text| {
        json::with_hooks(text, agent.name(), &hooks)
    })?];
    // Removed hooks also lose their trust.
    let is_gone = wanted.is_none();
    if is_gone && places.own != places.config {
        edits.push(Edit::of(&places.own, Kind::Toml, toml::reinstall, untrusted)?);
    }
    edits.push(Edit::of(&places.config, Kind::Toml, toml::reinstall, |text| {
        let text = named(text)?;
        if is_gone && places.own == places.config { untrusted(&text) } else { Ok(text) }
    })?);
    Ok(edits)
}

/// Returns the edit that makes Codex trust the hooks that it lists for a file.
pub(super) fn trust(agent: &Codex, scope: Scope) -> Result<Edit, Failure> {
    let places = Places::find(scope)?;
    let file = canonical(&places.hooks).display().to_string();
    let listed = hooks::listed(agent.name()).map_err(Failure::File)?;
    let of_file = listed.into_iter().filter(|hook| hook.key.starts_with(&format!("{file}:")));
    let trusted: Vec<(String, String)> = of_file.map(|hook| (hook.key, hook.hash)).collect();
    Edit::of(&places.own, Kind::Toml, toml::reinstall, |text| toml::with_trust(text, &[], &trusted))
}

fn reinstall_hooks(installed: &str, text: &str) -> Result<String, String> {
    json::with_hooks_of(installed, text, Codex.name())
}

fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
