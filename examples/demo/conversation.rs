//! A long conversation, chained from real ones.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Real conversations of an airline-desk agent; see the licence next to them.
const FIXTURES: &str = include_str!("../../daemon/context/tests/fixtures/airline.jsonl");

#[derive(Deserialize)]
struct Conversation {
    messages: Vec<Box<RawValue>>,
}

#[expect(clippy::disallowed_methods, reason = "a throw-away file of the demo")]
/// Writes a list of `count` messages or a few more. It repeats all conversations, with the system message of the first
/// one only. Of two adjacent user messages, only the first is kept.
pub(crate) fn write(path: &Path, count: usize) -> anyhow::Result<()> {
    let conversations: Vec<Conversation> =
        FIXTURES.lines().map(serde_json::from_str).collect::<Result<_, _>>().context("the fixtures")?;
    let mut messages: Vec<&RawValue> = Vec::new();
    let mut last_role = None;
    for conversation in conversations.iter().cycle() {
        if messages.len() >= count {
            break;
        }
        for message in &conversation.messages {
            let role = role_of(message)?;
            let is_second_system = role == "system" && !messages.is_empty();
            let follows_itself = role == "user" && last_role.as_deref() == Some("user");
            if !is_second_system && !follows_itself {
                messages.push(message);
                last_role = Some(role);
            }
        }
    }
    let text = serde_json::to_vec(&messages)?;
    let mut file = tempfile::NamedTempFile::new_in(path.parent().context("a folder")?)?;
    file.write_all(&text)?;
    file.persist(path)?;
    Ok(())
}

fn role_of(message: &RawValue) -> anyhow::Result<String> {
    #[derive(Deserialize)]
    struct Role {
        role: String,
    }
    Ok(serde_json::from_str::<Role>(message.get())?.role)
}
