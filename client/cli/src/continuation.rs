//! `herma continue`: goes on with the work of a session in another agent.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use herma_agents::agent::Agent;
use herma_agents::continuation::{Continued, prompt};
use herma_agents::hook::{CONTINUES, continued_in};
use herma_agents::{known, programs};
use herma_base::{CliContext, Failure, out, search_path};
use herma_client::Client;
use herma_client::protocol::constraint::{self, Scope};
use herma_client::protocol::recall::StateParams;
use herma_client::protocol::session::chain::ShowParams;
use herma_client::protocol::session::messages::MessagesParams;
use serde_json::{Value, json};

use crate::names;

/// The newest words of user and assistant that are asked for. Some may not fit.
const LAST: i64 = 30;

/// The entities that are asked for.
const ENTITIES: u64 = 60;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The other agent begins in the session's folder, with a prompt that has the user's rules, the state of the work by exact names, what was said last, and how to recall the rest. The session stays as it is, and becomes the parent of the new one. The other agent needs herma's hooks: herma setup\n\nWhat follows -- goes to the agent. With --print nothing is started; set HERMA_CONTINUES to AGENT=SESSION when you start the agent yourself, so that the new session gets its parent. The prompt is an argument of the agent, which other users of the machine may see in the list of processes; secrets in it are masked.\n\nExamples:\n  herma continue --in codex                       # the newest session\n  herma continue 5f2a --in claude-code\n  herma continue @2 --in qwen-code -- --model qwen3\n  herma continue @1 --in codex --print | wl-copy"
)]
pub(super) struct Arguments {
    /// The session: its id, the beginning of it, or @1 for the newest
    #[arg(default_value = "@1")]
    session: String,
    /// The agent that goes on
    #[arg(long = "in", value_name = "AGENT", value_parser = known::parser())]
    agent: &'static dyn Agent,
    /// Print the prompt, and start nothing
    #[arg(long)]
    print: bool,
    /// Arguments for the agent
    #[arg(last = true)]
    arguments: Vec<String>,
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let (mut client, session) = names::session::connect(context, &arguments.session)?;
    let row = client.session_show(ShowParams { session: session.clone() })?;
    let text = text(&mut client, &session, (row.cwd.as_deref(), row.title.as_deref()))?;
    let agent = arguments.agent;
    if arguments.print || context.common.json {
        let shown = json!({
            "session": session, "agent": agent.name(), "folder": row.cwd, "prompt": text,
            "environment": { CONTINUES: continued_in(agent, &session) },
        });
        return out::show(context.common, &shown, |_| text);
    }
    let program = search_path::find(Path::new(agent.program()))
        .ok_or_else(|| Failure::File(format!("`{}` is not on the PATH; --print prints the prompt", agent.program())))?;
    if programs::installed(agent).is_empty() {
        let install = context.common.command(&format!("hooks install {}", agent.name()));
        out::note(
            context.common,
            &format!("{} has no hooks of herma, so it keeps nothing of this; {install}", agent.title()),
        );
    }
    let mut command = Command::new(program);
    command.args(agent.with_prompt(text)).args(&arguments.arguments).env(CONTINUES, continued_in(agent, &session));
    if let Some(folder) = row.cwd.as_deref().filter(|folder| Path::new(folder).is_dir()) {
        command.current_dir(folder);
    }
    // The agent takes the place of this program, and with it the terminal.
    let error = command.exec();
    Err(Failure::File(format!("`{}` can't be started: {error}", agent.program())))
}

/// Returns the prompt for the agent that goes on.
fn text(client: &mut Client, session: &str, about: (Option<&str>, Option<&str>)) -> Result<String, Failure> {
    let rules = client.constraint_list(constraint::ListParams { session: session.to_owned() })?.constraints;
    let state = StateParams { session: session.to_owned(), limit: Some(ENTITIES), ..StateParams::default() };
    let entities = client.recall_state(state)?.entities;
    let said = client.session_messages(MessagesParams {
        session: session.to_owned(),
        first: Some(-LAST),
        limit: Some(LAST.unsigned_abs()),
        roles: Some(["user", "assistant"].map(str::to_owned).to_vec()),
        whole: Some(true),
    })?;
    let last: Vec<(String, String)> = said
        .messages
        .into_iter()
        .map(|message| {
            let whole = message.message.and_then(|whole| serde_json::from_str::<Value>(whole.get()).ok());
            let words = whole.and_then(|whole| whole.get("content").map(words)).unwrap_or_default();
            (message.role.unwrap_or_default(), words)
        })
        .collect();
    let standing = rules.iter().filter(|rule| rule.scope == Scope::Standing);
    Ok(prompt(&Continued {
        session,
        folder: about.0,
        title: about.1,
        rules: standing.map(|rule| rule.text.as_str()).collect(),
        entities: &entities,
        last: last.iter().map(|(role, words)| (role.as_str(), words.as_str())).collect(),
    }))
}

/// Returns the words of a message: its text, or the texts of its parts.
fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let text = |part: &Value| part.get("text").and_then(Value::as_str).map(str::to_owned);
            parts.iter().filter_map(text).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
