//! `herma hooks status`.

use std::process::{Command, Stdio};
use std::time::SystemTime;

use herma_base::{CliContext, Failure, out};
use serde_json::json;

use super::plan::edits;
use super::wanted::{Wanted, Whose};
use super::{claude_code, codex};
use crate::hook::{self, Client, Name};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Asks the client itself where it has a check: `claude plugin validate`, and Codex's list of hooks, which says whether\nit trusts them. Exit code 1 when something is missing, old, switched off, or not trusted.\n\nExamples:\n  herma hooks status claude-code\n  herma hooks status codex --json"
)]
pub struct Arguments {
    #[command(flatten)]
    whose: Whose,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let whose = &arguments.whose;
    let has_plugin = whose.client == Client::ClaudeCode && claude_code::Places::find(whose)?.module().exists();
    let wanted = Wanted::of(context, has_plugin)?;
    let edits = edits(whose, Some(&wanted))?;
    let files: Vec<_> =
        edits.iter().filter(|edit| edit.is_wanted()).map(|edit| (edit.path().to_owned(), edit.is_done())).collect();
    let (check, is_well) = match whose.client {
        Client::ClaudeCode => validated(whose, has_plugin)?,
        Client::Codex => trusted(),
    };
    let off = match whose.client {
        Client::ClaudeCode => claude_code::switched_off(whose),
        Client::Codex => Vec::new(),
    };
    let ran: Vec<_> = Name::of(whose.client)
        .iter()
        .chain((whose.client == Client::ClaudeCode).then_some(&Name::Compact))
        .map(|name| (*name, hook::last_run(&context.place.home, whose.client, *name)))
        .collect();
    let seconds = |time: &SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).map(|age| age.as_secs()).ok();
    let result = json!({
        "client": whose.client.name(),
        "files": files.iter().map(|(path, done)| json!({ "path": path, "installed": done })).collect::<Vec<_>>(),
        "plugin": has_plugin,
        "switched_off_by": off,
        "check": check,
        "hooks": ran.iter().map(|(name, ran)| json!({
            "event": name.hook(), "last_run": ran.as_ref().and_then(seconds),
        })).collect::<Vec<_>>(),
    });
    out::show(context.common, &result, |_| {
        let mut text = String::new();
        for (path, done) in &files {
            let state = if *done { "installed" } else { "MISSING or old" };
            text.push_str(&format!("{state:<16}{}\n", path.display()));
        }
        for path in &off {
            text.push_str(&format!("SWITCHED OFF    by \"disableAllHooks\" in {}: no hook runs\n", path.display()));
        }
        text.push_str(&format!("\n{check}\n\n"));
        for (name, ran) in &ran {
            let ran =
                ran.as_ref().and_then(seconds).map_or_else(|| "never ran".to_owned(), |at| out::local_time(at as f64));
            text.push_str(&format!("{:<18}{ran}\n", name.hook()));
        }
        text
    })?;
    if files.iter().all(|(_, done)| *done) && is_well && off.is_empty() { Ok(()) } else { Err(Failure::No) }
}

/// What Claude Code says of the plugin.
fn validated(whose: &Whose, has_plugin: bool) -> Result<(String, bool), Failure> {
    if !has_plugin {
        return Ok(("no plugin: Claude Code compacts by its own summary".into(), true));
    }
    let plugin = claude_code::Places::find(whose)?.plugin;
    let ran = Command::new("claude").args(["plugin", "validate"]).arg(&plugin).stdin(Stdio::null()).output();
    Ok(match ran {
        Ok(ran) if ran.status.success() => ("`claude plugin validate`: passed".into(), true),
        Ok(ran) => {
            let words = [ran.stdout, ran.stderr].concat();
            (format!("`claude plugin validate`: {}", String::from_utf8_lossy(&words).trim()), false)
        }
        Err(error) => (format!("`claude` can't be asked: {error}"), true),
    })
}

/// Whether Codex trusts the hooks.
fn trusted() -> (String, bool) {
    match codex::listed() {
        Ok(hooks) if !hooks.is_empty() && hooks.iter().all(|hook| hook.is_trusted) => {
            (format!("Codex trusts all {} hooks", hooks.len()), true)
        }
        Ok(hooks) if hooks.is_empty() => ("Codex lists no hook of herma".into(), false),
        Ok(hooks) => {
            let names = hooks.iter().filter(|hook| !hook.is_trusted).map(|hook| hook.event.as_str());
            (format!("NOT TRUSTED: {}. {}", names.collect::<Vec<_>>().join(", "), codex::UNTRUSTED), false)
        }
        Err(words) => (words, true),
    }
}
