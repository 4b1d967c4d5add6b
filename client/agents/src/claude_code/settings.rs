//! Reads and edits Claude Code's files. Its folder is `~/.claude`, or `$CLAUDE_CONFIG_DIR`.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use herma_base::Failure;
use serde_json::{Value, json};

use super::ClaudeCode;
use crate::agent::{Agent, Check};
use crate::event::EventName;
use crate::settings::edit::{Edit, Kind};
use crate::settings::json::{self, READS_OUTPUTS};
use crate::settings::wanted::{self, HermaEntries, Scope, current_folder, user_home};
use crate::settings::{SERVER, files};

/// The plugin's module, with a placeholder for the command that it starts.
const MODULE: &str = include_str!("register.ts");

/// The description in the plugin's manifest.
const DESCRIPTION: &str = "Compactions by herma: no request, no rule lost, and all of it can be recalled.";

/// The placeholder for the command in the module.
const COMMAND: &str = "COMMAND";

/// The name of a project's settings that are not shared with others.
const LOCAL: &str = "settings.local.json";

/// How long the check of a plugin may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The variable with the folder of the settings.
const FOLDER: &str = "CLAUDE_CONFIG_DIR";

/// Returns the folder of the user's settings.
pub(super) fn folder() -> Result<PathBuf, Failure> {
    match wanted::folder(FOLDER) {
        Some(own) => Ok(own),
        None => Ok(user_home()?.join(".claude")),
    }
}

/// Returns after how many days Claude Code deletes transcripts, if the user's settings say so.
pub(super) fn deletes_after_days() -> Option<u64> {
    let text = std::fs::read_to_string(Places::find(Scope::User).ok()?.settings).ok()?;
    json::number(&text, "cleanupPeriodDays")
}

/// The paths of Claude Code's files that herma changes.
pub(super) struct Places {
    pub(super) settings: PathBuf,
    pub(super) servers: PathBuf,
    pub(super) plugin: PathBuf,
}

impl Places {
    pub(super) fn find(scope: Scope) -> Result<Self, Failure> {
        if scope == Scope::Project {
            let here = current_folder()?;
            let own = here.join(".claude");
            // The project's local settings are not shared with others, and the program's path is valid only on this
            // machine.
            let settings = own.join(LOCAL);
            return Ok(Self { settings, servers: here.join(".mcp.json"), plugin: own.join("skills/herma") });
        }
        let own = folder()?;
        let servers = match wanted::folder(FOLDER) {
            Some(own) => own.join(".claude.json"),
            None => user_home()?.join(".claude.json"),
        };
        Ok(Self { settings: own.join("settings.json"), servers, plugin: own.join("skills/herma") })
    }

    /// Returns the path of the plugin's module.
    pub(super) fn module(&self) -> PathBuf {
        self.plugin.join("hooks/register.ts")
    }
}

/// Returns the settings files that switch all hooks off: the user's, or those of the current folder.
pub(super) fn switched_off_by(scope: Scope) -> Vec<PathBuf> {
    let own = Places::find(scope).map(|places| places.settings);
    let here = ["settings.json", LOCAL].map(|name| PathBuf::from(".claude").join(name));
    files::switched_off_by(own.into_iter().chain(here))
}

/// Returns the programs of the hooks and of the MCP server in the user's settings.
pub(super) fn programs(agent: &str) -> Vec<String> {
    let places = Places::find(Scope::User);
    places.map(|places| files::programs(&places.settings, &places.servers, agent)).unwrap_or_default()
}

/// Returns the commands of hooks in the local settings of a project. Those are the only ones into which herma writes.
pub(super) fn hooks_of_project(agent: &str, project: &Path) -> Vec<String> {
    files::commands_of_project(&project.join(".claude").join(LOCAL), agent)
}

/// Returns the edits that install herma in Claude Code's settings, or uninstall it.
pub(super) fn edits(agent: &ClaudeCode, scope: Scope, wanted: Option<&HermaEntries>) -> Result<Vec<Edit>, Failure> {
    let places = Places::find(scope)?;
    let hooks = wanted.map(|wanted| wanted.hooks(agent.name(), agent.events())).unwrap_or_default();
    // Without these permissions, a new user's Claude Code can't read outputs, neither as files nor with the tool.
    let allowed =
        wanted.map(|wanted| vec![json::reads(&wanted.outputs.display().to_string()), READS_OUTPUTS.to_owned()]);
    let allowed = allowed.unwrap_or_default();
    let server = wanted.map(|wanted| json!({ "command": wanted.program, "args": wanted.server() }));
    let plugin = |text: &dyn Fn(&HermaEntries) -> String| wanted.filter(|wanted| wanted.has_plugin).map(text);
    let manifest = |_: &HermaEntries| {
        let about = json!({
            "name": SERVER, "version": env!("CARGO_PKG_VERSION"),
            "description": DESCRIPTION,
        });
        format!("{about:#}\n")
    };
    let module = |wanted: &HermaEntries| {
        let words = json!(wanted.words(agent.name(), EventName::Compact)).to_string();
        MODULE.replace(COMMAND, &words)
    };
    Ok(vec![
        Edit::of(&places.settings, Kind::Json, reinstall_settings, |text| settings(text, &hooks, &allowed))?,
        Edit::of(&places.servers, Kind::Json, reinstall_server, |text| {
            json::with_server(text, SERVER, server.as_ref())
        })?,
        Edit::own(&places.plugin.join(".claude-plugin/plugin.json"), plugin(&manifest), DESCRIPTION)?,
        Edit::own(
            &places.plugin.join("hooks/hooks.json"),
            plugin(&|_| format!("{:#}\n", json!({ "modules": ["./register.ts"] }))),
            "./register.ts",
        )?,
        Edit::own(&places.module(), plugin(&module), "herma hooks install")?,
    ])
}

fn settings(text: &str, hooks: &[(&str, Value)], allowed: &[String]) -> Result<String, String> {
    json::with_permissions(&json::with_hooks(text, ClaudeCode.name(), hooks)?, allowed)
}

fn reinstall_settings(installed: &str, text: &str) -> Result<String, String> {
    let text = json::with_hooks_of(installed, text, ClaudeCode.name())?;
    json::with_permissions(&text, &json::permissions(installed)?)
}

fn reinstall_server(installed: &str, text: &str) -> Result<String, String> {
    json::with_server(text, SERVER, json::server(installed, SERVER)?.as_ref())
}

/// Asks Claude Code whether the plugin is valid.
pub(super) fn check(scope: Scope, has_plugin: bool) -> Result<Check, Failure> {
    let check = |words: String, is_ok| Check { words, is_ok };
    if !has_plugin {
        return Ok(check("no plugin: Claude Code compacts by its own summary".into(), true));
    }
    let plugin = Places::find(scope)?.plugin;
    Ok(match validated(&plugin) {
        Ok(ran) if ran.status.success() => check("`claude plugin validate`: passed".into(), true),
        Ok(ran) => {
            let words = [ran.stdout, ran.stderr].concat();
            check(format!("`claude plugin validate`: {}", String::from_utf8_lossy(&words).trim()), false)
        }
        Err(error) => check(format!("`claude` can't be asked: {error}"), true),
    })
}

/// Runs Claude Code's check of a plugin. A program that does not end in time is ended.
fn validated(plugin: &Path) -> io::Result<Output> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut command = tokio::process::Command::new("claude");
        command.args(["plugin", "validate"]).arg(plugin).stdin(Stdio::null()).kill_on_drop(true);
        let late = || io::Error::new(io::ErrorKind::TimedOut, format!("no answer after {} s", PATIENCE.as_secs()));
        tokio::time::timeout(PATIENCE, command.output()).await.unwrap_or_else(|_| Err(late()))
    })
}
