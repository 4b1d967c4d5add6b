//! A small agent that keeps its memory, outputs and long conversation in herma.
//!
//! `cargo run -p herma-examples --example agent`
//!
//! A real agent asks a model instead of `answer`, and runs tools instead of `tool`.

use std::io::Write;

use herma_client::protocol::Json;
use herma_client::protocol::context::check::CheckParams;
use herma_client::protocol::context::{CompressParams, CompressResult};
use herma_client::protocol::memory::{AddParams, Target};
use herma_client::protocol::output::AdmitParams;
use herma_client::protocol::recall::SearchParams;
use herma_client::protocol::session::OpenParams;
use herma_client::protocol::value::{Content, Size};
use herma_client::{Codec, Place, connect_or_spawn};
use serde_json::json;

const SESSION: &str = "example-rust";
const TURNS: usize = 60;

/// Returns the long result of a tool.
fn tool(turn: usize) -> String {
    (0..400)
        .map(|line| format!("2026-11-22 12:{turn:02}:{:02} INFO request {line} took {} ms\n", line % 60, line % 97))
        .collect()
}

/// Returns an answer as a model would write it.
fn answer(turn: usize) -> String {
    format!("Turn {turn}: the slowest request took 96 ms, nothing else stands out. Shall I go on?")
}

fn main() -> anyhow::Result<()> {
    let mut herma = connect_or_spawn(&Place::from_env()?, Codec::Bincode)?;
    let opened = herma.session_open(OpenParams {
        session: SESSION.into(),
        context_length: Some(30_000),
        ..OpenParams::default()
    })?;
    // The snapshot is the same for every call of the session, so that prompt caches hold.
    let blocks = [opened.snapshot.memory, opened.snapshot.user].into_iter().flatten();
    let prompt: Vec<String> = std::iter::once("You watch a server.".to_owned()).chain(blocks).collect();
    let mut messages = vec![Json::from_value(&json!({ "role": "system", "content": prompt.join("\n\n") }))?];
    let (mut spilled, mut compressions) = (0, 0);
    for turn in 0..TURNS {
        let id = format!("call_{turn}");
        let call = json!({ "id": id, "type": "function", "function": { "name": "read_log", "arguments": "{}" } });
        let kept = herma.output_admit(AdmitParams {
            session: SESSION.into(),
            tool: "read_log".into(),
            id: id.clone(),
            content: Content::Text(tool(turn)),
            threshold: Some(Size::Chars(5_000)),
            config: None,
        })?;
        spilled += usize::from(kept.spilled);
        let Content::Text(stays) = kept.content else { anyhow::bail!("a text came back as something else") };
        for message in [
            json!({ "role": "user", "content": format!("Look at minute {turn}. Never restart anything by yourself.") }),
            json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
            json!({ "role": "tool", "tool_call_id": id, "content": stays }),
            json!({ "role": "assistant", "content": answer(turn) }),
        ] {
            messages.push(Json::from_value(&message)?);
        }
        let (session, list) = (SESSION.to_owned(), Some(messages.clone()));
        let check = CheckParams { session: session.clone(), messages: list.clone(), ..CheckParams::default() };
        if herma.context_check(check)?.compress {
            let compress = CompressParams { session, messages: list, ..CompressParams::default() };
            if let CompressResult::Done(done) = herma.context_compress(compress)? {
                compressions += usize::from(done.report.compressed);
                messages = done.messages.unwrap_or(messages);
            }
        }
    }
    herma.memory_add(AddParams {
        target: Target::Memory,
        content: "The slowest request takes about 96 ms.".into(),
        session: Some(SESSION.into()),
        agent: Some("example".into()),
        expected_revision: None,
    })?;
    let found = herma.recall_search(SearchParams {
        query: "slowest request".into(),
        session: Some(SESSION.into()),
        limit: Some(3),
        ..SearchParams::default()
    })?;
    let (mut out, left, hits) = (std::io::stdout().lock(), messages.len(), found.hits.len());
    writeln!(out, "{TURNS} turns, {spilled} outputs spilled, {compressions} compressions, {left} messages left")?;
    writeln!(out, "{hits} hits for what was compressed away")?;
    let has_rule = messages.iter().any(|message| message.get().contains("Never restart anything"));
    anyhow::ensure!(has_rule, "the rule is gone");
    Ok(())
}
