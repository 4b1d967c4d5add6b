//! Input: session files of other programs, with one record in each line. Reading a file in parts gives the same
//! messages at the same positions as reading it at once, and each of them has the form of a message.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a panic is a finding")]

use herma_transcripts::{
    Session, Tally, TimedMessage, Transcript, antigravity, chatgpt, claude_code, cline, codex, copilot, cursor,
    gemini_cli, goose, grok, hermes, kimi, pi, qwen_code,
};
use serde_json::Value;

/// Makes the reader of a session file, given the file's name.
type MakeReader = fn(&str) -> Box<dyn Transcript>;

/// The readers of all programs.
const READERS: [MakeReader; 11] = [
    |name| Box::new(claude_code::Reader::new(name)),
    |name| Box::new(codex::Reader::new(name)),
    |name| Box::new(qwen_code::Reader::new(name)),
    |name| Box::new(gemini_cli::Reader::new(name)),
    |name| Box::new(pi::Reader::new(name)),
    |name| Box::new(copilot::Reader::new(name)),
    |name| Box::new(cursor::Reader::new(name)),
    |name| Box::new(antigravity::Reader::new(name)),
    |name| Box::new(goose::Reader::new(name)),
    |name| Box::new(grok::Reader::new(name)),
    |name| Box::new(kimi::Reader::new(name)),
];

/// Checks one input.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let lines: Vec<&str> = text.lines().collect();
    for reader in READERS {
        let all = messages(reader("s"), &lines, usize::MAX);
        for takes in [1, 3] {
            assert_eq!(messages(reader("s"), &lines, takes), all);
        }
        all.iter().for_each(|(_, said)| said.iter().for_each(is_message));
    }
    if let Ok(conversation) = serde_json::from_str::<Value>(&text)
        && let Some(mut transcript) = chatgpt::read(&conversation, &mut Tally::default())
    {
        transcript.take().1.iter().for_each(is_message);
    }
    if let Ok(conversation) = serde_json::from_str::<Value>(&text)
        && let Some(mut session) = cline::read("s", &conversation, &mut Tally::default())
    {
        session.take().1.iter().for_each(is_message);
    }
    let row = |role: &str| hermes::Row {
        role: role.to_owned(),
        content: lines.first().map(|line| format!("\0json:{line}")),
        tool_calls: lines.get(1).map(|line| (*line).to_owned()),
        ..hermes::Row::default()
    };
    for role in ["user", "assistant", "tool", "system"] {
        if let Some(message) = hermes::message(&row(role)) {
            is_message(&TimedMessage { time: None, message });
        }
    }
}

/// Returns the messages of each session, taken after every `takes` lines.
fn messages(mut reader: Box<dyn Transcript>, lines: &[&str], takes: usize) -> Vec<(String, Vec<TimedMessage>)> {
    let mut all = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        reader.line(line);
        if number % takes == 0 {
            take(reader.sessions(), &mut all);
        }
    }
    take(reader.sessions(), &mut all);
    all
}

/// Adds the messages since the last call, each at its position.
fn take(sessions: &mut [Session], all: &mut Vec<(String, Vec<TimedMessage>)>) {
    for (at, session) in sessions.iter_mut().enumerate() {
        if all.len() == at {
            all.push((String::new(), Vec::new()));
        }
        let (first, said) = session.take();
        assert_eq!(first, all[at].1.len() as u64);
        all[at].0.clone_from(&session.id);
        all[at].1.extend(said);
    }
}

fn is_message(said: &TimedMessage) {
    let message: Value = serde_json::from_str(&said.message).unwrap();
    assert!(matches!(message["role"].as_str(), Some("user" | "assistant" | "tool")), "{message}");
    assert!(said.time.is_none_or(|time| time.is_finite() && time >= 0.0));
}
