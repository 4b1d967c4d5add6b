//! The hooks that Codex itself lists. Codex silently skips hooks that are not trusted. The user trusts them as
//! [`UNTRUSTED`] says, or with `--trust`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};

use crate::agent::Check;
use crate::settings::wanted::is_own;

/// The advice for a user whose Codex doesn't trust the hooks.
pub(super) const UNTRUSTED: &str = "Codex skips hooks that are not trusted, without a word. Start it, give /hooks, and trust those of herma; or give\n`herma hooks install codex --trust`.";

/// How long Codex may take to list its hooks.
const PATIENCE: Duration = Duration::from_secs(20);

/// A hook of herma as Codex sees it.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct Listed {
    /// Its key in Codex's settings.
    pub(super) key: String,
    /// The event's name in Codex.
    pub(super) event: String,
    /// Whether Codex trusts the hook in its current form.
    pub(super) is_trusted: bool,
    #[serde(skip)]
    pub(super) hash: String,
}

/// Asks Codex which of herma's hooks it knows, and whether it trusts them.
///
/// # Errors
/// There is no `codex` on the PATH, or it doesn't answer.
pub(super) fn listed(agent: &str) -> Result<Vec<Listed>, String> {
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
    Ok(read(agent, &answer?))
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
    // The server ends when its input ends.
    drop(input);
    answer
        .get("result")
        .cloned()
        .ok_or_else(|| format!("`codex app-server` does not list its hooks: {}", answer["error"]))
}

fn read(agent: &str, answer: &Value) -> Vec<Listed> {
    let hooks = answer.get("data").and_then(Value::as_array).into_iter().flatten();
    let hooks = hooks.filter_map(|folder| folder.get("hooks")?.as_array()).flatten();
    let listed = |hook: &Value| {
        let string = |name: &str| hook.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        is_own(&string("command"), agent).then(|| Listed {
            key: string("key"),
            event: string("eventName"),
            is_trusted: string("trustStatus") == "trusted",
            hash: string("currentHash"),
        })
    };
    hooks.filter_map(listed).collect()
}

/// Asks Codex whether it trusts the hooks.
pub(super) fn check(agent: &str) -> Check {
    let check = |words: String, is_ok| Check { words, is_ok };
    match listed(agent) {
        Ok(hooks) if !hooks.is_empty() && hooks.iter().all(|hook| hook.is_trusted) => {
            check(format!("Codex trusts all {} hooks", hooks.len()), true)
        }
        Ok(hooks) if hooks.is_empty() => check("Codex lists no hook of herma".into(), false),
        Ok(hooks) => {
            let names = hooks.iter().filter(|hook| !hook.is_trusted).map(|hook| hook.event.as_str());
            check(format!("NOT TRUSTED: {}. {UNTRUSTED}", names.collect::<Vec<_>>().join(", ")), false)
        }
        Err(words) => check(words, true),
    }
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
        assert_eq!(read("codex", &answer).iter().map(|hook| hook.is_trusted).collect::<Vec<_>>(), [true, false]);
        assert!(read("codex", &json!({})).is_empty());
    }
}
