//! `herma hooks status`.

use std::time::SystemTime;

use herma_base::{CliContext, Failure, out};
use serde_json::json;

use super::Target;
use crate::hook;
use crate::settings::wanted::HermaEntries;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Asks the agent itself where it has a check: `claude plugin validate`, and Codex's list of hooks, which says whether\nit trusts them. Exit code 1 when something is missing, old, switched off, or not trusted.\n\nExamples:\n  herma hooks status claude-code\n  herma hooks status codex --json"
)]
pub struct Arguments {
    #[command(flatten)]
    target: Target,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let (agent, scope) = (arguments.target.agent, arguments.target.scope());
    let has_plugin = agent.has_plugin(scope)?;
    let wanted = HermaEntries::of(context, has_plugin)?;
    let edits = agent.edits(scope, Some(&wanted))?;
    let files: Vec<_> =
        edits.iter().filter(|edit| edit.is_wanted()).map(|edit| (edit.path().to_owned(), edit.is_done())).collect();
    let check = agent.check(scope, has_plugin)?;
    let off = agent.switched_off_by(scope);
    let ran: Vec<_> =
        hook::events(agent).map(|event| (event, hook::last_run(&context.place.home, agent, event))).collect();
    let seconds = |time: &SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).map(|age| age.as_secs()).ok();
    let result = json!({
        "client": agent.name(),
        "files": files.iter().map(|(path, done)| json!({ "path": path, "installed": done })).collect::<Vec<_>>(),
        "plugin": has_plugin,
        "switched_off_by": off,
        "check": check.words,
        "hooks": ran.iter().map(|(event, ran)| json!({
            "event": event.hook(), "last_run": ran.as_ref().and_then(seconds),
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
        text.push_str(&format!("\n{}\n\n", check.words));
        let longest = ran.iter().map(|(event, _)| agent.event_name(*event).len()).max().unwrap_or_default();
        let width = longest.max(16) + 2;
        for (event, ran) in &ran {
            let ran =
                ran.as_ref().and_then(seconds).map_or_else(|| "never ran".to_owned(), |at| out::local_time(at as f64));
            text.push_str(&format!("{:<width$}{ran}\n", agent.event_name(*event)));
        }
        text
    })?;
    if files.iter().all(|(_, done)| *done) && check.is_ok && off.is_empty() { Ok(()) } else { Err(Failure::No) }
}
