//! What Codex's files say. Its own folder is `~/.codex`, or `$CODEX_HOME`. It skips hooks that nobody trusts without a
//! word: the words of [`UNTRUSTED`], or `--trust`.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use herma_base::Failure;
use serde_json::{Value, json};

use super::claude_code::SERVER;
use super::edit::{Edit, Kind};
use super::wanted::{Wanted, Whose, folder, is_own, user_home};
use super::{json, toml};
use crate::hook::Client;

/// What a user does about hooks that Codex doesn't trust.
pub(super) const UNTRUSTED: &str = "Codex skips hooks that are not trusted, without a word. Start it, give /hooks, and trust those of herma; or give\n`herma hooks install codex --trust`.";

/// How long Codex may take to list its hooks.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where the client keeps what herma changes.
pub(super) struct Places {
    pub(super) hooks: PathBuf,
    pub(super) config: PathBuf,
    /// Where Codex's own settings are, which have the trust.
    pub(super) own: PathBuf,
}

impl Places {
    pub(super) fn find(whose: &Whose) -> Result<Self, Failure> {
        let own = match folder("CODEX_HOME") {
            Some(own) => own,
            None => user_home()?.join(".codex"),
        };
        let folder = match whose.project {
            true => {
                std::env::current_dir().map_err(|error| Failure::File(format!("this folder: {error}")))?.join(".codex")
            }
            false => own.clone(),
        };
        Ok(Self { hooks: folder.join("hooks.json"), config: folder.join("config.toml"), own: own.join("config.toml") })
    }
}

/// Returns the programs of the hooks and of the MCP server in a user's settings.
pub(super) fn programs(whose: &Whose) -> Option<Vec<String>> {
    let places = Places::find(whose).ok()?;
    let text = |path: &PathBuf| std::fs::read_to_string(path).ok();
    let mut found = text(&places.hooks).and_then(|text| json::programs(&text, Client::Codex).ok()).unwrap_or_default();
    found.extend(text(&places.config).and_then(|text| toml::program(&text)));
    Some(found)
}

/// The edits that put herma into its settings, or take it out.
pub(super) fn edits(whose: &Whose, wanted: Option<&Wanted>) -> Result<Vec<Edit>, Failure> {
    let places = Places::find(whose)?;
    let hooks = wanted.map(|wanted| wanted.hooks(Client::Codex)).unwrap_or_default();
    let server = wanted.map(|wanted| (wanted.program.clone(), wanted.server()));
    let named = |text: &str| {
        let server = server.as_ref().map(|(program, arguments)| (program.as_str(), arguments.as_slice()));
        toml::with_server(text, SERVER, server)
    };
    let file = canonical(&places.hooks).display().to_string();
    let known = std::fs::read_to_string(&places.hooks).unwrap_or_default();
    let gone: Vec<String> = json::places(&known, Client::Codex).iter().map(|place| format!("{file}:{place}")).collect();
    let untrusted = |text: &str| toml::with_trust(text, &gone, &[]);
    let mut edits = vec![Edit::of(&places.hooks, Kind::Json, reinstall_hooks, |text| {
        json::with_hooks(text, Client::Codex, &hooks)
    })?];
    // What is no more is not trusted any more either.
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

/// A hook of herma as Codex sees it.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct Listed {
    /// Its key in Codex's settings.
    pub(super) key: String,
    /// The event, as Codex writes it.
    pub(super) event: String,
    /// Whether it is trusted as it is.
    pub(super) is_trusted: bool,
    #[serde(skip)]
    hash: String,
}

/// Asks Codex which of herma's hooks it knows, and whether it trusts them.
///
/// # Errors
/// There is no `codex` on the PATH, or it doesn't answer.
pub(super) fn listed() -> Result<Vec<Listed>, String> {
    let mut server = Command::new("codex")
        .arg("app-server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("`codex app-server` can't be started: {error}"))?;
    let answer = ask(&mut server);
    drop(server.kill());
    drop(server.wait());
    Ok(read(&answer?))
}

fn ask(server: &mut Child) -> Result<Value, String> {
    let (mut input, output) = server.stdin.take().zip(server.stdout.take()).ok_or("it has no input")?;
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let about = json!({ "clientInfo": { "name": "herma", "version": env!("CARGO_PKG_VERSION") } });
    for request in [
        json!({ "id": 1, "method": "initialize", "params": about }),
        json!({ "method": "initialized" }),
        json!({ "id": 2, "method": "hooks/list", "params": { "cwds": [here] } }),
    ] {
        writeln!(input, "{request}").map_err(|error| format!("`codex app-server`: {error}"))?;
    }
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        let mut answers = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        drop(sender.send(answers.find(|answer| answer.get("id") == Some(&json!(2)))));
    });
    let answer = receiver.recv_timeout(PATIENCE).ok().flatten().ok_or("`codex app-server` does not list its hooks")?;
    // It ends with its input.
    drop(input);
    answer
        .get("result")
        .cloned()
        .ok_or_else(|| format!("`codex app-server` does not list its hooks: {}", answer["error"]))
}

fn read(answer: &Value) -> Vec<Listed> {
    let hooks = answer.get("data").and_then(Value::as_array).into_iter().flatten();
    let hooks = hooks.filter_map(|folder| folder.get("hooks")?.as_array()).flatten();
    let listed = |hook: &Value| {
        let string = |name: &str| hook.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        is_own(&string("command"), Client::Codex).then(|| Listed {
            key: string("key"),
            event: string("eventName"),
            is_trusted: string("trustStatus") == "trusted",
            hash: string("currentHash"),
        })
    };
    hooks.filter_map(listed).collect()
}

/// Has Codex trust what it lists of a file.
pub(super) fn trust(whose: &Whose) -> Result<Edit, Failure> {
    let places = Places::find(whose)?;
    let file = canonical(&places.hooks).display().to_string();
    let listed = listed().map_err(Failure::File)?;
    let of_file = listed.into_iter().filter(|hook| hook.key.starts_with(&format!("{file}:")));
    let trusted: Vec<(String, String)> = of_file.map(|hook| (hook.key, hook.hash)).collect();
    Edit::of(&places.own, Kind::Toml, toml::reinstall, |text| toml::with_trust(text, &[], &trusted))
}

fn reinstall_hooks(installed: &str, text: &str) -> Result<String, String> {
    json::with_hooks_of(installed, text, Client::Codex)
}

fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_codex_lists_is_read() {
        let hook = |command: &str, trust: &str| {
            json!({ "key": "/c/hooks.json:stop:0:0", "eventName": "stop", "command": command, "trustStatus": trust,
                    "currentHash": "sha256:1" })
        };
        let own = "exec /herma hook codex stop";
        let answer =
            json!({ "data": [{ "hooks": [hook(own, "trusted"), hook(own, "untrusted"), hook("x", "trusted")] }] });
        assert_eq!(read(&answer).iter().map(|hook| hook.is_trusted).collect::<Vec<_>>(), [true, false]);
        assert!(read(&json!({})).is_empty());
    }
}
